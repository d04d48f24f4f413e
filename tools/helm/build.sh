#!/usr/bin/env bash
# Builds Helm from its Go module, once per version, and prints where the program lies. Needs Go from 1.21 on, which
# fetches the toolchain that Helm wants itself, and the module proxy. The first build takes some minutes.
set -euo pipefail

version=v4.3.1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sallyport/helm/$version

if [ ! -x "$cache/helm" ]; then
  command -v go >/dev/null || { echo 'helm: Go is missing (any version from 1.21)' >&2; exit 1; }
  echo "helm: building $version, once" >&2
  mkdir -p "$cache"
  # Into a folder of its own first: two builds at once, or one that is cut off, never leave half a program.
  work=$(mktemp -d "$cache/build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  GOTOOLCHAIN=go1.27.4 GOFLAGS=-buildvcs=false CGO_ENABLED=0 GOBIN=$work \
    nice -n 19 go install -trimpath -ldflags '-s -w' "helm.sh/helm/v4/cmd/helm@$version" >&2
  mv -f "$work/helm" "$cache/helm"
fi
echo "$cache/helm"
