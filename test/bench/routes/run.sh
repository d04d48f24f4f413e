#!/usr/bin/env bash
# Runs the benchmark in our own cluster, which is started and ended where it does not run already (KEEP=1 leaves it), or in
# that of KUBECONFIG, which must be able to pull IMAGE and give Services of type LoadBalancer addresses that are reached from here.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd -P)
. "$root/test/cluster/lib.sh"
cd "$root"
export IMAGE=${IMAGE:-localhost/sallyport:dev}
bench=(timeout --kill-after=60 "${TIMEOUT:-480}" node --disable-warning=ExperimentalWarning test/bench/routes.ts)
# Only new routes are measured of another controller.
[ -z "${PEER:-}" ] || export ONLY=latency
if [ "${ONLY:-}" = creation ]; then bench[2]=${TIMEOUT:-1500}; fi
[ -z "${KUBECONFIG:-}" ] || exec "${bench[@]}"

ends=
if ! "$HERE/run.sh" true 2>/dev/null; then
  [ -z "${PEER:-}" ] || die "start a cluster and install $PEER first: make cluster-up"
  "$HERE/build.sh"
  "$HERE/up.sh"
  [ "${KEEP:-}" = 1 ] || ends=1
fi
default=$(weight_of control-plane) || default=
finish() {
  if [ -n "$ends" ]; then "$HERE/down.sh"
  elif [ -n "$default" ]; then weigh control-plane "$default"; fi
}
trap finish EXIT
trap 'exit 143' INT TERM HUP
"$HERE/image.sh"
# Inside the cluster's network there is no module proxy.
node "$HERE/crds.ts" v1.7.0 standard >/dev/null
# The client goes before everything else, as from a machine of its own: what it waits for its turn would count as latency.
! chrt --rr 1 true 2>/dev/null || bench=(chrt --rr 1 "${bench[@]}")
# How fast routes are created depends on the API server: only the weight that it has by default is fair.
if [ "${ONLY:-}" = creation ]; then
  [ -z "$ends" ] || export CLUSTER_ENDS=1
  CONTROL_PLANE_WEIGHT=${default:-unknown} "$HERE/run.sh" "${bench[@]}"
  exit
fi
# First with the weight that the control plane has by default, new routes alone: with it a proxy with something to do waits for its turn
# while the API server works.
CONTROL_PLANE_WEIGHT=${default:-unknown} ONLY=latency "$HERE/run.sh" "${bench[@]}"
# Then everything as with a control plane on machines of its own, as far as that goes.
light=${WEIGHT:-12}
if [ -n "$default" ] && weigh control-plane "$light"; then
  export CONTROL_PLANE_WEIGHT=$light
else
  export CONTROL_PLANE_WEIGHT=${default:-unknown}
fi
[ -z "$ends" ] || export CLUSTER_ENDS=1
"$HERE/run.sh" "${bench[@]}"
