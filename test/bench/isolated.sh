#!/bin/sh
# Runs a script in a network of its own, where nobody else has its ports or can reach it: isolated.sh NAME SCRIPT
set -eu
cd "$(dirname "$0")/../.."
PATH=$PATH:/usr/sbin:/sbin
for tool in unshare:util-linux ip:iproute2 nginx:nginx-light; do
  command -v "${tool%:*}" >/dev/null || { echo "$1: this machine lacks ${tool%:*}: apt-get install ${tool#*:}" >&2; exit 2; }
done
exec unshare --map-root-user --net sh -c 'ip link set lo up && exec node "$1"' sh "$2"
