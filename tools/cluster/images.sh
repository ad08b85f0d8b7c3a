# shellcheck shell=bash
# The three images that every cluster has, made from files of this machine and kept for the next time:
#   localhost/pause:1      holds a pod's namespaces
#   localhost/busybox:1    a static busybox, for pods that need no C library
#   localhost/pawl-test:1  glibc, libstdc++ and a shell, as CUDA images have them, and nothing of NVIDIA's: what a pod
#                          with a GPU gets of the driver, it gets from CDI alone
# `images` is the folder with their tarballs.

find_images() {
  local recipe
  recipe=$(cat "$repo/tools/cluster/images.sh" <(dpkg-query -W libc6 libstdc++6 libgcc-s1 busybox-static 2>/dev/null) |
    sha256sum | cut -c1-12)
  images=$HOME/.cache/pawl/images/$recipe
}

have_images() { [ -e "$images/pawl-test.tar" ]; }

make_images() {
  local work
  work=$(mktemp -d)
  mkdir -p "$images"
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  make_image pause "$work" --config.entrypoint /pause
  make_image busybox "$work" --config.cmd sh --config.env PATH=/bin
  make_image pawl-test "$work" --config.cmd sh --config.env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
}

# make_image NAME WORK UMOCI_CONFIG…: the function fill_NAME puts the files in the folder it is given.
make_image() {
  local name=$1 layout=$2/$1-layout bundle=$2/$1-bundle
  shift 2
  umoci init --layout "$layout"
  umoci new --image "$layout:1"
  umoci unpack --image "$layout:1" "$bundle"
  "fill_${name//-/_}" "$bundle/rootfs"
  umoci repack --image "$layout:1" "$bundle"
  umoci config --image "$layout:1" "$@"
  rm -f "$images/$name.new"
  skopeo copy --quiet "oci:$layout:1" "docker-archive:$images/$name.new:localhost/$name:1"
  mv "$images/$name.new" "$images/$name.tar"
}

fill_pause() {
  printf '#include <unistd.h>\nint main(void) { for (;;) pause(); }\n' >"$1/pause.c"
  gcc -static -Os -s -o "$1/pause" "$1/pause.c"
  rm "$1/pause.c"
}

fill_busybox() {
  mkdir -p "$1"/{bin,tmp,etc}
  chmod 1777 "$1/tmp"
  add_busybox "$1/bin"
}

add_busybox() { # FOLDER
  local applet
  cp "$(command -v busybox)" "$1/busybox"
  for applet in $(busybox --list); do
    [ "$applet" = busybox ] || ln -sf busybox "$1/$applet"
  done
}

fill_pawl_test() {
  local root=$1 library dir
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64,local/bin} "$root"/{etc/ld.so.conf.d,tmp,root,proc,sys,dev,run,var}
  chmod 1777 "$root/tmp"
  for dir in bin sbin lib lib64; do ln -s "usr/$dir" "$root/$dir"; done
  ln -s /run "$root/var/run"
  add_busybox "$root/usr/bin"
  rm -f "$root/usr/bin/ldconfig" # a container's own would hide that the hook brings one
  for library in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libgcc_s.so.1 libstdc++.so.6; do
    library=$(gcc -print-file-name="$library")
    dir=$(realpath "$(dirname "$library")")
    mkdir -p "$root$dir"
    cp -L "$library" "$root$dir/"
  done
  # The loader at the path that programs name.
  library=$(readelf -l "$(command -v bash)" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
  cp -L "$library" "$root$library"
  echo 'include /etc/ld.so.conf.d/*.conf' >"$root/etc/ld.so.conf"
  cp "/etc/ld.so.conf.d/$(gcc -print-multiarch).conf" "$root/etc/ld.so.conf.d/"
  echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
  echo 'root:x:0:' >"$root/etc/group"
  cp -L /etc/os-release "$root/etc/os-release"
}

# load_image TARBALL: into every node's containerd, all at once.
load_image() {
  local tarball=$1 i jobs=()
  [ -r "$tarball" ] || fail "there is no image $tarball"
  for i in $(node_numbers); do
    in_node "$i" ctr images import - <"$tarball" &
    jobs+=($!)
  done
  for i in "${jobs[@]}"; do wait "$i"; done
}
