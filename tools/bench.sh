#!/usr/bin/env bash
# ./dev bench [NAME] [--json FILE] : measures on a release build and prints each figure beside its goal and a baseline of the same run.
# shellcheck source=tools/build-lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/build-lib.sh"

# The size of what a browser loads is among the figures, unless another one is named.
case "${1:-}" in
  "" | --json | wasm) build_site release ;;
esac
step "benchmark: compiling and running"
exec cargo run --release -p pilothouse --example bench -- "$@"
