#!/usr/bin/env bash
# ./dev test [unit|integration|cases|cluster|differential|clients|browser|sim|full] [NAME] : the tests; the last line is always `N passed, N failed`.
#
#   unit         what lies beside the code, the examples in the docs, and the tests of these tools
#   integration  each crate's tests/ folder, on the embedded cluster only
#   cases        the behaviour cases, as a table (PILOTHOUSE_CASES=FILE or FOLDER runs others of the same shape)
#   cluster      the tests that can use a real control plane, on one started for them
#   differential the embedded API against a real API server, request by request and in random sequences
#   clients      programs of other languages (Go, Python) against the embedded API
#   sim          the controllers against seeded faults; `sim --seeds N` plays seeds 0 to N-1, `sim --seed N` (or PILOTHOUSE_SIM_SEED=N) replays
#                one and prints what happened. Many seeds are played by an optimised build. The last line is `sim: N schedules, B broken`
#   browser      end2end/ in a real Chromium, on the embedded cluster and on a real control plane
#   (none)       all of these, each test once; full: also the long ones
#
# Tests that need a real control plane are marked `ignore`: cargo counts them as ignored, and they run once there is one. Where there is
# no Go to build it they are left out, which is said at the end; with CI=true that is a failure.
#
# NAME leaves out the tests whose name does not hold it. Exit code 1 when a test failed or something did not build.
# shellcheck source=tools/build-lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/build-lib.sh"

what=${1:-all}
name=${2:-}
case "$what" in
  all | unit | integration | cases | cluster | differential | clients | browser | full) ;;
  sim)
    name=
    case "${2:-}" in
      --seeds | --seed)
        [[ ${3:-} =~ ^[0-9]+$ ]] || die "./dev test sim $2 takes a number"
        if [ "$2" = --seeds ]; then export PILOTHOUSE_SIM_SEEDS=$3; else export PILOTHOUSE_SIM_SEED=$3; fi
        set -- sim
        ;;
      "") ;;
      *) die "./dev test sim takes --seeds N or --seed N" ;;
    esac
    ;;
  *)
    say "'$what' is no kind of test: unit integration cases cluster differential clients browser sim full"
    exit 2
    ;;
esac
[ $# -le 2 ] || die "./dev test takes a kind and one name"

logs=target/test-logs
rm -rf "$logs"
mkdir -p "$logs"
passed=0 failed=0 ignored=0
broken=()
# Folders of the control planes that were started for this run.
clusters=()
# Further arguments of cargo's test programs.
test_args=()

# Counts what a log says: cargo's lines, node's, and the closing line of runners of ours. Behaviour cases that are listed as differing
# stand as ignored in cargo's line; they were looked at, so they are not left out.
count() {
  local p f i
  read -r p f i < <(awk '
    /^test result: /                                { p += $4; f += $6; i += $8 }
    /^cases: .* [0-9]+ listed$/                     { i -= $(NF - 1) }
    /^[0-9]+ passed, [0-9]+ failed/                 { ours_p = $1; ours_f = $3; ours_s = $5 }
    /^sim: [0-9]+ schedules, [0-9]+ broken$/        { p += $2 - $4; f += $4 }
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
  local text dir
  for dir in "${clusters[@]}"; do env PILOTHOUSE_CLUSTER_DIR="$dir" bash tools/cluster.sh down || true; done
  trap - EXIT
  [ "$ignored" = 0 ] || say "LEFT OUT: $ignored tests${left_out_because:+; $left_out_because}"
  for text in "${broken[@]}"; do say "FAILED: $text"; done
  if [ "$((passed + failed))" = 0 ]; then broke "no test matched"; fi
  printf '%s passed, %s failed\n' "$passed" "$failed"
  # Of the comparison with a real API server, and of the simulation, one wants to see this last.
  case "$what" in
    differential | sim) grep "^$what: [0-9]" "$logs/$what.log" 2>/dev/null | tail -n 1 || true ;;
  esac
  [ "$failed" = 0 ] || exit 1
  exit 0
}
# Also when a step dies: the count so far, with that as a failure.
trap 'broke "the run stopped early (see above)"; close' EXIT

cargo_tests() {
  local label=$1
  shift
  run_part "$label" cargo test --no-fail-fast "$@" -- ${name:+"$name"} "${test_args[@]}"
}

tool_tests() { run_part tools node --test --test-reporter=tap ${name:+--test-name-pattern="$name"} tools/tests/*.test.mjs; }

# Up to so many seeds compiling an optimised build would take longer than it saves.
plain_seeds=1000

# Only the schedules: what judges them is tested with the other integration tests. The gate's number of seeds is in the test.
sim_tests() {
  local profile=()
  if [ "${PILOTHOUSE_SIM_SEEDS:-0}" -gt "$plain_seeds" ]; then
    # Linking as one piece and the last bit of speed would cost minutes.
    export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=1
    profile=(--release)
  fi
  run_part sim cargo test "${profile[@]}" -p controllers --test simulation -- --nocapture no_schedule
}

case_tests() { run_part cases cargo test -p controllers --test cases -- ${name:+"$name"}; }

# Real control planes of their own for these tests: one with everything, and a bare API server on which nobody else works, for comparing
# answer by answer. 1 when there is none to be had.
start_clusters() {
  if ! bash tools/cluster.sh build-possible; then
    left_out_because="a real control plane is built with Go and there is no Go here (install Go 1.26 or newer)"
    say "the real control plane is LEFT OUT: $left_out_because"
    [ "${CI:-}" != true ] || broke "CI must test on the real control plane, and there is no Go to build it"
    return 1
  fi
  start_cluster cluster-test || return 1
  export PILOTHOUSE_TEST_KUBECONFIG=$root/target/cluster-test/kubeconfig
  # The kubectl of the same version, instead of whichever the machine has.
  PILOTHOUSE_KUBECTL=$(bash tools/cluster.sh kubectl-path)
  export PILOTHOUSE_KUBECTL
  [ "${1:-}" != with-bare ] || { start_cluster cluster-test-bare --bare && export PILOTHOUSE_TEST_BARE_KUBECONFIG=$root/target/cluster-test-bare/kubeconfig; } || return 1
  test_args+=(--include-ignored)
}

# The clients of other languages. Where there is no Python its test is left out, which is said; with CI=true that is a failure.
start_clients() {
  need_clients && return
  left_out_because="there is no Python with venv and pip here for the test of its client"
  say "the Python client is LEFT OUT: $left_out_because"
  [ "${CI:-}" != true ] || broke "CI must test with the Python client, and there is no Python for it"
  test_args+=(--skip the_python_package)
}

# start_cluster FOLDER-UNDER-TARGET [MODE]
start_cluster() {
  local dir=$root/target/$1
  shift
  clusters+=("$dir")
  if ! env PILOTHOUSE_CLUSTER_DIR="$dir" PILOTHOUSE_BIN="$root/target/debug/pilothouse" bash tools/cluster.sh up "$@"; then
    left_out_because="a real control plane did not start"
    broke "the real control plane in $dir did not start (see above)"
    return 1
  fi
}

# The packages with tests that look for a real control plane.
cluster_packages() {
  grep -rlE --include='*.rs' 'PILOTHOUSE_TEST_(BARE_)?KUBECONFIG' app crds server 2>/dev/null | sed -n 's,/tests/.*,,p' | sort -u \
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

# A cluster of somebody else's is never tested on.
unset PILOTHOUSE_TEST_KUBECONFIG PILOTHOUSE_TEST_BARE_KUBECONFIG

case "$what" in
  unit)
    cargo_tests unit --workspace --lib --bins
    cargo_tests examples-in-docs --workspace --doc
    tool_tests
    ;;
  integration)
    left_out_because="./dev test cluster runs those that need a real control plane"
    build_site debug
    cargo_tests integration --workspace --test '*'
    ;;
  cases) case_tests ;;
  cluster)
    build_server debug
    if start_clusters with-bare; then
      mapfile -t packages < <(cluster_packages)
      # Only those that need it; the others are integration tests like any.
      test_args=(--ignored)
      cargo_tests cluster "${packages[@]}" --test '*'
    fi
    ;;
  differential)
    if bash tools/cluster.sh build-possible; then
      if start_cluster cluster-test-bare --bare; then
        export PILOTHOUSE_TEST_BARE_KUBECONFIG=$root/target/cluster-test-bare/kubeconfig
        test_args+=(--include-ignored)
      fi
    else
      left_out_because="a real API server is built with Go and there is no Go here: compared with the record only"
    fi
    # One after the other, so that the tables are not mixed.
    test_args+=(--nocapture --test-threads 1)
    cargo_tests differential -p sandbox --test differential
    ;;
  sim) sim_tests ;;
  clients)
    have go || die "the client of client-go is built with Go and there is no Go here: install Go 1.26 or newer"
    start_clients
    test_args+=(--ignored)
    cargo_tests clients -p sandbox --test real_clients
    ;;
  browser)
    build_site_and_server
    start_clusters || true
    browser_tests
    ;;
  all | full)
    [ "$what" = all ] || export PILOTHOUSE_TEST_FULL=1
    tool_tests
    build_site_and_server
    step "compiling the tests"
    if cargo test --workspace --no-run; then
      if start_clusters with-bare; then start_clients; fi
      # One run for all of cargo's tests, so that each counts once.
      cargo_tests unit-integration-cases-cluster --workspace
    else
      broke "the tests do not compile"
    fi
    browser_tests
    ;;
esac
close
