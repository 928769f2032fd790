#!/usr/bin/env bash
# ./dev build : the release binary with the site inside it, one file to ship.
# shellcheck source=tools/build-lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/build-lib.sh"

[ $# = 0 ] || die "./dev build takes no arguments; './dev run --release' builds and starts"
build_site release
build_server release
say "done: target/release/pilothouse ($(du -h target/release/pilothouse | cut -f 1))"
