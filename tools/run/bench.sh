# shellcheck shell=bash
# ./run bench: the figures that pawl holds itself to, each beside its budget; what is over its budget is listed, and the exit
# status is not 0 then. Micro-benchmarks are the program build/release/bin/pawl_bench, which takes the options given here;
# what needs a cluster is e2e/figures.py.
. tools/run/setup.sh
. tools/run/build.sh
. tools/run/image.sh
. tools/run/cluster.sh

over_in_time=3 # status of a program whose figures are over their budgets in time only

# The operator's memory is that on three nodes.
figure_nodes=3

run_bench() {
  local micro=0 cluster=0
  run_setup
  run_build release pawl pawl-runtime testing pawl_bench
  run_image --name localhost/pawl:dev
  micro_figures --benchmark_min_time=0.2 "$@" || micro=$?
  hold_cluster bench
  trap '"$repo/run" cluster down >/dev/null 2>&1 || true' EXIT
  cluster_figures || cluster=$?
  [ $((micro + cluster)) -eq 0 ] || fail "some figures are over their budgets, or could not be had: see above"
}

micro_figures() { # OPTIONS of Google Benchmark…
  heading "Single calls"
  guarded build/release/bin/pawl_bench "$@"
}

# cluster_figures takes away the cluster that is up. The new one stays.
cluster_figures() {
  heading "On a cluster"
  note "a fresh cluster of $figure_nodes nodes; one that was up goes"
  guarded figures_of_fresh_cluster
}

figures_of_fresh_cluster() {
  "$repo/run" cluster down &&
    PAWL_GPU_PROFILE=t4x4 "$repo/run" cluster up "$figure_nodes" &&
    "$repo/run" cluster load dist/pawl.tar &&
    python3 -B e2e/figures.py
}
