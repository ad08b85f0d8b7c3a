# shellcheck shell=bash
# Configures once, then builds what changed. Programs end in build/PRESET/bin/.

# What one clone has compiled is good for the next one: no absolute path goes into an object's key.
export CCACHE_BASEDIR=$repo CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-10G}

configure() { # PRESET
  local launcher=()
  command -v ccache >/dev/null && launcher=(-D CMAKE_C_COMPILER_LAUNCHER=ccache -D CMAKE_CXX_COMPILER_LAUNCHER=ccache)
  cmake --preset "$1" "${launcher[@]}"
}

# run_build [PRESET [TARGET…]]
run_build() {
  local preset=${1:-release}
  [ $# -eq 0 ] || shift
  case $preset in
    release | debug | asan | tsan) ;;
    *) fail "there is no preset \"$preset\": release, debug, asan or tsan" ;;
  esac
  [ -f "build/$preset/build.ninja" ] || step "configuring $preset" configure "$preset"
  step "building $preset" cmake --build --preset "$preset" ${1:+--target "$@"}
}
