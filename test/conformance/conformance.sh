#!/usr/bin/env bash
# Runs the official conformance suite against the controller as deploy/overlays/controller installs it, in a cluster that is
# started and ended here where it does not run already (KEEP=1 leaves it):
#   PROFILES  profiles of the suite, with commas between them
#   RUN       names of tests, with | between them; all where it is empty
#   FEATURES  features to test, with commas between them, instead of those that the GatewayClass claims
#   CHANNEL   experimental (default) or standard: the channel of the CRDs
#   OUT       folder for report, events and summary
#   REPORT    file to which the report of a complete run is copied, in upstream's form
set -euo pipefail
. "$(dirname "$0")/../cluster/lib.sh"
# A run of a part skips tests that do not belong to it, so its report says nothing about the others.
if [ -z "${PROFILES:-}${RUN:-}${FEATURES:-}" ]; then export REASONS=$ROOT/test/conformance/skips.txt; fi
[ -z "${REPORT:-}" ] || [ -n "${REASONS:-}" ] || die "REPORT requires a complete run: omit PROFILES, RUN and FEATURES"
image=${IMAGE:-localhost/sallyport:dev}
out=${OUT:-$ROOT/conformance-report}
kubectl() { "$HERE/run.sh" kubectl "$@"; }

if ! "$HERE/run.sh" true 2>/dev/null; then
  "$HERE/build.sh"
  "$HERE/up.sh"
  if [ "${KEEP:-}" != 1 ]; then
    trap '"$HERE/down.sh"' EXIT
    trap 'exit 143' INT TERM HUP
  fi
fi
"$HERE/image.sh"
"$HERE/crds.sh" v1.7.0 "${CHANNEL:-experimental}"
kubectl kustomize "$ROOT/deploy/overlays/controller" | sed "s|image: ghcr.io/sallyport/sallyport:.*|image: $image|" | kubectl apply -f - >/dev/null
# An image of the same name that was loaded again is not noticed by itself.
kubectl rollout restart -n sallyport-system deployment/sallyport-controller >/dev/null
kubectl rollout status -n sallyport-system deployment/sallyport-controller --timeout=180s >/dev/null
kubectl wait gatewayclass/sallyport --for=condition=Accepted --timeout=60s >/dev/null

VERSION=v$(node -p "require('$ROOT/package.json').version")
export VERSION
flags=("-conformance-profiles=${PROFILES:-GATEWAY-HTTP,GATEWAY-GRPC,GATEWAY-TLS,GATEWAY-TCP,GATEWAY-UDP}")
[ -z "${RUN:-}" ] || flags+=(-test.run "TestConformance/($RUN)\$")
[ -z "${FEATURES:-}" ] || flags+=("-supported-features=$FEATURES")
"$(dirname "$0")/run.sh" sallyport "$out" "${flags[@]}"
if [ -n "${REPORT:-}" ]; then
  mkdir -p "$(dirname "$REPORT")"
  cp "$out/report.yaml" "$REPORT"
  log "the report is in $REPORT"
fi
