#!/bin/sh
# Runs the benchmark in a network of its own, with a file system of its own below /run: the programs find the files of a
# ServiceAccount there, as in a pod.
set -eu
cd "$(dirname "$0")/../../.."
PATH=$PATH:/usr/sbin:/sbin
for tool in unshare:util-linux mount:mount ip:iproute2 go:golang; do
  command -v "${tool%:*}" >/dev/null || { echo "bench-memory: ${tool%:*} not found: apt-get install ${tool#*:}" >&2; exit 2; }
done
# Go downloads the module even if it is too old to use it, and reports that as an error.
go mod download -json sigs.k8s.io/gateway-api@v1.7.0 >/dev/null || true
exec unshare --map-root-user --net --mount sh -c '
  ip link set lo up
  mount -t tmpfs tmpfs /run
  mkdir -p /run/secrets/kubernetes.io/serviceaccount /var/run/secrets/kubernetes.io/serviceaccount
  exec node test/bench/memory.ts'
