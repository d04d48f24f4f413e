#!/usr/bin/env bash
# Compares what we say of random objects with what the API server of each bundle does with them:
#   BUNDLES='v1.7.0/experimental v1.6.3/standard' COUNT=2000 SEED=1 run.sh
# All bundles unless given. Starts the cluster CLUSTER where it does not run, and ends it then; KEEP=1 leaves it.
set -euo pipefail
export CLUSTER=${CLUSTER:-differential}
cluster=$(cd "$(dirname "$0")/../cluster" && pwd -P)
here=$(cd "$(dirname "$0")" && pwd -P)
export PATH=$here/../../tools/node/node_modules/.bin:$PATH
BUNDLES=${BUNDLES:-$(node "$here/bundles.ts")}
COUNT=${COUNT:-50} SEED=${SEED:-1}

if ! "$cluster/run.sh" true 2>/dev/null; then
  "$cluster/build.sh"
  "$cluster/up.sh"
  [ "${KEEP:-}" = 1 ] || trap '"$cluster/down.sh"' EXIT
fi
# What another run has left would be mixed with what is installed.
case $("$cluster/run.sh" kubectl get crd -o name) in *.gateway.networking.*) "$cluster/crds.sh" remove ;; esac
failed=0
for bundle in $BUNDLES; do
  version=${bundle%/*} channel=${bundle#*/}
  "$cluster/crds.sh" "$version" "$channel"
  minor=${version#v}
  "$cluster/run.sh" node "$here/differential.ts" "${minor%.*}" "$channel" "$COUNT" "$SEED" || failed=1
  "$cluster/crds.sh" remove
done
[ "$failed" = 0 ] && echo "no disagreements" || { echo "there are disagreements"; exit 1; }
