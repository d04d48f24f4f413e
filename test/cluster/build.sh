#!/usr/bin/env bash
# Builds the cluster's programs from Go modules and packs its images, once per content of its inputs (KEY in lib.sh).
# Cold: 10 to 15 minutes on two cores. Modules, the Go toolchain and Go's build cache stay in $CACHE/go.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
check_machine
[ ! -e "$BUILT/.complete" ] || exit 0
lock 8 "$CACHE" "another build"
[ ! -e "$BUILT/.complete" ] || exit 0

KUBERNETES=v1.37.1 CONTAINERD=v2.4.2 RUNC=v1.5.2 CNI=v1.9.1 PAUSE=3.10.1 # the rest: programs/go.mod and dns/go.mod
export GOTOOLCHAIN=go1.27.4 GOMODCACHE=$CACHE/go/mod GOCACHE=$CACHE/go/build GOBIN=$BIN CGO_ENABLED=0
export GOFLAGS='-trimpath -buildvcs=false -modcacherw'
mkdir -p "$BIN" "$IMAGES"
renice -n 10 -p $$ >/dev/null # other work on the machine goes first
build_log=$BUILT/build.log
: >"$build_log"

# Runs one step, says what it is and how long it took; its output is kept in the log.
steps=9 count=0
step() {
  local label=$1 started=$SECONDS
  shift
  count=$((count + 1))
  printf '  %d/%d %s ... ' "$count" "$steps" "$label"
  if "$@" >>"$build_log" 2>&1 </dev/null; then echo "$((SECONDS - started)) s"; else
    echo failed
    tail -15 "$build_log" >&2
    die "step failed; the whole output is in $build_log"
  fi
}

version=k8s.io/component-base/version
# Without a stamp Kubernetes takes itself for v0.0.0-master, and checks of versions go wrong.
stamp="-s -w -X $version.gitVersion=$KUBERNETES -X $version.gitMajor=1 -X $version.gitMinor=${KUBERNETES:3:2} -X $version.gitTreeState=clean"
gateway_images=registry.k8s.io/gateway-api/conformance
cni=github.com/containernetworking/plugins/plugins
plain=(-ldflags '-s -w')

log "Building Kubernetes and what it needs into $BUILT, 10 to 15 minutes, once"
cd "$HERE/programs"
step "modules and Go toolchain" go mod download
step "kube-apiserver, kubectl" go install -ldflags "$stamp" k8s.io/kubernetes/cmd/{kube-apiserver,kubectl}
step "kubelet, kube-proxy" go install -ldflags "$stamp" k8s.io/kubernetes/cmd/{kubelet,kube-proxy}
step "kube-controller-manager, kube-scheduler" go install -ldflags "$stamp" k8s.io/kubernetes/cmd/{kube-controller-manager,kube-scheduler}
step "etcd" go build "${plain[@]}" -o "$BIN/etcd" go.etcd.io/etcd/server/v3
step "containerd" go install "${plain[@]}" -tags no_btrfs,no_zfs,no_devmapper "github.com/containerd/containerd/v2/cmd/containerd@$CONTAINERD" \
  "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2@$CONTAINERD" "github.com/containerd/containerd/v2/cmd/ctr@$CONTAINERD"
network_and_runtime() {
  CGO_ENABLED=1 go install "${plain[@]}" -tags seccomp "github.com/opencontainers/runc@$RUNC" &&
    go install "${plain[@]}" "$cni/main/bridge@$CNI" "$cni/main/loopback@$CNI" "$cni/ipam/host-local@$CNI" "$cni/meta/portmap@$CNI" &&
    go -C "$HERE/dns" build "${plain[@]}" -o "$BIN/coredns" .
}
suite() {
  go test -c -o "$BIN/conformance" ./conformance &&
    go build "${plain[@]}" -o "$BIN/test2json" cmd/test2json &&
    go build "${plain[@]}" -o "$BIN/echo-basic" sigs.k8s.io/gateway-api-conformance-images/echo-basic &&
    go build "${plain[@]}" -o "$BIN/pause" ./pause
}
images() {
  node "$HERE/program-image.ts" "$IMAGES/pause.tar" "registry.k8s.io/pause:$PAUSE" "$BIN/pause" &&
    node "$HERE/program-image.ts" "$IMAGES/coredns.tar" localhost/coredns:cluster "$BIN/coredns" &&
    node "$HERE/program-image.ts" "$IMAGES/echo.tar" "$gateway_images/echo-basic:v0.1.0,$gateway_images/echo-basic:v0.2.0" "$BIN/echo-basic"
}
step "runc, CNI plugins, CoreDNS" network_and_runtime
step "conformance suite, echo server" suite
step "images" images
touch "$BUILT/.complete"
log "Built in $SECONDS s"
