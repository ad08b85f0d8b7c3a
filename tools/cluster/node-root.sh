#!/usr/bin/env bash
# Inside a node's new namespaces: makes its root and moves there. An overlay of the host's root, with its own /proc,
# /sys, /dev, /run and /tmp, so that every file may differ from the host's and from the other nodes'.
set -euo pipefail
: "${NODE_NAME:?}" "${NODE_FILES:?}" "${STATE:?}" "${BIN:?}" "${REPO:?}" "${IMAGES:?}"

# bind FOLDER [ro]: the same folder at the same place in the new root.
bind() {
  mkdir -p "$root$1"
  mount --bind "$1" "$root$1"
  if [ "${2:-}" = ro ]; then mount -o remount,bind,ro "$root$1"; fi
}

make_cgroups() {
  # Mounted anew, each hierarchy begins at the node's own cgroup.
  local line at type options
  if [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]; then
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    return
  fi
  mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
  while read -r line; do
    read -r _ _ _ _ at _ <<<"$line"
    read -r type _ options <<<"${line##* - }"
    options=${options#rw,}
    case $type in cgroup | cgroup2) ;; *) continue ;; esac
    case $at in /sys/fs/cgroup/*) ;; *) continue ;; esac
    mkdir -p ".$at"
    if [ "$type" = cgroup2 ]; then
      mount -t cgroup2 cgroup2 ".$at"
    else
      case $options in name=*) options=none,$options ;; esac
      mount -t cgroup -o "$options" cgroup ".$at"
    fi
  done </proc/self/mountinfo
}

# Only what every machine has: no device of the host's gets in.
make_dev() {
  local name
  mount -t tmpfs -o mode=755 tmpfs dev
  for name in null zero full random urandom tty kmsg fuse; do
    if [ -c "/dev/$name" ]; then cp -a "/dev/$name" "dev/$name"; fi
  done
  mkdir dev/pts dev/shm dev/mqueue
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
  mount -t tmpfs tmpfs dev/shm
  mount -t mqueue mqueue dev/mqueue
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  ln -s /proc/self/fd/0 dev/stdin
  ln -s /proc/self/fd/1 dev/stdout
  ln -s /proc/self/fd/2 dev/stderr
}

root=$NODE_FILES/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$NODE_FILES/upper,workdir=$NODE_FILES/work" "$root" || {
  echo "no overlay on $NODE_FILES: it must be on a file system of its own kind, such as ext4 or tmpfs (PAWL_STATE)" >&2
  exit 1
}
cd "$root"
mkdir -p .host proc sys dev run tmp var/lib/kubelet var/lib/containerd
mount -t proc proc proc
mount -t sysfs sysfs sys
make_cgroups
make_dev
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
# An overlay on an overlay is not possible: containers' layers need a real file system.
mount --bind "$NODE_FILES/data/kubelet" var/lib/kubelet
mount --bind "$NODE_FILES/data/containerd" var/lib/containerd
bind "$BIN" ro
bind "$REPO" ro
bind "$IMAGES" ro
bind "$STATE/log"
bind "$STATE/run"

pivot_root . .host
cd /
umount -l /.host
rmdir /.host
mount --make-rshared / # mounts that pods make for the host need it
hostname "$NODE_NAME"
exec bash "$REPO/tools/cluster/node-main.sh"
