# shellcheck shell=bash
# How the pages and the server are built. Sourced, never run.
# shellcheck source=tools/need.sh
source "$(dirname "${BASH_SOURCE[0]}")/need.sh"

site=$root/target/site

# Compiles the pages for the browser and lays out target/site: build_site debug|release.
# cargo-leptos would do the same; this needs none of its seven minutes of installation.
build_site() {
  local mode=$1 profile=debug cargo_args=() flags=() raw out=$site/pkg mark=target/front/site-mode began=$SECONDS
  need_wasm_target
  need_wasm_bindgen
  if [ "$mode" = release ]; then
    need_wasm_opt
    profile=wasm-release
    cargo_args=(--profile wasm-release)
    # An own value, even an empty one, leaves out the flag in .cargo/config.toml that is for fast debug builds only.
    flags=(RUSTFLAGS=)
  fi
  step "pages: compiling for the browser ($mode)"
  env "${wasm_env[@]}" "${flags[@]}" cargo build -p app --lib --features hydrate --target wasm32-unknown-unknown \
    --target-dir target/front "${cargo_args[@]}" >&2 || die "the pages do not compile (see above): mend the first error and run this again"
  raw=target/front/wasm32-unknown-unknown/$profile/app.wasm
  mkdir -p "$out"
  # The mark holds the mode, so that a debug site is not taken for a release one.
  if [ ! -f "$out/pilothouse.wasm" ] || [ "$raw" -nt "$mark" ] || [ "$(cat "$mark")" != "$mode" ]; then
    say "wasm-bindgen: writing what the browser loads"
    "$wasm_bindgen" --target web --no-typescript --out-dir "$out" --out-name pilothouse "$raw" >&2
    # The page asks for it without _bg, as cargo-leptos names it.
    if [ "$mode" = release ]; then
      say "wasm-opt: making it small"
      "$wasm_opt" -Oz "$out/pilothouse_bg.wasm" -o "$out/pilothouse.wasm"
      rm "$out/pilothouse_bg.wasm"
    else
      mv "$out/pilothouse_bg.wasm" "$out/pilothouse.wasm"
    fi
    printf '%s' "$mode" >"$mark"
  fi
  node tools/site.mjs "$mode" >&2
  say "site: ready in target/site after $(seconds_since "$began")"
}

# build_server debug|release ; the release one carries target/site inside it.
build_server() {
  local began=$SECONDS args=() flags=()
  if [ "$1" = release ]; then args=(--release) flags=(RUSTFLAGS=); fi
  step "server: compiling ($1)"
  env "${flags[@]}" cargo build -p pilothouse "${args[@]}" >&2 || die "the server does not compile (see above): mend the first error and run this again"
  say "server: ready in target/$1 after $(seconds_since "$began")"
}
