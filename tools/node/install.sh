#!/bin/sh
# Brings Node into tools/node/node_modules where the installed one is too old. Does nothing elsewhere.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
. "$here/../../bin/find-node.sh"
own=$here/node_modules/.bin/node
stamp=$here/node_modules/.package-lock.json

if [ -e "$stamp" ] && [ -n "$(find "$here/package-lock.json" -newer "$stamp")" ]; then
  rm -rf "$here/node_modules"
fi
if is_supported_node node || is_supported_node "$own"; then
  exit 0
fi
command -v npm >/dev/null || {
  echo "Sallyport needs npm and Node $node_floor or newer: install Node 24 (https://nodejs.org)" >&2
  exit 1
}
echo "Node $(node --version 2>/dev/null || echo '(none)') is older than $node_floor: fetching Node 24 into tools/node (50 MB, once) ..."
npm ci --prefix "$here" --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
touch "$stamp"
is_supported_node "$own" || {
  echo "No npm package brings Node 24 to $(uname -sm): install Node 24 (https://nodejs.org), at least $node_floor" >&2
  exit 1
}
