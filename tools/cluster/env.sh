# shellcheck shell=bash
# Where a cluster's things are and which addresses it has. Nothing here starts anything.
#
# The folder $state, all of it made by `up` and removed by `down`:
#   shape            number of nodes and GPU profile of this cluster
#   pki/             keys, certificates, kubeconfigs
#   etcd/            the cluster's data
#   audit/log.json   every request to the API server, level Metadata: tests count writes in it
#   log/             one file a program; the nodes see this folder
#   run/             NAME.pid of each program's process group; flags between host and nodes
#   nodes/nodeI/     upper, work and root of the node's overlay; data/ for kubelet and containerd
#   helm/            helm's own caches
# shellcheck disable=SC2034  # used by the other pieces
state=${PAWL_STATE:-$HOME/.cache/pawl/state}
ctl=pawl-ctl               # network namespace of the control plane and of the bridge between the nodes
subnet=10.77.0             # node I is $subnet.(10+I)
api_address=$subnet.1      # exists inside the namespaces only: no link leaves them
service_range=10.96.0.0/16
pod_prefix=10.244          # node I's pods are $pod_prefix.I.0/24
pod_range=$pod_prefix.0.0/16
cgroup=pawl                # every process of a node is in this cgroup of every hierarchy

in_ctl() { nsenter --net="/run/netns/$ctl" "$@"; }
in_ctl_kubectl() { in_ctl "$bin/kubectl" --kubeconfig "$state/pki/admin.conf" "$@"; }

node_name() { echo "node$1"; }
node_address() { echo "$subnet.$((10 + $1))"; }

# The nodes this cluster has, as numbers.
node_numbers() {
  local f
  for f in "$state"/nodes/node*; do [ -d "$f" ] && echo "${f##*/node}"; done
  return 0
}
