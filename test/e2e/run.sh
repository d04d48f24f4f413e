#!/usr/bin/env bash
# Runs the end-to-end tests in our own cluster, which is started and ended where it does not run already (KEEP=1 leaves
# it), or in the cluster of KUBECONFIG, which must be able to pull IMAGE. Arguments go to Jest.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd -P)
. "$root/test/cluster/lib.sh"
cd "$root"
export IMAGE=${IMAGE:-localhost/sallyport:dev}
tests=(env NODE_OPTIONS='--experimental-vm-modules --disable-warning=ExperimentalWarning' "$root/node_modules/.bin/jest" --config jest.e2e.config.js "$@")
[ -z "${KUBECONFIG:-}" ] || exec "${tests[@]}"

# A cluster that a killed run has started holds what its tests left: it is not used again.
owner=$STATE/started-by-tests
if [ -e "$owner" ] && ! kill -0 "$(cat "$owner")" 2>/dev/null; then "$HERE/down.sh"; fi
if ! "$HERE/run.sh" true 2>/dev/null; then
  "$HERE/build.sh"
  "$HERE/up.sh"
  if [ "${KEEP:-}" != 1 ]; then
    echo $$ >"$owner"
    trap '"$HERE/down.sh"' EXIT
    trap 'exit 143' INT TERM HUP
  fi
fi
"$HERE/image.sh"
# Inside the cluster's network there is no module proxy: bundles that tests install are fetched before.
for bundle in $(node "$root/test/differential/bundles.ts"); do node "$HERE/crds.ts" "${bundle%/*}" "${bundle#*/}" >/dev/null; done
"$HERE/run.sh" "${tests[@]}"
