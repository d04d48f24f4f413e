#!/usr/bin/env bash
# Runs the benchmark in our own cluster, which is started and ended where it does not run already (KEEP=1 leaves it), or in
# that of KUBECONFIG, which must be able to pull IMAGE and give Services of type LoadBalancer addresses that are reached from here.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd -P)
. "$root/test/cluster/lib.sh"
cd "$root"
export IMAGE=${IMAGE:-localhost/sallyport:dev}
bench=(timeout --kill-after=60 480 node --disable-warning=ExperimentalWarning test/bench/routes.ts)
[ -z "${KUBECONFIG:-}" ] || exec "${bench[@]}"

if ! "$HERE/run.sh" true 2>/dev/null; then
  "$HERE/build.sh"
  "$HERE/up.sh"
  if [ "${KEEP:-}" != 1 ]; then
    export CLUSTER_ENDS=1
    trap '"$HERE/down.sh"' EXIT
    trap 'exit 143' INT TERM HUP
  fi
fi
# As from machines of their own, as far as that goes: otherwise it is the control plane's work that is measured, of which a new route
# causes much. With the weight that it has by default a proxy with something to do waited 15 to 150 ms for its turn.
weigh control-plane 12 || true
"$HERE/image.sh"
# Inside the cluster's network there is no module proxy.
node "$HERE/crds.ts" v1.7.0 standard >/dev/null
# The client goes before everything else, as from a machine of its own: what it waits for its turn would count as latency.
! chrt --rr 1 true 2>/dev/null || bench=(chrt --rr 1 "${bench[@]}")
"$HERE/run.sh" "${bench[@]}"
