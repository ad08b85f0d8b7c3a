# shellcheck shell=bash
# A bridge in the control plane's network namespace, and a cable from it to each node's. Nothing leads out.

make_network() {
  ip netns add "$ctl"
  ip -n "$ctl" link set lo up
  ip -n "$ctl" link add br0 type bridge
  ip -n "$ctl" addr add "$api_address/24" dev br0
  ip -n "$ctl" link set br0 up
  in_ctl sysctl -qw net.ipv4.ip_forward=1
}

# plug_node I NODES: the node's namespace with its address and its ways to the other nodes' pods.
plug_node() {
  local i=$1 nodes=$2 netns other
  netns=pawl-$(node_name "$i")
  ip netns add "$netns"
  ip -n "$netns" link set lo up
  ip -n "$ctl" link add "node$i" type veth peer name eth0 netns "$netns"
  ip -n "$ctl" link set "node$i" master br0 up
  ip -n "$netns" addr add "$(node_address "$i")/24" dev eth0
  ip -n "$netns" link set eth0 up
  ip -n "$netns" route add default via "$api_address"
  for other in $(seq "$nodes"); do
    [ "$other" -eq "$i" ] || ip -n "$netns" route add "$pod_prefix.$other.0/24" via "$(node_address "$other")"
  done
  ip -n "$ctl" route add "$pod_prefix.$i.0/24" via "$(node_address "$i")"
  nsenter --net="/run/netns/$netns" sysctl -qw net.ipv4.ip_forward=1
  # Pods on one node reach a service of each other through the bridge only when the bridge asks iptables.
  nsenter --net="/run/netns/$netns" sysctl -qw net.bridge.bridge-nf-call-iptables=1 2>/dev/null || true
}
