#!/usr/bin/env bash
# Packs the built project as an image and loads it into the cluster, under the name $IMAGE and the one that the manifests
# have: `kubectl apply -k deploy/overlays/enforce` finds it there.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
IMAGE=${IMAGE:-localhost/sallyport:dev}
[ -e "$STATE/ready" ] || die "cluster '$CLUSTER' is not running: make cluster-up"
manifests=$(kubectl kustomize "$ROOT/deploy/base" | awk '$1 == "image:" { image = $2 } END { print image }')
[ -n "$manifests" ] || die "deploy/base names no image"
archive=$STATE/project.tar
trap 'rm -f "$archive"' EXIT
node "$HERE/project-image.ts" "$archive" "$IMAGE,$manifests"
ctr -a "$STATE/containerd.sock" -n k8s.io images import "$archive" >/dev/null 2>&1 || die "containerd refuses the image $archive"
log "loaded $IMAGE, also as $manifests"
