# shellcheck shell=bash
# Background processes by pid file. A file holds the pid and the moment the process began, so that a number which was given to another
# process since is never taken for ours. Sourced, never run.

# When a process began: the kernel's tick count where there is a /proc, else ps's words. Nothing for one that has ended.
process_mark() {
  if [ -d /proc/self ]; then
    # The second field is the name in parentheses and may hold blanks: count behind it. Z: ended, and its parent has not looked yet.
    sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" { print $20 }'
  else
    ps -o lstart= -p "$1" 2>/dev/null | tr ' ' '_'
  fi
}

# process_start PREFIX COMMAND... : detached from the terminal; PREFIX.pid and PREFIX.log.
process_start() {
  local prefix=$1 pid
  shift
  # fd 8 is the build lock: a process that lives on must not hold it.
  if have setsid; then
    setsid "$@" >"$prefix.log" 2>&1 </dev/null 8>&- &
  else
    nohup "$@" >"$prefix.log" 2>&1 </dev/null 8>&- &
  fi
  pid=$!
  printf '%s %s\n' "$pid" "$(process_mark "$pid")" >"$prefix.pid"
}

process_runs() {
  local pid mark
  [ -f "$1" ] || return 1
  read -r pid mark <"$1" || return 1
  [ -n "$pid" ] && [ -n "$mark" ] && kill -0 "$pid" 2>/dev/null && [ "$(process_mark "$pid")" = "$mark" ]
}

# Asks it to end, waits up to 10 s, then makes it end. 1 when it was not running.
process_stop() {
  local file=$1 pid i
  if ! process_runs "$file"; then
    rm -f "$file"
    return 1
  fi
  read -r pid _ <"$file"
  kill "$pid" 2>/dev/null || true
  for i in $(seq 100); do
    process_runs "$file" || break
    [ "$i" -lt 100 ] || kill -9 "$pid" 2>/dev/null || true
    sleep 0.1
  done
  rm -f "$file"
}
