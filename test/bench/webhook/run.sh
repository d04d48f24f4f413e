#!/bin/sh
# Runs the benchmark in a network of its own, where the official server may have the port that it insists on and nobody
# else can reach it. That server is built once, from its Go module, and kept in the cache.
set -eu
cd "$(dirname "$0")/../../.."

version=v1.0.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sallyport/bench/admission-$version
for tool in unshare:util-linux ip:iproute2; do
  PATH=$PATH:/usr/sbin:/sbin command -v "${tool%:*}" >/dev/null || { echo "bench-webhook: this machine lacks ${tool%:*}: apt-get install ${tool#*:}" >&2; exit 2; }
done
if [ ! -x "$cache/admission" ]; then
  command -v go >/dev/null || { echo "bench-webhook: the official server is built from its Go module: install Go (https://go.dev/dl)" >&2; exit 2; }
  echo "Building the official admission server of Gateway API $version, half a minute, once ..."
  GOBIN=$cache CGO_ENABLED=0 nice -n 19 go install "sigs.k8s.io/gateway-api/cmd/admission@$version"
fi
exec unshare --map-root-user --net sh -c 'PATH=$PATH:/usr/sbin:/sbin; ip link set lo up && exec node test/bench/webhook.ts "$1"' sh "$cache/admission"
