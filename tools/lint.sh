#!/usr/bin/env bash
# ./dev lint [--fix] : everything that can be judged without running the program. All checks run; the exit code is 1 when one failed.
# --fix mends what a tool can mend: formatting, clippy's sure suggestions, the generated files.
# shellcheck source=tools/need.sh
source "$(dirname "${BASH_SOURCE[0]}")/need.sh"

fix=
case "${1:-}" in
  '') ;;
  --fix) fix=1 ;;
  *) die "./dev lint knows only --fix" ;;
esac

failures=()
# check NAME COMMAND... : what it printed is shown only when it failed or while it compiles.
check() {
  local name=$1 began=$SECONDS
  shift
  step "$name"
  if "$@" >&2; then
    say "ok: $name ($(seconds_since "$began"))"
  else
    say "FAILED: $name"
    failures+=("$name")
  fi
}

format() { if [ -n "$fix" ]; then cargo fmt --all; else cargo fmt --all --check; fi; }

# clippy_native, clippy_wasm: warnings are errors, so that none is ever left for later.
clippy_native() {
  # The release server takes the site in while compiling; an empty folder is enough for judging.
  mkdir -p target/site/pkg
  [ -z "$fix" ] || cargo clippy --fix --allow-dirty --allow-staged --workspace --all-targets
  cargo clippy --workspace --all-targets -- -D warnings
}
clippy_wasm() {
  local feature
  # Debug builds have the one, release builds the other.
  for feature in hydrate split; do
    env "${wasm_env[@]}" cargo clippy -p app --lib --features "$feature" --target wasm32-unknown-unknown --target-dir target/front -- -D warnings || return 1
  done
}

generated() { if [ -n "$fix" ]; then cargo run -q -p crds --example generate; else cargo run -q -p crds --example generate -- --check; fi; }

# Licences, bans and sources are judged from Cargo.lock and the crates' own files, which cargo brings here first if a build has not.
# Known faults (advisories) need a database from the net and change by themselves, so they are not part of this.
dependencies() {
  cargo fetch --quiet --locked || { say "Cargo.lock does not fit the Cargo.toml files, or a crate could not be fetched"; return 1; }
  "$cargo_deny" --offline --all-features --log-level error check --hide-inclusion-graph licenses bans sources
}

scripts() { "$shellcheck" --external-sources dev tools/*.sh .ci/run; }
dockerfile() { "$hadolint" Dockerfile; }

need_component fmt
check "format (cargo fmt)" format
need_shellcheck
check "shell scripts (shellcheck)" scripts
need_hadolint
check "Dockerfile (hadolint)" dockerfile
check "texts, file lengths, first lines (tools/check-files.mjs)" node tools/check-files.mjs
need_component clippy
check "clippy, native" clippy_native
need_wasm_target
need_component clippy "${wasm_env[@]}"
check "clippy, WebAssembly" clippy_wasm
check "generated files" generated
need_cargo_deny
check "dependencies (cargo-deny: licences, bans, sources; advisories need the net and are not part of this)" dependencies

if [ ${#failures[@]} -gt 0 ]; then
  printf '\n' >&2
  for name in "${failures[@]}"; do say "FAILED: $name"; done
  [ -n "$fix" ] || say "what a tool can mend is mended by: ./dev lint --fix"
  exit 1
fi
say "lint: all ok"
