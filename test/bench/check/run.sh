#!/bin/sh
# Measures `sallyport check` beside kubeconform, which is built once from its Go module and kept in the cache.
set -eu
cd "$(dirname "$0")/../../.."

version=v0.8.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sallyport/bench/kubeconform-$version
for tool in taskset:util-linux bash:bash; do
  command -v "${tool%:*}" >/dev/null || { echo "bench-check: this machine lacks ${tool%:*}: apt-get install ${tool#*:}" >&2; exit 2; }
done
if [ ! -x "$cache/kubeconform" ]; then
  command -v go >/dev/null || { echo "bench-check: kubeconform is built from its Go module: install Go (https://go.dev/dl)" >&2; exit 2; }
  echo "Building kubeconform $version, half a minute, once ..."
  GOBIN=$cache CGO_ENABLED=0 nice -n 19 go install "github.com/yannh/kubeconform/cmd/kubeconform@$version"
fi
exec node --disable-warning=ExperimentalWarning test/bench/check/check.ts "$cache/kubeconform"
