#!/usr/bin/env bash
# Installs the official CRDs of the Gateway API, or removes all that are there:
#   crds.sh v1.7.0 experimental     crds.sh v1.5.1 standard     crds.sh remove
set -euo pipefail
. "$(dirname "$0")/lib.sh"
kubectl() { "$HERE/run.sh" kubectl "$@"; }
if [ "${1:-}" = remove ]; then
  kubectl get validatingadmissionpolicybinding,validatingadmissionpolicy,crd -o name | grep -F .gateway.networking. |
    xargs -r "$HERE/run.sh" kubectl delete >/dev/null
  exit 0
fi
[ $# = 2 ] || die "usage: crds.sh VERSION CHANNEL, for example v1.7.0 standard; or crds.sh remove"
manifests=$(node "$HERE/crds.ts" "$1" "$2")
kubectl apply --server-side -f - <<<"$manifests" >/dev/null
kubectl wait --for=condition=Established crd --all --timeout=60s >/dev/null
