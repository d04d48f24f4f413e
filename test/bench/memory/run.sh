#!/bin/sh
# usage: run.sh FILE: runs a benchmark in a network of its own, with a file system of its own below /run: the programs find the files of a
# ServiceAccount there, as in a pod. The name of the controller's Service is one of this machine.
set -eu
cd "$(dirname "$0")/../../.."
PATH=$PATH:/usr/sbin:/sbin
for tool in unshare:util-linux mount:mount ip:iproute2 go:golang; do
  command -v "${tool%:*}" >/dev/null || { echo "${1##*/}: ${tool%:*} not found: apt-get install ${tool#*:}" >&2; exit 2; }
done
# Go downloads the module even if it is too old to use it, and reports that as an error.
go mod download -json sigs.k8s.io/gateway-api@v1.7.0 >/dev/null || true
exec unshare --map-root-user --net --mount sh -c '
  ip link set lo up
  mount -t tmpfs tmpfs /run
  mkdir -p /run/secrets/kubernetes.io/serviceaccount /var/run/secrets/kubernetes.io/serviceaccount
  echo "127.0.0.1 localhost sallyport-controller.sallyport-system.svc" >/run/hosts
  mount --bind /run/hosts /etc/hosts
  exec node "$1"' sh "$1"
