#!/usr/bin/env bash
# ./dev run [--release] [-- ARGS] : builds what changed and starts Pilothouse in the foreground.
# ARGS go to the program as they are; without any it gets --sandbox, an embedded cluster with simulated machines.
# shellcheck source=tools/build-lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/build-lib.sh"

mode=debug
while [ $# -gt 0 ]; do
  case "$1" in
    --release) mode=release ;;
    --)
      shift
      break
      ;;
    *) die "'$1' is no option of ./dev run: what the program itself shall get goes after --" ;;
  esac
  shift
done

build_both "$mode"
[ $# -gt 0 ] || set -- --sandbox
step "starting: pilothouse $*"
exec "target/$mode/pilothouse" "$@"
