#!/usr/bin/env bash
# Ends the cluster and removes everything it left, also after a crash. KEEP=1 keeps its state folder with the logs.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || die "the cluster needs root: run make as root"
lock 9 "${STATE%/*}" "another start or end of a cluster"
tear_down
