#!/usr/bin/env bash
# Starts a cluster of one node in network, mount and process namespaces of its own; done when the node and DNS are Ready.
# Does nothing where it runs already; clears first what a crash has left. Undone by down.sh.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
check_machine
[ -e "$BUILT/.complete" ] || die "not built yet: make cluster-up"
lock 9 "${STATE%/*}" "another start or end of a cluster"
if [ -e "$STATE/ready" ] && first_process >/dev/null; then
  log "cluster '$CLUSTER' is running already"
  exit 0
fi
if [ -e "$STATE" ] || [ -e "$NETNS" ]; then
  log "clearing what a dead cluster '$CLUSTER' left"
  KEEP='' tear_down
fi

started=$SECONDS
log "starting cluster '$CLUSTER'"
on_exit() {
  [ -e "$STATE/ready" ] && return
  KEEP=1 tear_down
  echo "${0##*/}: start failed or was interrupted; logs are in $STATE/log" >&2
}
trap on_exit EXIT
trap 'exit 143' INT TERM HUP
mkdir -p "$STATE"/{pki,log,etcd,kubelet,cni/conf,var-log}

# A network without a way out. A bridge stands in for the dummy device that some kernels lack.
ip netns add "$OWN_NAME"
in_network ip link set lo up
in_network ip link add node0 type bridge
in_network ip addr add "$NODE_IP/24" dev node0
in_network ip link set node0 up
for range in "$SERVICES" "$LOAD_BALANCERS"; do
  in_network ip route add "$range" dev node0 # kube-proxy rewrites before a packet leaves; the route only has to exist
done
in_network sysctl -qw net.ipv4.ip_forward=1 net.ipv4.ip_nonlocal_bind=1

# One authority signs everything.
cd "$STATE/pki"
key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
openssl req -x509 "${key[@]}" -keyout ca.key -out ca.crt -subj /CN=test-ca -days 3650 2>/dev/null
certificate() { # file name, subject, subjectAltName
  openssl req "${key[@]}" -keyout "$1.key" -out "$1.csr" -subj "$2" 2>/dev/null
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -out "$1.crt" \
    -extfile <(printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$3") 2>/dev/null
}
certificate apiserver /CN=kube-apiserver "DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:localhost,IP:127.0.0.1,IP:$NODE_IP,IP:${SERVICES%.0/*}.1"
certificate admin /O=system:masters/CN=admin DNS:admin
certificate controller-manager /CN=system:kube-controller-manager DNS:controller-manager
certificate scheduler /CN=system:kube-scheduler DNS:scheduler
certificate kubelet /O=system:nodes/CN=system:node:node1 "DNS:node1,IP:$NODE_IP"
certificate kube-proxy /CN=system:kube-proxy DNS:kube-proxy
openssl genrsa -out service-account.key 2048 2>/dev/null
openssl rsa -in service-account.key -pubout -out service-account.pub 2>/dev/null
for user in admin controller-manager scheduler kubelet kube-proxy; do
  cat >"$STATE/$user.kubeconfig" <<Y
apiVersion: v1
kind: Config
clusters: [{ name: $CLUSTER, cluster: { server: "https://$NODE_IP:6443", certificate-authority: $STATE/pki/ca.crt } }]
users: [{ name: $user, user: { client-certificate: $STATE/pki/$user.crt, client-key: $STATE/pki/$user.key } }]
contexts: [{ name: $CLUSTER, context: { cluster: $CLUSTER, user: $user } }]
current-context: $CLUSTER
Y
done

# When the process of this one `unshare` dies, even by SIGKILL, the kernel ends every process and mount of the cluster.
setsid nsenter --net="$NETNS" unshare --mount --pid --fork --kill-child --mount-proc bash "$HERE/node.sh" "$STATE" \
  >"$STATE/log/node.log" 2>&1 </dev/null 9>&- &
node=$!
kubectl() { KUBECONFIG=$STATE/admin.kubeconfig in_network "$BIN/kubectl" "$@" 9>&-; }
for _ in $(seq 1200); do
  kill -0 "$node" 2>/dev/null || die "the node ended early: $(tail -3 "$STATE/log/node.log")"
  [[ $(kubectl get node node1 --no-headers 2>/dev/null) != *' Ready'* ]] || break
  sleep .1
done
kubectl apply -f "$HERE/dns/dns.yaml" >/dev/null
kubectl rollout status -n kube-system deployment/coredns --timeout=120s >/dev/null
touch "$STATE/ready"
log "cluster '$CLUSTER' is Ready after $((SECONDS - started)) s: make kubectl ARGS='get pods -A'"
