# shellcheck shell=bash
# Takes a cluster away, also one whose `up` was interrupted or whose programs crashed. Looks for what is left in four
# places: recorded process groups, the nodes' cgroups, the network namespaces pawl-*, mounts under the state folder.

# take_down returns 0 when nothing is left. One piece that fails does not keep the next from its work, and each piece tells
# of its failure itself: callers look at the result, and bash ignores errors in what is called so.
take_down() {
  local piece whole=0
  for piece in end_groups end_in_cgroups end_in_namespaces remove_cgroups remove_mounts; do
    "$piece" || whole=1
  done
  # Without the state nobody would know of what is left.
  [ $whole -eq 0 ] || return 1
  remove_state || return 1
  ! anything_left
}

# The ends of the first processes of the nodes are the ends of all processes in them.
end_groups() {
  local file pid i
  for i in $(node_numbers); do
    if pid=$(node_pid "$i"); then kill -KILL "$pid" 2>/dev/null || true; fi
  done
  for file in "$state"/run/*.pid; do
    [ -e "$file" ] || continue
    pid=$(cat "$file")
    # The number may belong to another program by now: only a group that we lead in is ended.
    if is_ours "$pid"; then kill -KILL -- "-$pid" 2>/dev/null || true; fi
  done
  return 0
}

# A program of ours is in one of our network namespaces.
is_ours() { # PID
  local file
  for file in /run/netns/pawl-*; do
    [ "/proc/$1/ns/net" -ef "$file" ] && return 0
  done
  return 1
}

our_cgroups() { # prints the folders of our cgroups, the deepest first
  { find /sys/fs/cgroup -mindepth 1 -maxdepth 2 -type d -name "$cgroup" 2>/dev/null || true; } |
    while read -r top; do find "$top" -depth -type d 2>/dev/null || true; done
}

end_in_cgroups() {
  local tries pids
  for tries in $(seq 100); do
    pids=$(our_cgroups | while read -r dir; do cat "$dir/cgroup.procs" 2>/dev/null || true; done | sort -u)
    [ -n "$pids" ] || return 0
    # shellcheck disable=SC2086  # a list of numbers
    kill -KILL $pids 2>/dev/null || true
    sleep 0.1
  done
  bad "some processes of the nodes do not end: ${pids//$'\n'/ }"
  return 1
}

end_in_namespaces() {
  local netns whole=0
  for netns in $(ip netns list | awk '/^pawl-/ {print $1}'); do
    if end_in_namespace "$netns"; then
      ip netns delete "$netns" || whole=1
    else
      bad "some processes in $netns do not end: $(ip netns pids "$netns" 2>/dev/null | tr '\n' ' ')"
      whole=1
    fi
  done
  return $whole
}

end_in_namespace() { # NETNS
  local pids tries
  for tries in $(seq 100); do
    pids=$(ip netns pids "$1" 2>/dev/null || true)
    [ -n "$pids" ] || return 0
    # shellcheck disable=SC2086
    kill -KILL $pids 2>/dev/null || true
    sleep 0.1
  done
  return 1
}

remove_cgroups() {
  local dir tries
  # A cgroup is busy for a moment after its last process has ended.
  for tries in $(seq 50); do
    our_cgroups | while read -r dir; do rmdir "$dir" 2>/dev/null || true; done
    [ -n "$(our_cgroups)" ] || return 0
    sleep 0.1
  done
  bad "cgroups are left: $(our_cgroups | tr '\n' ' ')"
  return 1
}

our_mounts() { awk -v under="$state/" 'index($5, under) == 1 {print $5}' /proc/self/mountinfo; }

remove_mounts() {
  local at
  our_mounts | sort -r | while read -r at; do umount -l "$at" || true; done
  [ -n "$(our_mounts)" ] || return 0
  bad "mounts are left: $(our_mounts | tr '\n' ' ')"
  return 1
}

remove_state() {
  [ -e "$state/shape" ] || return 0 # not a folder of ours, or nothing there
  # `shape` goes last: as long as it is there, something is left.
  rm -rf --one-file-system "$state"/{pki,etcd,audit,run,nodes,helm} && rm -f "$state/shape"
  # The logs of the last cluster stay: they are what one looks at after a failure.
}

anything_left() {
  ip netns list | grep -q '^pawl-' || [ -n "$(our_cgroups)" ] || [ -n "$(our_mounts)" ] || [ -e "$state/shape" ]
}
