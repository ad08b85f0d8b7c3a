# shellcheck shell=bash
# A node, seen from the host: its files, its start, and the way into it.
# What happens inside is in node-root.sh (makes its root) and node-main.sh (its first process).

# prepare_node I writes what differs from the host in the node's file system.
prepare_node() {
  local i=$1 name files upper
  name=$(node_name "$i")
  files=$state/nodes/$name
  upper=$files/upper
  mkdir -p "$files"/{work,root,data/kubelet,data/containerd} \
    "$upper"/etc/{kubernetes,containerd/conf.d,cni/net.d,cdi} "$upper/var/lib/kubelet"
  node_pki "$i"
  cp "$state/pki/ca.crt" "$state/pki/proxy.conf" "$upper/etc/kubernetes/"
  cp "$state/pki/kubelet$i.crt" "$upper/etc/kubernetes/kubelet.crt"
  cp "$state/pki/kubelet$i.key" "$upper/etc/kubernetes/kubelet.key"
  cp "$state/pki/kubelet$i.conf" "$upper/etc/kubernetes/kubelet.conf"
  echo "$name" >"$upper/etc/hostname"
  printf '127.0.0.1 localhost\n%s %s\n' "$(node_address "$i")" "$name" >"$upper/etc/hosts"
  printf '%s' "$name" | md5sum | cut -c1-32 >"$upper/etc/machine-id"
  write_cni "$i" >"$upper/etc/cni/net.d/10-pods.conflist"
  write_containerd >"$upper/etc/containerd/config.toml"
  write_kubelet >"$upper/etc/kubernetes/kubelet.yaml"
  write_proxy "$name" >"$upper/etc/kubernetes/proxy.yaml"
}

write_cni() { # I
  cat <<JSON
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "$pod_prefix.$1.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
JSON
}

# oom_score 0 and restrict_oom_score_adj: the right to lower it may be missing here.
write_containerd() {
  cat <<'TOML'
version = 3
oom_score = 0
imports = ["/etc/containerd/conf.d/*.toml"]

[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "localhost/pause:1"

[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "/etc/cni/net.d"
TOML
}

write_kubelet() {
  cat <<'YAML'
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failSwapOn: false
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: /etc/kubernetes/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: /etc/kubernetes/kubelet.crt
tlsPrivateKeyFile: /etc/kubernetes/kubelet.key
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
resolvConf: /etc/resolv.conf
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
evictionHard: {nodefs.available: "1%", imagefs.available: "1%", memory.available: 50Mi}
imageGCHighThresholdPercent: 100
imageMinimumGCAge: 24h
YAML
}

# Those sysctls of conntrack may be read-only: zero leaves them alone.
write_proxy() { # NAME
  cat <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clusterCIDR: $pod_range
hostnameOverride: $1
clientConnection: {kubeconfig: /etc/kubernetes/proxy.conf}
conntrack: {maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
YAML
}

# start_node I: mount, process, IPC, host name and cgroup namespaces of its own. The end of its first process is the
# end of everything in it, so nothing of a node can be left behind.
start_node() {
  local i=$1 name
  name=$(node_name "$i")
  start "$name" "pawl-$name" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    NODE_NAME="$name" NODE_IP="$(node_address "$i")" NODE_FILES="$state/nodes/$name" \
    STATE="$state" BIN="$bin" REPO="$repo" IMAGES="$images" CGROUP="$cgroup/$name" \
    PAWL_GPU_PROFILE="$profile" PAWL_TESTING="$repo/build/release/testing" \
    bash "$repo/tools/cluster/node-enter.sh"
}

# node_pid I prints the id, on the host, of the node's first process.
node_pid() {
  local name outer children
  name=$(node_name "$1")
  outer=$(cat "$state/run/$name.pid" 2>/dev/null) || return 1
  # The number may belong to another program by now: the node's is in the node's network namespace.
  [ "/proc/$outer/ns/net" -ef "/run/netns/pawl-$name" ] || return 1
  # unshare stays outside as the parent of the first process.
  children=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null)
  [ -n "$children" ] && echo "${children%% *}"
}

# in_node I COMMAND… runs a command on the node, as one who is logged in there.
in_node() {
  local pid
  pid=$(node_pid "$1") || fail "node $1 does not run"
  shift
  nsenter --target "$pid" --mount --net --uts --ipc --pid --cgroup \
    env PATH="$bin:/usr/sbin:/usr/bin:/sbin:/bin" CONTAINERD_NAMESPACE=k8s.io KUBECONFIG=/etc/kubernetes/kubelet.conf "$@"
}

node_ready() { # NAME
  [ "$(in_ctl_kubectl get node "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]
}

# await_node I: until kubelet says Ready. The end of the logs of kubelet and containerd tells what went wrong.
await_node() {
  local name
  name=$(node_name "$1")
  await 90 "$name" node_ready "$name" && return
  local part
  for part in containerd kubelet; do
    [ -e "$state/log/$name-$part.log" ] || continue
    note "$part on $name:" >&2
    last_lines "$state/log/$name-$part.log" 12
  done
  return 1
}
