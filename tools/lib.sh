# shellcheck shell=bash
# What every piece of ./dev shares: messages, the tool cache, root rights, the closing count. Sourced, never run.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
# Tools that ./dev builds or installs once, for all clones on this machine.
cache=${PILOTHOUSE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pilothouse}
mkdir -p "$cache" target

# Messages go to stderr: some functions answer on stdout.
say() { printf 'dev: %s\n' "$*" >&2; }
step() { printf '\ndev: == %s\n' "$*" >&2; }
# The last message of a run that stopped: what failed and, in one sentence, what to do.
die() {
  printf 'dev: FAILED: %s\n' "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# Runs a command with root rights; fails quietly when they cannot be had without asking.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif have sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    sudo "$@"
  else
    return 1
  fi
}

# apt_install WHY PACKAGE... : installs Debian packages; 1 when there is no apt, no root, or no such package.
apt_install() {
  local why=$1 log=$cache/apt.log
  shift
  have apt-get || return 1
  say "installing $* with apt ($why)"
  if [ -z "${apt_updated:-}" ]; then
    as_root apt-get -qq update >"$log" 2>&1 || say "apt-get update complained (see $log); trying with the lists there are"
    apt_updated=1
  fi
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >>"$log" 2>&1 </dev/null; then
    tail -n 5 "$log" >&2
    return 1
  fi
}

# with_lock NAME COMMAND... : one at a time over all clones; building the same tool twice at once wastes both. `lock_dir` is where
# the lock lies when not in the cache.
with_lock() {
  local name=$1
  shift
  if have flock; then
    (
      exec 8>"${lock_dir:-$cache}/$name.lock"
      if ! flock -n 8; then
        say "another ./dev is busy with $name; waiting for it"
        flock 8
      fi
      "$@" 8>&-
    )
  else
    "$@"
  fi
}

# The version that Cargo.lock pins for a crate.
locked_version() {
  awk -v crate="$1" '$1 == "name" { name = $3 } $1 == "version" && name == "\"" crate "\"" { gsub(/"/, "", $3); print $3; exit }' "$root/Cargo.lock"
}

seconds_since() { printf '%s s' "$((SECONDS - $1))"; }
