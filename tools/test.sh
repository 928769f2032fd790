#!/usr/bin/env bash
# ./dev test [unit|integration|cases|cluster|browser|full] [NAME] : the tests; the last line is always `N passed, N failed`.
#
#   unit         what lies beside the code, the examples in the docs, and the tests of these tools
#   integration  each crate's tests/ folder, on the embedded cluster only
#   cases        the behaviour cases, as a table (PILOTHOUSE_CASES=FILE or FOLDER runs others of the same shape)
#   cluster      the tests that can use a real control plane, on one started for them
#   browser      end2end/ in a real Chromium
#   (none)       all of these, each test once; full: also the long ones
#
# NAME leaves out the tests whose name does not hold it. Exit code 1 when a test failed or something did not build.
# shellcheck source=tools/build-lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/build-lib.sh"

what=${1:-all}
name=${2:-}
case "$what" in
  all | unit | integration | cases | cluster | browser | full) ;;
  differential | sim)
    say "'$what' tests do not exist yet: nothing was run"
    exit 2
    ;;
  *)
    say "'$what' is no kind of test: unit integration cases cluster browser full"
    exit 2
    ;;
esac
[ $# -le 2 ] || die "./dev test takes a kind and one name"

logs=target/test-logs
rm -rf "$logs"
mkdir -p "$logs"
passed=0 failed=0 ignored=0
broken=()

# Counts what a log says: cargo's lines, node's, and the closing line of runners of ours.
count() {
  local p f i
  read -r p f i < <(awk '
    /^test result: /                                { p += $4; f += $6; i += $8 }
    /^cases: [0-9]+ passed, [0-9]+ failed/          { p += $2; f += $4 }
    /^[0-9]+ passed, [0-9]+ failed/                 { ours_p = $1; ours_f = $3; ours_s = $5 }
    /^# pass [0-9]+$/                               { p += $3 }
    /^# fail [0-9]+$/                               { f += $3 }
    END                                             { print p + ours_p, f + ours_f, i + ours_s }' "$1")
  last_passed=$p last_failed=$f
  passed=$((passed + p)) failed=$((failed + f)) ignored=$((ignored + i))
}

# A failure that no test counted: a build, a runner that fell over, a part that was left out where it may not be.
broke() {
  say "FAILED: $*"
  broken+=("$*")
  failed=$((failed + 1))
}

# What a caller already knows to be wrong counts too, so that the last line never looks better than the run was.
[ -z "${PILOTHOUSE_FAILED_BEFORE:-}" ] || broke "$PILOTHOUSE_FAILED_BEFORE"

# run_part LABEL COMMAND... : runs it, shows and keeps what it prints, and counts.
run_part() {
  local label=$1 log=$logs/$1.log began=$SECONDS rc=0
  shift
  step "$label"
  "$@" 2>&1 </dev/null | tee "$log" || rc=${PIPESTATUS[0]}
  count "$log"
  [ "$rc" = 0 ] || [ "$last_failed" -gt 0 ] || broke "$label ended with code $rc without naming a failed test (its output: $log)"
  say "$label: $last_passed passed, $last_failed failed, after $(seconds_since "$began")"
}

close() {
  local text
  [ -z "${cluster_started:-}" ] || env PILOTHOUSE_CLUSTER_DIR="$cluster_dir" bash tools/cluster.sh down || true
  trap - EXIT
  [ "$ignored" = 0 ] || say "$ignored tests were left out: ignored, or without what they need"
  for text in "${broken[@]}"; do say "FAILED: $text"; done
  if [ "$((passed + failed))" = 0 ]; then broke "no test matched"; fi
  printf '%s passed, %s failed\n' "$passed" "$failed"
  [ "$failed" = 0 ] || exit 1
  exit 0
}
# Also when a step dies: the count so far, with that as a failure.
trap 'broke "the run stopped early (see above)"; close' EXIT

cargo_tests() {
  local label=$1
  shift
  local filter=()
  [ -z "$name" ] || filter=(-- "$name")
  run_part "$label" cargo test --workspace --no-fail-fast "$@" "${filter[@]}"
}

tool_tests() { run_part tools node --test --test-reporter=tap ${name:+--test-name-pattern="$name"} tools/tests/*.test.mjs; }

case_tests() { run_part cases cargo test -p controllers --test cases -- ${name:+"$name"}; }

# A real control plane of its own for these tests. 1 when there is none to be had.
start_cluster() {
  cluster_dir=$root/target/cluster-test
  if ! bash tools/cluster.sh build-possible; then
    say "the real control plane is LEFT OUT: it is built with Go and there is no Go here; what is tested on it is not tested now (install Go 1.26 or newer)"
    [ "${CI:-}" != true ] || broke "CI must test on the real control plane, and there is no Go to build it"
    return 1
  fi
  cluster_started=1
  if ! env PILOTHOUSE_CLUSTER_DIR="$cluster_dir" PILOTHOUSE_BIN="$root/target/debug/pilothouse" bash tools/cluster.sh up; then
    broke "the real control plane did not start (see above)"
    return 1
  fi
  export PILOTHOUSE_TEST_KUBECONFIG=$cluster_dir/kubeconfig
}

# The packages with tests that look for the real control plane.
cluster_packages() {
  grep -rl --include='*.rs' PILOTHOUSE_TEST_KUBECONFIG app crds server 2>/dev/null | sed -n 's,/tests/.*,,p' | sort -u \
    | while read -r folder; do printf -- '-p\n%s\n' "$(sed -n 's/^name = "\(.*\)"/\1/p' "$folder/Cargo.toml" | head -n 1)"; done
}

build_site_and_server() {
  build_site debug
  build_server debug
}

browser_tests() {
  need_end2end
  need_chromium
  run_part browser env PILOTHOUSE_BIN="$root/target/debug/pilothouse" node end2end/run.mjs ${name:+"$name"}
}

case "$what" in
  unit)
    cargo_tests unit --lib --bins
    cargo_tests examples-in-docs --doc
    tool_tests
    ;;
  integration)
    unset PILOTHOUSE_TEST_KUBECONFIG
    build_site debug
    cargo_tests integration --test '*'
    ;;
  cases) case_tests ;;
  cluster)
    build_server debug
    if start_cluster; then
      mapfile -t packages < <(cluster_packages)
      run_part cluster cargo test --no-fail-fast "${packages[@]}" --test '*' -- ${name:+"$name"}
    fi
    ;;
  browser)
    build_site_and_server
    browser_tests
    ;;
  all | full)
    [ "$what" = all ] || export PILOTHOUSE_TEST_FULL=1
    unset PILOTHOUSE_TEST_KUBECONFIG
    tool_tests
    build_site_and_server
    step "compiling the tests"
    if cargo test --workspace --no-run; then
      start_cluster || true
      # One run for all of cargo's tests, so that each counts once; those that can use the real control plane see it in the environment.
      cargo_tests unit-integration-cases-cluster
    else
      broke "the tests do not compile"
    fi
    browser_tests
    ;;
esac
close
