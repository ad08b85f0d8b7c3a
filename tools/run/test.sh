# shellcheck shell=bash
# ./run test: all that CI runs. Each part is timed; a part that fails does not keep the others from running, unless they
# need it. The last line is `N passed, N failed`: tests, and each part that failed without being a test.
. tools/run/setup.sh
. tools/run/build.sh
. tools/run/image.sh
. tools/run/cluster.sh
. tools/run/bench.sh

stage_names=()
stage_times=()
stage_results=()
passed=0
failures=0

# stage NAME FUNCTION… sets `stage_ok`.
stage() {
  local name=$1 start code
  shift
  heading "$name"
  start=$(now_ms)
  set +e
  guarded "$@"
  code=$?
  set -e
  stage_names+=("$name")
  stage_times+=("$(seconds_since "$start")")
  if [ $code -eq 0 ]; then
    stage_ok=1
    stage_results+=("ok")
  else
    stage_ok=''
    stage_results+=("FAILED")
  fi
}

# need: what comes next makes no sense after a failure.
need() {
  [ -n "$stage_ok" ] || {
    failures=$((failures + 1))
    end_of_tests
  }
}

# count_one: a part that is no test itself, such as lint, counts when it fails.
count_one() { [ -n "$stage_ok" ] || failures=$((failures + 1)); }

end_of_tests() {
  local i
  heading "Time by part"
  for i in "${!stage_names[@]}"; do
    printf '   %-44s %10s   %s\n' "${stage_names[$i]}" "${stage_times[$i]}" "${stage_results[$i]}"
  done
  printf '   %-44s %10s\n\n' "all" "$(seconds_since "$tests_began")"
  printf '%d passed, %d failed\n' "$passed" "$failures"
  [ "$failures" -eq 0 ] || exit 1
  exit 0
}

# unit_tests PRESET: ctest's own summary is counted.
unit_tests() {
  local preset=$1
  step_lines=60
  # What was not built for this preset stands in ctest's list as NAME_NOT_BUILT.
  step "unit tests, $preset" without_random_addresses "$preset" ctest --preset "$preset" -j "$(nproc)" -E _NOT_BUILT
  grep -E 'tests passed' "$logs/unit-tests-$preset.log" || true
}

# GCC 12's ThreadSanitizer does not know the wide address ranges of newer kernels.
without_random_addresses() {
  local preset=$1
  shift
  if [ "$preset" = tsan ]; then setarch --addr-no-randomize "$@"; else "$@"; fi
}

# Under ThreadSanitizer only the rooms with threads of their own: gRPC's threads, in node/, are in a library that is not
# instrumented, and all else runs on one loop.
build_sanitizer() {
  local targets=(unit_tests testing)
  [ "$1" = asan ] || targets=(base_test gpu_test testing)
  [ -f "build/$1/build.ninja" ] || step "configuring $1" configure "$1"
  step "building $1" without_random_addresses "$1" cmake --build --preset "$1" --target "${targets[@]}"
}

count_unit_tests() { # PRESET
  local line
  line=$(grep -oE '[0-9]+ tests failed out of [0-9]+' "$logs/unit-tests-$1.log" 2>/dev/null | tail -n 1)
  if [[ $line =~ ^([0-9]+)\ .*\ ([0-9]+)$ ]]; then
    failures=$((failures + BASH_REMATCH[1]))
    passed=$((passed + BASH_REMATCH[2] - BASH_REMATCH[1]))
    [ -n "$stage_ok" ] || [ "${BASH_REMATCH[1]}" -ne 0 ] || failures=$((failures + 1))
  else
    count_one # it did not get as far as a summary
  fi
}

end_to_end() {
  python3 -B e2e 2>&1 | tee "$logs/end-to-end.log"
}

count_end_to_end() {
  if [[ $(tail -n 1 "$logs/end-to-end.log" 2>/dev/null) =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failures=$((failures + BASH_REMATCH[2]))
    [ -n "$stage_ok" ] || [ "${BASH_REMATCH[2]}" -ne 0 ] || failures=$((failures + 1))
  else
    count_one
  fi
}

lint_all() { "$repo/run" lint; }
down() { "$repo/run" cluster down; }
# A cluster of its own: nothing that was tried on an older one can help or hinder.
fresh_cluster() {
  hold_cluster test
  "$repo/run" cluster down
  "$repo/run" cluster up 1
}
image_on_nodes() {
  run_image --name localhost/pawl:dev
  "$repo/run" cluster load dist/pawl.tar
}

# Times are shown and not judged here: this machine may have much else to do. Memory is judged.
figures() {
  local micro=0 cluster=0
  micro_figures --benchmark_min_time=0.2 || micro=$?
  cluster_figures || cluster=$?
  [ $micro -eq 0 ] || [ $micro -eq "$over_in_time" ] || return 1
  [ $cluster -eq 0 ] || [ $cluster -eq "$over_in_time" ] || return 1
}

run_test() {
  local preset
  tests_began=$(now_ms)
  rm -f "$logs"/unit-tests-*.log "$logs/end-to-end.log"
  stage "Setup" run_setup
  need
  stage "Build" run_build release
  need
  stage "Unit tests" unit_tests release
  count_unit_tests release
  for preset in asan tsan; do
    stage "Build for $preset" build_sanitizer "$preset"
    if [ -n "$stage_ok" ]; then
      stage "Unit tests under $preset" unit_tests "$preset"
      count_unit_tests "$preset"
    else
      count_one
    fi
  done
  stage "Lint" lint_all
  count_one
  stage "Kubernetes' programs" cluster_programs
  need
  open_use_lock # the stage takes the lock, and this program keeps it: nobody takes the cluster away between two stages
  trap 'down >/dev/null 2>&1 || true' EXIT
  stage "Cluster" fresh_cluster
  need
  stage "Image" image_on_nodes
  need
  stage "End to end" end_to_end
  count_end_to_end
  stage "Figures" figures
  count_one
  stage "Cluster down" down
  count_one
  trap - EXIT
  end_of_tests
}
