#!/usr/bin/env bash
# ./dev cluster schema : records what the sandbox is made from (server/sandbox/data/builtin.json.gz) on a bare API server started for it.
# The same version gives the same bytes, so a difference is a difference of Kubernetes, or of record.mjs.
# shellcheck source=tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

have go || die "no Go here: the numbers of protobuf fields are read from the Go sources of Kubernetes (install Go 1.26 or newer)"
export PILOTHOUSE_CLUSTER_DIR=$root/target/cluster-schema
out=server/sandbox/data/builtin.json.gz
answers=$PILOTHOUSE_CLUSTER_DIR/answers
# The folder of a Go module whose version tools/cluster/kubernetes fixes.
module() { (cd tools/cluster/kubernetes && go list -mod=readonly -m -f '{{.Dir}}' "$1"); }

trap 'bash tools/cluster.sh down' EXIT
bash tools/cluster.sh up --bare
rm -rf "$answers"
node tools/cluster/schema.mjs "$PILOTHOUSE_CLUSTER_DIR/kubeconfig" "$answers"
node server/sandbox/data/record.mjs "$answers/swagger.json" "$answers/apis.json" "$answers/api_v1.json" "$answers/v3" \
  "$(module k8s.io/api)" "$(module k8s.io/apimachinery)" "$out"
if git diff --quiet -- "$out"; then say "$out is as it was"; else say "$out has changed: look at it with 'gzip -dc', run ./dev test, and commit it"; fi
