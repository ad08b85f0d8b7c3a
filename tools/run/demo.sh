# shellcheck shell=bash
# ./run demo: from nothing to a pod with a GPU, on a real cluster. What it shows is in e2e/demo.py.
. tools/run/setup.sh
. tools/run/build.sh
. tools/run/image.sh
. tools/run/cluster.sh

image_is_old() {
  local program
  for program in build/release/bin/pawl build/release/bin/pawl-runtime tools/image; do
    [ dist/pawl.tar -nt "$program" ] || return 0
  done
  return 1
}

run_demo() {
  local began
  began=$(now_ms)
  heading "Getting ready"
  run_setup
  run_build release pawl pawl-runtime testing
  cluster_programs
  if image_is_old; then run_image --name localhost/pawl:dev; else good "the image is up to date"; fi
  guarded "$repo/run" cluster up 1
  guarded "$repo/run" cluster load dist/pawl.tar
  guarded python3 -B e2e/demo.py
  note "${dim}the whole demo took $(seconds_since "$began")$plain"
}
