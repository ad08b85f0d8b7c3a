# shellcheck shell=bash
# ./run bench: the figures that pawl holds itself to, each beside its budget. Micro-benchmarks are the programs
# build/release/bin/*_bench; what needs a cluster is e2e/figures.py, on a cluster that is started when none is up.
. tools/run/setup.sh
. tools/run/build.sh
. tools/run/image.sh
. tools/run/cluster.sh

run_bench() {
  local program
  run_setup
  run_build release pawl pawl-runtime testing pawl_bench
  run_image --name localhost/pawl:dev
  "$repo/run" cluster up 1
  "$repo/run" cluster load dist/pawl.tar
  for program in build/release/bin/*_bench; do
    [ -x "$program" ] || continue
    heading "$(basename "$program")"
    "$program" "$@"
  done
  heading "On a cluster"
  python3 -B e2e/figures.py
}
