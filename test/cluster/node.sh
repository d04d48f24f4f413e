#!/usr/bin/env bash
# First process of the cluster's process namespace: hides folders of the host, starts every component, and stays.
# Started by up.sh only. $1: state folder.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ "$STATE" = "$1" ] && [ $$ = 1 ] || die "to be started by up.sh"
cd "$STATE"

mount --make-rshared / # containers mount rslave below it
mount --bind "$STATE/var-log" /var/log
mount -t tmpfs tmpfs /run
mkdir -p /run/netns
mount -t tmpfs tmpfs /var/lib # device plugins of the kubelet, results of CNI

# Pods of this cluster live in a cgroup of its own: a kubelet removes the pods in its cgroup that it does not know.
cgroup=$(cpu_cgroup)
if [ "$cgroup" = "/sys/fs/cgroup/$OWN_NAME" ]; then mkdir -p "$cgroup"; else
  for hierarchy in /sys/fs/cgroup/*/; do
    [ ! -e "$hierarchy/cgroup.procs" ] || mkdir -p "$hierarchy/$OWN_NAME"
  done
fi
# Inside, pods have one weight of the processor for each CPU, by the kubelet; the node's own programs and the control plane share one.
# To the outside all of it has one for each CPU: with more, those who test the cluster would starve.
if weigh . "$(nproc)00"; then
  mkdir -p "$cgroup"/{system,control-plane}
  weigh system 50
  weigh control-plane 50
  echo 0 >"$cgroup/system/cgroup.procs" # this process, and with it all that it starts
fi
ulimit -n "$(ulimit -Hn)"

# start NAME COMMAND...: in the background, with a log of that name
start() {
  local name=$1
  shift
  "$@" >"$STATE/log/$name.log" 2>&1 </dev/null &
}

# start NAME control_plane COMMAND...: what has machines of its own in most clusters
control_plane() {
  [ ! -d "$cgroup/control-plane" ] || echo 0 >"$cgroup/control-plane/cgroup.procs"
  exec "$@"
}

start etcd control_plane etcd --data-dir "$STATE/etcd" --unsafe-no-fsync --quota-backend-bytes=4294967296 \
  --auto-compaction-mode=periodic --auto-compaction-retention=5m --listen-client-urls http://127.0.0.1:2379 \
  --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380

# No default route to guess the address from; node1 resolves nowhere; the kubelet lets nobody in without a certificate.
# The audit log is never rotated: tests read it whole.
pki=$STATE/pki
start kube-apiserver control_plane kube-apiserver --etcd-servers=http://127.0.0.1:2379 --bind-address=0.0.0.0 --secure-port=6443 \
  --advertise-address="$NODE_IP" --kubelet-preferred-address-types=InternalIP \
  --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/ca.crt" \
  --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$pki/service-account.pub" \
  --service-account-signing-key-file="$pki/service-account.key" --service-cluster-ip-range="$SERVICES" \
  --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged \
  --kubelet-certificate-authority="$pki/ca.crt" --kubelet-client-certificate="$pki/admin.crt" --kubelet-client-key="$pki/admin.key" \
  --audit-policy-file="$HERE/audit-policy.yaml" --audit-log-path="$STATE/log/audit.log" --audit-log-maxsize=10000

# CAP_SYS_RESOURCE may be missing: containers with a negative oom_score_adj do not start then, hence the restriction.
# Without a path of its own containerd makes /opt/containerd on the host.
cat >containerd.toml <<T
version = 3
root = "$STATE/containerd"
state = "$STATE/containerd-state"
[grpc]
  address = "$STATE/containerd.sock"
[ttrpc]
  address = "$STATE/containerd.ttrpc"
[plugins.'io.containerd.internal.v1.opt']
  path = "$STATE/opt"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "registry.k8s.io/pause:3.10.1"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ["$BIN"]
  conf_dir = "$STATE/cni/conf"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
    BinaryName = "$BIN/runc"
    SystemdCgroup = false
T
# Hairpin: a pod reaches itself through its own Service.
cat >cni/conf/10-pods.conflist <<J
{ "cniVersion": "1.0.0", "name": "pods", "plugins": [
  { "type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
    "ipam": { "type": "host-local", "dataDir": "$STATE/cni/state", "ranges": [[{ "subnet": "${PODS%/*}/24" }]], "routes": [{ "dst": "0.0.0.0/0" }] } },
  { "type": "portmap", "capabilities": { "portMappings": true }, "backend": "nftables" }
] }
J
start containerd containerd -c "$STATE/containerd.toml"

export KUBECONFIG=$STATE/admin.kubeconfig
for _ in $(seq 600); do
  ! kubectl get --raw /readyz >/dev/null 2>&1 || break
  sleep .1
done
start kube-controller-manager control_plane kube-controller-manager --kubeconfig="$STATE/controller-manager.kubeconfig" --leader-elect=false \
  --use-service-account-credentials --service-account-private-key-file="$pki/service-account.key" --root-ca-file="$pki/ca.crt" \
  --cluster-signing-cert-file="$pki/ca.crt" --cluster-signing-key-file="$pki/ca.key" --concurrent-deployment-syncs=10
start kube-scheduler control_plane kube-scheduler --kubeconfig="$STATE/scheduler.kubeconfig" --leader-elect=false
for image in "$IMAGES"/*.tar; do
  ctr -a "$STATE/containerd.sock" -n k8s.io images import "$image" >>"$STATE/log/images.log" 2>&1 || die "cannot import $image: $(tail -1 "$STATE/log/images.log")"
done

# cgroup v1 is refused by default; a full disk of the host evicts no pods and removes no imported images.
cat >kubelet.yaml <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /$OWN_NAME
cgroupsPerQOS: true
enforceNodeAllocatable: []
failSwapOn: false
containerRuntimeEndpoint: unix://$STATE/containerd.sock
authentication: { x509: { clientCAFile: $pki/ca.crt }, anonymous: { enabled: false } }
authorization: { mode: AlwaysAllow }
tlsCertFile: $pki/kubelet.crt
tlsPrivateKeyFile: $pki/kubelet.key
clusterDNS: [$DNS_IP]
clusterDomain: cluster.local
maxPods: 200
imageGCHighThresholdPercent: 100
evictionHard: { memory.available: 100Mi }
localStorageCapacityIsolation: false
syncFrequency: 5s
nodeStatusUpdateFrequency: 10s
resolvConf: /dev/null
Y
start kubelet kubelet --config="$STATE/kubelet.yaml" --kubeconfig="$STATE/kubelet.kubeconfig" --root-dir="$STATE/kubelet" \
  --hostname-override=node1 --node-ip="$NODE_IP"

# No iptables and no IPVS here; changes of Services take effect at once; the host's conntrack table keeps its size.
cat >kube-proxy.yaml <<Y
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clientConnection: { kubeconfig: $STATE/kube-proxy.kubeconfig }
clusterCIDR: $PODS
hostnameOverride: node1
nftables: { minSyncPeriod: 0s }
conntrack: { maxPerCore: 0 }
Y
start kube-proxy kube-proxy --config="$STATE/kube-proxy.yaml"
start load-balancer node "$HERE/load-balancer.ts" "$STATE" "$LOAD_BALANCERS"

while :; do
  wait -n || true
  [ -n "$(jobs -r)" ] || exit 1
done
