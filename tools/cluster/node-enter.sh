#!/usr/bin/env bash
# Outside of a node: puts itself in the node's cgroup, then becomes the parent of the node's namespaces.
set -euo pipefail
: "${CGROUP:?}" "${REPO:?}"

# join_cgroups makes the node's cgroup in every hierarchy of the host and enters it.
join_cgroups() {
  local line at type dir
  # mountinfo: … mount point (the fifth word) … - type source options
  while read -r line; do
    read -r _ _ _ _ at _ <<<"$line"
    read -r type _ <<<"${line##* - }"
    case $type in cgroup | cgroup2) ;; *) continue ;; esac
    case $at in /sys/fs/cgroup | /sys/fs/cgroup/*) ;; *) continue ;; esac
    dir=$at/$CGROUP
    mkdir -p "$dir"
    fill_cpuset "$at"
    if [ "$type" = cgroup2 ] && [ "$at" = /sys/fs/cgroup ]; then delegate "$at"; fi
    echo $$ >"$dir/cgroup.procs"
  done </proc/self/mountinfo
}

# cgroup v1: a new cpuset is empty, and nothing may run in an empty one.
fill_cpuset() { # HIERARCHY
  local dir=$1 part
  [ -e "$1/cpuset.cpus" ] && [ -e "$1/cpuset.mems" ] || return 0
  [ -e "$1/cgroup.controllers" ] && return 0
  for part in ${CGROUP//\// }; do
    cat "$dir/cpuset.cpus" >"$dir/$part/cpuset.cpus"
    cat "$dir/cpuset.mems" >"$dir/$part/cpuset.mems"
    dir=$dir/$part
  done
}

# cgroup v2: each level hands its controllers down.
delegate() { # HIERARCHY
  local dir=$1 part controller
  for part in ${CGROUP//\// }; do
    for controller in $(<"$dir/cgroup.controllers"); do
      echo "+$controller" >"$dir/cgroup.subtree_control" 2>/dev/null || true
    done
    dir=$dir/$part
  done
}

join_cgroups
exec unshare --mount --pid --fork --kill-child --ipc --uts --cgroup --propagation private \
  bash "$REPO/tools/cluster/node-root.sh"
