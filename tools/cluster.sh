#!/usr/bin/env bash
# ./dev cluster up|down|status|kubeconfig|kubectl ARGS|schema : a real etcd, kube-apiserver and kube-controller-manager on loopback, as plain
# processes, with our resources and simulated nodes. For tests and for trying things: it starts empty each time and keeps nothing.
#
# up --no-nodes leaves the simulated nodes out; up --bare starts etcd and kube-apiserver and nothing else, so that nobody but the
# caller writes: neither our resources nor a controller's objects are there.
#
# PILOTHOUSE_CLUSTER_DIR names the folder of one instance (default target/cluster): another folder is another cluster.
# PILOTHOUSE_BIN names the program whose `simulate-nodes` is started (default target/debug/pilothouse, built when it is missing).
# shellcheck source=tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tools/process.sh
source tools/process.sh

kubernetes_version=$(awk '$1 == "require" && $2 == "k8s.io/kubernetes" { print $3 }' tools/cluster/kubernetes/go.mod)
etcd_version=$(awk '$1 == "require" && $2 == "go.etcd.io/etcd/server/v3" { print $3 }' tools/cluster/etcd/go.mod)
bin=$cache/kubernetes-$kubernetes_version-etcd-$etcd_version-$(cat tools/cluster/*/go.mod tools/cluster/*/go.sum | cksum | cut -d ' ' -f 1)

mkdir -p "${PILOTHOUSE_CLUSTER_DIR:-target/cluster}"
dir=$(cd "${PILOTHOUSE_CLUSTER_DIR:-target/cluster}" && pwd)
kubeconfig=$dir/kubeconfig
programs=(nodes controller-manager apiserver etcd)

kubectl() { "$bin/kubectl" --kubeconfig "$kubeconfig" "$@"; }

# go_build MODULE PACKAGE... : into $bin. Prints how far it is, since it says nothing by itself for minutes.
go_build() {
  local module=$1 v=k8s.io/component-base/version minor=${kubernetes_version#v1.}
  shift
  # Without the version stamped in, kubectl cannot read what the server answers to `version`.
  (cd "tools/cluster/$module" && CGO_ENABLED=0 go build -v -mod=readonly -trimpath -o "$bin.new/" \
    -ldflags "-s -w -X $v.gitVersion=$kubernetes_version -X $v.gitMajor=1 -X $v.gitMinor=${minor%%.*}" "$@" 2>&1) \
    | awk '/^[a-z0-9.-]+(\/|$)/ { if (++n % 150 == 0) { printf "dev:    … %d packages\n", n; fflush() } next } /^go: downloading/ { next } { print; fflush() }' >&2
}

build() {
  [ ! -x "$bin/kubectl" ] || return 0
  have go || die "no Go here, and the real control plane is built from its sources: install Go 1.26 or newer and try again (everything else works without it)"
  step "etcd $etcd_version and Kubernetes $kubernetes_version: the real control plane, built once from its Go modules into $bin (about 6 minutes on 2 cores)"
  local began=$SECONDS
  rm -rf "$bin.new"
  mkdir -p "$bin.new"
  if ! go_build etcd go.etcd.io/etcd/server/v3 \
    || ! go_build kubernetes k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager k8s.io/kubernetes/cmd/kubectl; then
    die "the control plane did not build (see above): check that Go reaches its module proxy, then try again"
  fi
  # Go names a program after the last part of its path, without the version.
  mv "$bin.new/server" "$bin.new/etcd"
  mv "$bin.new" "$bin"
  say "the control plane is built after $(seconds_since "$began")"
}

# wait_for WHAT PROGRAM COMMAND... : tries for 60 s; stops at once when the program has ended.
wait_for() {
  local what=$1 program=$2 deadline=$((SECONDS + 60))
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ! process_runs "$dir/$program.pid"; then
      tail -n 5 "$dir/$program.log" >&2
      down quiet
      die "$program ended while it was starting (its last lines are above; the rest is in $dir/$program.log)"
    fi
    if [ "$SECONDS" -ge "$deadline" ]; then
      tail -n 5 "$dir/$program.log" >&2
      down quiet
      die "$what did not happen within 60 s: the machine may be too busy; read $dir/$program.log and try again"
    fi
    sleep 0.1
  done
}

write_kubeconfig() {
  local ca
  ca=$(base64 <"$dir/certs/apiserver.crt" | tr -d '\n')
  (
    umask 077
    cat >"$kubeconfig.new" <<YAML
# Access to the local test cluster that ./dev cluster started; worthless anywhere else.
apiVersion: v1
kind: Config
current-context: pilothouse-dev
contexts:
  - name: pilothouse-dev
    context: { cluster: pilothouse-dev, user: admin }
clusters:
  - name: pilothouse-dev
    cluster:
      server: https://127.0.0.1:$API_PORT
      certificate-authority-data: $ca
users:
  - name: admin
    user:
      token: $(cat "$dir/token")
YAML
  )
  mv "$kubeconfig.new" "$kubeconfig"
}

start_api_server() {
  # Quick and lost at the end: nothing is synced to disk.
  process_start "$dir/etcd" "$bin/etcd" --name dev --data-dir "$dir/etcd.data" --unsafe-no-fsync --log-level warn \
    --listen-client-urls "http://127.0.0.1:$ETCD_PORT" --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" \
    --listen-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" --initial-advertise-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" \
    --initial-cluster "dev=http://127.0.0.1:$ETCD_PEER_PORT"
  wait_for "an answer from etcd" etcd node -e 'require("http").get(process.argv[1], (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on("error", () => process.exit(1))' \
    "http://127.0.0.1:$ETCD_PORT/health"

  # There is no kubelet that could mount service account tokens, and no network in which a Service could lead to this loopback address.
  # The inflight limits are for load tests.
  process_start "$dir/apiserver" "$bin/kube-apiserver" --etcd-servers "http://127.0.0.1:$ETCD_PORT" \
    --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$API_PORT" --cert-dir "$dir/certs" \
    --service-account-key-file "$dir/service-accounts.key" --service-account-signing-key-file "$dir/service-accounts.key" \
    --service-account-issuer https://pilothouse.invalid --service-cluster-ip-range 10.96.0.0/16 \
    --authorization-mode RBAC --token-auth-file "$dir/tokens.csv" --disable-admission-plugins ServiceAccount \
    --endpoint-reconciler-type none --allow-privileged=true --max-requests-inflight 2000 --max-mutating-requests-inflight 1000
  # The file with the certificate that it makes for itself comes before the port.
  wait_for "the API server's certificate" apiserver test -s "$dir/certs/apiserver.crt"
  write_kubeconfig
  wait_for "a ready API server" apiserver kubectl get --raw /readyz
}

start_controller_manager() {
  # By default garbage collection removes 20 objects a second; these limits let it keep up with a large set.
  process_start "$dir/controller-manager" "$bin/kube-controller-manager" --kubeconfig "$kubeconfig" \
    --authentication-kubeconfig "$kubeconfig" --authorization-kubeconfig "$kubeconfig" --authentication-skip-lookup \
    --bind-address 127.0.0.1 --secure-port "$MANAGER_PORT" --cert-dir "$dir/certs" --leader-elect=false --use-service-account-credentials \
    --service-account-private-key-file "$dir/service-accounts.key" --root-ca-file "$dir/certs/apiserver.crt" \
    --kube-api-qps 2000 --kube-api-burst 4000 --concurrent-gc-syncs 20
}

install_resources() {
  kubectl apply --server-side --force-conflicts -f crds/yaml/ >&2 || die "the API server refused our resource definitions (see above): mend crds/ and generate crds/yaml anew"
  kubectl wait --for condition=Established --timeout 30s crd --all >/dev/null || die "our resource definitions were accepted but are not served: './dev cluster kubectl get crd -o yaml' says why"
}

start_nodes() {
  local program=${PILOTHOUSE_BIN:-target/debug/pilothouse}
  if [ ! -x "$program" ] && [ -z "${PILOTHOUSE_BIN:-}" ]; then
    step "simulated nodes: compiling the program that plays them"
    cargo build -p pilothouse >&2 || { say "it does not compile, so there are no simulated nodes: pods stay Pending"; return; }
  fi
  if ! "$program" simulate-nodes --help >/dev/null 2>&1; then
    say "$program has no command 'simulate-nodes', so there are no simulated nodes: pods stay Pending"
    return
  fi
  process_start "$dir/nodes" "$(realpath "$program")" simulate-nodes --kubeconfig "$kubeconfig" --schedule-all
  wait_for "the first simulated node" nodes sh -c "'$bin/kubectl' --kubeconfig '$kubeconfig' get nodes -o name | grep -q ."
}

up() {
  local mode=${1:-} began name
  case "$mode" in
    "" | --no-nodes | --bare) ;;
    *) die "./dev cluster up takes --no-nodes or --bare, not '$mode'" ;;
  esac
  # Another mode is another cluster: a bare one must not inherit what a controller made.
  if [ "$(cat "$dir/mode" 2>/dev/null)" = "$mode" ] && all_run "$mode" && kubectl get --raw /readyz >/dev/null 2>&1; then
    say "already running"
    [ "$mode" = --bare ] || install_resources
    [ -n "$mode" ] || process_runs "$dir/nodes.pid" || start_nodes
    status
    return
  fi
  if [ -f "$dir/mode" ] && [ "$(cat "$dir/mode")" != "$mode" ] && process_runs "$dir/apiserver.pid"; then
    say "the cluster in $dir was started as 'up $(cat "$dir/mode")': ending it, with what is in it"
  fi
  down quiet
  began=$SECONDS
  step "starting the control plane in $dir"
  local ports
  ports=$(node tools/cluster/prepare.mjs "$dir") || die "node could not prepare $dir (see above)"
  for name in $ports; do declare -g "$name"; done
  printf '%s\n' "$mode" >"$dir/mode"
  start_api_server
  if [ "$mode" != --bare ]; then
    start_controller_manager
    install_resources
  fi
  [ -n "$mode" ] || start_nodes
  say "ready after $(seconds_since "$began"); use it with: export KUBECONFIG=$kubeconfig"
}

# Whether everything runs that a cluster of this mode cannot do without; says what does not when some of it does.
all_run() {
  local name needed=(etcd apiserver) missing=()
  [ "$1" = --bare ] || needed+=(controller-manager)
  for name in "${needed[@]}"; do process_runs "$dir/$name.pid" || missing+=("$name"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  [ ${#missing[@]} = ${#needed[@]} ] || say "of the cluster in $dir no longer runs: ${missing[*]}; starting all of it anew, empty"
  return 1
}

# Ends what this folder's pid files name, newest first, and removes the data.
down() {
  local name stopped=no
  for name in "${programs[@]}"; do
    if process_stop "$dir/$name.pid"; then stopped=yes; fi
  done
  rm -rf "$dir/etcd.data" "$dir/certs" "$kubeconfig" "$dir/token" "$dir/tokens.csv" "$dir/mode"
  [ "${1:-}" = quiet ] || if [ "$stopped" = yes ]; then say "stopped, and its data removed"; else say "nothing was running in $dir"; fi
}

status() {
  local name rc=0 mode
  mode=$(cat "$dir/mode" 2>/dev/null || true)
  for name in etcd apiserver controller-manager nodes; do
    if process_runs "$dir/$name.pid"; then
      printf '%-20s running, pid %s, log %s\n' "$name" "$(cut -d ' ' -f 1 "$dir/$name.pid")" "$dir/$name.log"
    else
      case "$name$mode" in
        controller-manager--bare | nodes--*) printf '%-20s left out (up %s)\n' "$name" "$mode" ;;
        nodes) printf '%-20s not running%s\n' "$name" "$([ "$rc" = 1 ] || printf ': pods stay as they are until ./dev cluster up starts them again')" ;;
        *) printf '%-20s not running\n' "$name" && rc=1 ;;
      esac
    fi
  done
  if [ "$rc" = 0 ]; then
    printf '%-20s %s\n' kubeconfig "$kubeconfig" kubectl "$bin/kubectl" server "$(kubectl version -o json 2>/dev/null | awk -F '"' '/"serverVersion"/ { s = 1 } s && $2 == "gitVersion" { print $4 }')"
  fi
  return "$rc"
}

command=${1:-}
[ $# -eq 0 ] || shift
case "$command" in
  build) with_lock cluster build ;;
  # For ./dev test: is there a control plane here, or the means to build one?
  build-possible) [ -x "$bin/kubectl" ] || have go ;;
  up)
    with_lock cluster build
    lock_dir=$dir with_lock up up "$@"
    ;;
  down) down ;;
  status) status ;;
  kubeconfig)
    [ -f "$kubeconfig" ] || die "no cluster is running in $dir: start one with './dev cluster up'"
    printf '%s\n' "$kubeconfig"
    ;;
  kubectl)
    [ -f "$kubeconfig" ] || die "no cluster is running in $dir: start one with './dev cluster up'"
    exec "$bin/kubectl" --kubeconfig "$kubeconfig" "$@"
    ;;
  # For ./dev test: the kubectl of the same version.
  kubectl-path) printf '%s\n' "$bin/kubectl" ;;
  schema) exec bash tools/cluster/schema.sh ;;
  *) die "./dev cluster takes up [--no-nodes|--bare], down, status, kubeconfig (its path), kubectl ARGS or schema" ;;
esac
