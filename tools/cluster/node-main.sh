#!/usr/bin/env bash
# The first process of a node: dresses it, then keeps its daemons running. For tests, in the node:
#   /run/pawl/NAME.pid    process id of a daemon (containerd, kube-proxy, kubelet); end it and it starts again
#   /run/pawl/NAME.hold   while this file exists, a daemon that ended stays away
set -euo pipefail
: "${NODE_NAME:?}" "${NODE_IP:?}" "${STATE:?}" "${BIN:?}" "${REPO:?}" "${IMAGES:?}" "${PAWL_GPU_PROFILE:?}"
export PATH=$BIN:/usr/sbin:/usr/bin:/sbin:/bin

supervise() { # NAME COMMAND…
  local name=$1 code log=$STATE/log/$NODE_NAME-$1.log
  shift
  while :; do
    while [ -e "/run/pawl/$name.hold" ]; do sleep 0.1; done
    code=0
    "$@" >>"$log" 2>&1 &
    echo $! >"/run/pawl/$name.pid"
    wait $! || code=$?
    echo "--- $name ended with $code; it starts again" >>"$log"
    sleep 0.3
  done
}

until_exists() {
  until [ -e "$1" ]; do sleep 0.05; done
}

# cgroup v2: what has processes cannot hand down controllers, so we go one level down.
leave_top_cgroup() {
  local controller
  [ -e /sys/fs/cgroup/cgroup.controllers ] || return 0
  mkdir -p /sys/fs/cgroup/init
  echo $$ >/sys/fs/cgroup/init/cgroup.procs
  for controller in $(</sys/fs/cgroup/cgroup.controllers); do
    echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control
  done
}

import_images() {
  local tarball
  for tarball in "$IMAGES"/*.tar; do
    echo "importing $tarball"
    ctr -n k8s.io images import "$tarball"
  done
}

mkdir -p /run/pawl
leave_top_cgroup
if [ "$PAWL_GPU_PROFILE" != none ]; then
  echo "dressing $NODE_NAME as $PAWL_GPU_PROFILE"
  "$REPO/testing/node/dress" "$PAWL_GPU_PROFILE"
fi
supervise containerd containerd &
until_exists /run/containerd/containerd.sock
import_images
touch "$STATE/run/$NODE_NAME.images"
# kubelet backs off for long when nobody answers: it waits for the API server here.
until_exists "$STATE/run/api-ready"
supervise kube-proxy kube-proxy --config /etc/kubernetes/proxy.yaml &
supervise kubelet kubelet --config /etc/kubernetes/kubelet.yaml --kubeconfig /etc/kubernetes/kubelet.conf \
  --hostname-override "$NODE_NAME" --node-ip "$NODE_IP" --root-dir /var/lib/kubelet --v 2
