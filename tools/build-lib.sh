# shellcheck shell=bash
# How the pages and the server are built. Sourced, never run.
# shellcheck source=tools/need.sh
source "$(dirname "${BASH_SOURCE[0]}")/need.sh"

site=$root/target/site

# Compiles the pages for the browser and lays out target/site: build_site debug|release.
# cargo-leptos would do the same; this needs none of its seven minutes of installation.
build_site() {
  local mode=$1 profile=debug cargo_args=() raw out=$site/pkg mark=target/front/site-mode began=$SECONDS
  need_wasm_target
  need_wasm_bindgen
  if [ "$mode" = release ]; then
    need_wasm_opt
    profile=wasm-release
    cargo_args=(--profile wasm-release)
  fi
  # Two builds in one tree would take each other's files: the second waits here.
  mkdir -p target/front
  exec 9>target/front/site.lock
  if command -v flock >/dev/null; then flock 9; fi
  step "pages: compiling for the browser ($mode)"
  env "${wasm_env[@]}" cargo build -p app --lib --features hydrate --target wasm32-unknown-unknown \
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
      node tools/trim-wasm.mjs "$out/pilothouse_bg.wasm" "$out/pilothouse_bg.wasm" >&2
      # Functions of one kind side by side compress better.
      "$wasm_opt" -Oz --reorder-functions-by-name --strip-producers "$out/pilothouse_bg.wasm" -o "$out/pilothouse.wasm"
      rm "$out/pilothouse_bg.wasm"
    else
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
