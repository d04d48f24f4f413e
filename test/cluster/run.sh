#!/usr/bin/env bash
# Runs a command where the cluster's addresses can be reached, with KUBECONFIG and the cluster's programs: run.sh kubectl get pods -A
# CLUSTER_STATE is the cluster's state folder: log/audit.log, log/*.log, pki, containerd.sock.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ -e "$STATE/ready" ] && first_process >/dev/null || die "cluster '$CLUSTER' is not running: make cluster-up"
export KUBECONFIG=$STATE/admin.kubeconfig CLUSTER_STATE=$STATE CLUSTER
exec nsenter --net="$NETNS" "$@"
