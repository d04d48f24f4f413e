#!/usr/bin/env bash
# Runs the official conformance suite against the running cluster, one test after another, and judges it test by test:
#   run.sh GATEWAYCLASS OUTPUT_FOLDER [flags of the suite or of go test]
# REASONS names the file of features for which tests may be skipped; without it any may. VERSION, CONTACT and URL go into the report.
# e.g. run.sh sallyport out -conformance-profiles=GATEWAY-HTTP -test.run 'TestConformance/(HTTPRouteWeight|HTTPRouteMatching)$'
set -euo pipefail
. "$(dirname "$0")/../cluster/lib.sh"
[ $# -ge 2 ] || die "usage: run.sh GATEWAYCLASS OUTPUT_FOLDER [flags]"
class=$1 out=$2
shift 2
mkdir -p "$out"
status=0
"$HERE/run.sh" test2json -t conformance -test.v=test2json -test.timeout=2h -gateway-class="$class" -report-output="$out/report.yaml" \
  -organization=sallyport -project=sallyport -url="${URL:-https://example.com}" -version="${VERSION:-dev}" -contact="${CONTACT:-none}" "$@" 2>"$out/stderr.log" |
  node "$ROOT/test/conformance/judge.ts" "$out/events.json" ${REASONS:+"$REASONS"} | tee "$out/summary.txt" || status=$?
echo "$SECONDS s; events, report and summary are in $out" | tee -a "$out/summary.txt"
exit "$status"
