# Names, folders and functions shared by the scripts of this folder. Sourced, not run.
# shellcheck shell=bash disable=SC2034
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
ROOT=$(cd "$HERE/../.." && pwd -P)
CLUSTER=${CLUSTER:-dev}                                  # names the network namespace, the cgroup and the state folder
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/sallyport-cluster
KEY=$(cat "$HERE"/build.sh "$HERE"/{programs,dns}/go.{mod,sum} "$HERE"/programs/*/*.go "$HERE"/dns/*.go "$HERE"/{oci-archive,program-image}.ts | sha256sum | cut -c1-12)
BUILT=$CACHE/$KEY                                        # what build.sh makes
BIN=$BUILT/bin IMAGES=$BUILT/images
STATE=$CACHE/run/$CLUSTER                                # one running cluster; down.sh removes it
OWN_NAME=sallyport-$CLUSTER NETNS=/run/netns/sallyport-$CLUSTER
NODE_IP=10.77.0.1 PODS=10.78.0.0/16 SERVICES=10.79.0.0/16 LOAD_BALANCERS=10.80.0.0/16 DNS_IP=10.79.0.10
export PATH=$BIN:$ROOT/tools/node/node_modules/.bin:$PATH:/usr/sbin:/sbin

log() { printf '%s %s\n' "$(date +%T)" "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }
in_network() { nsenter --net="$NETNS" "$@"; }

[[ $CLUSTER =~ ^[a-z][a-z0-9-]{0,19}$ ]] || die "CLUSTER=$CLUSTER is no name: up to 20 of a-z, 0-9 and -, a letter first"

# Takes a lock that ends with this shell, however it ends. $1: file descriptor, $2: folder, $3: what is waited for.
lock() {
  mkdir -p "$2"
  eval "exec $1<\"\$2\""
  flock -n "$1" || { log "waiting for $3"; flock "$1"; }
}

# The first process of the cluster, as the host sees it; fails where there is none.
first_process() { pgrep -f -- "^unshare .*/node\.sh $STATE\$"; }

# One line that says what this machine lacks.
check_machine() {
  local pair missing=()
  [ "$(id -u)" = 0 ] || die "the cluster needs root (network namespace, mounts, cgroups): run make as root"
  for pair in ip=iproute2 nsenter=util-linux unshare=util-linux flock=util-linux pgrep=procps nft=nftables openssl=openssl sysctl=procps; do
    command -v "${pair%=*}" >/dev/null || missing+=("${pair#*=}")
  done
  if [ ! -e "$BUILT/.complete" ]; then
    command -v gcc >/dev/null || missing+=(gcc libc6-dev)
    command -v pkg-config >/dev/null || missing+=(pkg-config)
    pkg-config --exists libseccomp 2>/dev/null || missing+=(libseccomp-dev)
    command -v go >/dev/null || die "the cluster is built from Go modules: install any Go from 1.21 on (https://go.dev/dl), it fetches the right one itself"
  fi
  [ ${#missing[@]} = 0 ] || die "this machine lacks Debian packages: apt-get install $(printf '%s\n' "${missing[@]}" | sort -u | tr '\n' ' ')"
  local folder
  for folder in "$ROOT" "$CACHE"; do
    case $folder/ in /run/* | /var/lib/* | /var/log/*) die "$folder lies below a folder that the cluster hides (/run, /var/lib, /var/log): move it, or set XDG_CACHE_HOME" ;; esac
  done
  [ ${#STATE} -le 80 ] || die "$STATE is longer than 80 characters, names of sockets would be cut: set XDG_CACHE_HOME"
}

# Ends the cluster and removes what it left: processes, mounts, network namespace, cgroups, and state unless KEEP=1.
tear_down() {
  local process mount tries
  for process in $(first_process); do
    kill -9 "$process" # --kill-child and the process namespace take everything else along
    for tries in $(seq 200); do [ -e "/proc/$process" ] || break; sleep .05; done
  done
  for tries in $(seq 200); do pgrep -f -- "$STATE/" >/dev/null || break; sleep .05; done
  if [ -e "$NETNS" ]; then ip netns del "$OWN_NAME"; fi
  awk -v state="$STATE/" 'index($2, state) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do umount -l "$mount"; done
  for tries in $(seq 50); do
    cgroups | xargs -r rmdir 2>/dev/null || true
    [ -n "$(cgroups)" ] || break
    sleep .1
  done
  if [ "${KEEP:-}" != 1 ]; then rm -rf "$STATE"; fi
}

# Where the cluster's processes get their part of the processor; v1 has a hierarchy for that alone.
cpu_cgroup() { if [ -e /sys/fs/cgroup/cgroup.controllers ]; then echo "/sys/fs/cgroup/$OWN_NAME"; else echo "/sys/fs/cgroup/cpu/$OWN_NAME"; fi; }

# Weighs a group of the cluster's processes (system, control-plane, kubepods; . is all of it) when the processor is short; 100 is what
# one CPU of pods has. Fails where there are no weights.
weigh() {
  local group
  group=$(cpu_cgroup)/$1
  if [ -e "$group/cpu.weight" ]; then
    echo "$2" >"$group/cpu.weight" || true # v2 takes no more than 10000
  else
    [ -e "$group/cpu.shares" ] && echo "$(($2 * 1024 / 100))" >"$group/cpu.shares"
  fi
}

# The weight of a group in the units of `weigh`; fails where there are no weights.
weight_of() {
  local group
  group=$(cpu_cgroup)/$1
  if [ -e "$group/cpu.weight" ]; then cat "$group/cpu.weight"
  else echo "$(($(cat "$group/cpu.shares") * 100 / 1024))"; fi
}

# The cluster's cgroups, inner ones first, in all hierarchies.
cgroups() { find /sys/fs/cgroup -depth -type d \( -path "*/$OWN_NAME" -o -path "*/$OWN_NAME/*" \) 2>/dev/null; }
