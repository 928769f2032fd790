#!/usr/bin/env bash
# ./dev setup [TOOL...] : installs now what the other commands would install on demand. Without names: all of it.
# shellcheck source=tools/need.sh
source "$(dirname "${BASH_SOURCE[0]}")/need.sh"

[ $# -gt 0 ] || set -- wasm wasm-bindgen wasm-split wasm-opt browser lint cluster
for tool in "$@"; do
  case "$tool" in
    wasm) need_wasm_target ;;
    wasm-bindgen)
      need_wasm_target
      need_wasm_bindgen
      ;;
    wasm-opt) need_binaryen ;;
    wasm-split)
      need_wasm_target
      need_wasm_split
      ;;
    browser)
      need_end2end
      need_chromium
      ;;
    lint)
      need_wasm_target
      need_component fmt
      need_component clippy
      need_component clippy "${wasm_env[@]}"
      need_cargo_deny
      need_shellcheck
      need_hadolint
      ;;
    cluster) bash tools/cluster.sh build ;;
    *) die "unknown tool '$tool': wasm wasm-bindgen wasm-split wasm-opt browser lint cluster" ;;
  esac
  say "$tool: there"
done
