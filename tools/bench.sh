#!/usr/bin/env bash
# ./dev bench [NAME] [--json FILE] : measures on a release build and prints each figure beside its goal and a baseline of the same run.
# shellcheck source=tools/build-lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/build-lib.sh"

if [ ! -f server/examples/bench.rs ] && [ ! -d server/examples/bench ]; then
  die "there is no benchmark program yet: it belongs into server/examples/bench/"
fi
# The sizes of what a browser loads are among the figures.
build_site release
step "benchmark: compiling and running"
exec env RUSTFLAGS= cargo run --release -p pilothouse --example bench -- "$@"
