# shellcheck shell=bash
# How the pages and the server are built. Sourced, never run.
# shellcheck source=tools/need.sh
source "$(dirname "${BASH_SOURCE[0]}")/need.sh"

site=$root/target/site

# Compiles the pages for the browser and lays out target/site: build_site debug|release.
# cargo-leptos would do the same; this needs none of its seven minutes of installation.
build_site() {
  local mode=$1 profile=debug cargo_args=(--features hydrate) linker=() raw out=$site/pkg mark=target/front/site-mode began=$SECONDS
  local cut=target/front/cut
  need_wasm_target
  need_wasm_bindgen
  if [ "$mode" = release ]; then
    need_wasm_split
    need_binaryen
    profile=wasm-release
    cargo_args=(--features split --profile wasm-release)
    # Only with relocations it is known what each function uses.
    linker=(-- -C link-arg=--emit-relocs)
  fi
  # Two builds in one tree would take each other's files: the second waits here.
  mkdir -p target/front
  exec 9>target/front/site.lock
  if command -v flock >/dev/null; then flock 9; fi
  step "pages: compiling for the browser ($mode)"
  env "${wasm_env[@]}" cargo rustc -p app --lib --target wasm32-unknown-unknown \
    --target-dir target/front "${cargo_args[@]}" "${linker[@]}" >&2 || die "the pages do not compile (see above): mend the first error and run this again"
  raw=target/front/wasm32-unknown-unknown/$profile/app.wasm
  mkdir -p "$out"
  # The mark holds the mode, so that a debug site is not taken for a release one.
  if [ ! -f "$out/pilothouse.wasm" ] || [ "$raw" -nt "$mark" ] || [ "$(cat "$mark")" != "$mode" ]; then
    # The page asks for pilothouse.wasm without _bg, as cargo-leptos names it.
    if [ "$mode" = release ]; then
      say "wasm-split: cutting it where a page begins"
      rm -rf "$cut"
      mkdir -p "$cut"
      node tools/trim-wasm.mjs "$raw" "$cut/trimmed.wasm" >&2
      "$wasm_split" "$cut/trimmed.wasm" "$cut" --out-name pilothouse >&2
      say "wasm-bindgen: writing what the browser loads"
      "$wasm_bindgen" --target web --no-typescript --keep-lld-exports --out-dir "$out" --out-name pilothouse "$cut/pilothouse.wasm" >&2
      mv "$out/pilothouse_bg.wasm" "$cut/main.wasm"
      say "wasm-opt: making few files and small ones"
      node tools/join-chunks.mjs "$cut/trimmed.wasm" "$cut" "$cut/main.wasm" "$out" "$binaryen" >&2
      rm -rf "$cut"
    else
      say "wasm-bindgen: writing what the browser loads"
      "$wasm_bindgen" --target web --no-typescript --out-dir "$out" --out-name pilothouse "$raw" >&2
      mv "$out/pilothouse_bg.wasm" "$out/pilothouse.wasm"
    fi
    printf '%s' "$mode" >"$mark"
  fi
  node tools/site.mjs "$mode" >&2
  exec 9>&-
  say "site: ready in target/site after $(seconds_since "$began")"
}

# build_server debug|release ; the release one carries target/site inside it.
build_server() {
  local began=$SECONDS args=()
  if [ "$1" = release ]; then args=(--release); fi
  step "server: compiling ($1)"
  cargo build -p pilothouse "${args[@]}" >&2 || die "the server does not compile (see above): mend the first error and run this again"
  say "server: ready in target/$1 after $(seconds_since "$began")"
}

# build_both debug|release : pages and server, as ./dev run wants them.
build_both() {
  local site_pid failed=0
  # A release server carries the site, so the site comes first. A first build has enough to do for every core, and its progress is to
  # be read. Otherwise both at once: most of a small build is one compiler on one core.
  if [ "$1" = release ] || [ ! -f "$site/pkg/pilothouse.wasm" ] || [ ! -f "target/$1/pilothouse" ]; then
    build_site "$1"
    build_server "$1"
    return
  fi
  build_site "$1" &
  site_pid=$!
  (build_server "$1") || failed=1
  wait "$site_pid" || failed=1
  [ "$failed" = 0 ] || exit 1
}
