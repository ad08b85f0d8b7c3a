# shellcheck shell=bash
# ./run cluster …: the pieces are in tools/cluster/, the manual is docs/cluster.md.

for piece in env process pki network control-plane images node down; do
  # shellcheck source=/dev/null
  . "tools/cluster/$piece.sh"
done

run_cluster() {
  local what=${1:-}
  [ $# -eq 0 ] || shift
  case $what in
    up) cluster_up "$@" ;;
    down) cluster_down ;;
    status) cluster_status ;;
    kubectl) find_cluster; cluster_kubectl "$@" ;;
    helm) find_cluster; cluster_helm "$@" ;;
    node) find_cluster; in_node "$@" ;;
    load) find_cluster; cluster_load "$@" ;;
    *) fail "./run cluster up [NODES] | down | status | kubectl … | helm … | node I COMMAND… | load TARBALL" ;;
  esac
}

# cluster_programs sets `bin` to the folder of Kubernetes' programs, building them when they are not there yet.
cluster_programs() {
  if ! bin=$(tools/cluster/build --ready); then
    note "the cluster's programs are built once: about 7 minutes on 2 cores"
    step "building the cluster's programs" tools/cluster/build
    bin=$(tools/cluster/build --ready) || fail "the cluster's programs are not there after their build"
  fi
}

# find_cluster sets `bin` for a cluster that is up.
find_cluster() {
  [ -e "$state/shape" ] || fail "there is no cluster; ./run cluster up starts one"
  # shellcheck source=/dev/null
  . "$state/shape"
}

lock_cluster() {
  mkdir -p "$state"
  exec 9>"$state/lock"
  flock -n 9 || fail "another ./run cluster up or down is at work"
}

# hold_cluster WHAT keeps others off the cluster until this program ends, or ends it when somebody is at the cluster.
# $state/use.lock is held by who uses a cluster (e2e/cluster.py: tests, demo, bench) and by who takes one away. The lock is
# file 8, and whatever is started from here has it too: what `./run test` starts is not kept off by `./run test`.
hold_cluster() {
  open_use_lock
  flock -n 8 || fail "the cluster is in use by $(user_of_cluster); ./run $1 would take it away"
  printf './run %s, process %d\n' "$1" $$ >"$state/use.lock"
}

open_use_lock() {
  mkdir -p "$state"
  [ "/proc/$BASHPID/fd/8" -ef "$state/use.lock" ] || exec 8<>"$state/use.lock"
}

user_of_cluster() {
  local who
  who=$(head -n 1 "$state/use.lock")
  # Who is named may have ended, and left the lock to a program that names nobody.
  if [[ $who =~ process\ ([0-9]+)$ ]] && [ -d "/proc/${BASH_REMATCH[1]}" ]; then echo "$who"; else echo "another program"; fi
}

cluster_up() {
  local nodes=${1:-1} start
  profile=${PAWL_GPU_PROFILE:-t4x4}
  [[ $nodes =~ ^[1-9][0-9]?$ ]] || fail "the number of nodes must be 1 to 99, not \"$nodes\""
  [ "$profile" = none ] || check_profile
  start=$(now_ms)
  lock_cluster
  if cluster_is "$nodes" "$profile"; then
    good "the cluster is up already: $nodes node(s), GPU profile $profile"
    return
  fi
  hold_cluster "cluster up"
  if anything_left; then
    note "what is left of another cluster goes first"
    take_down || fail "not all of the other cluster went away"
  fi
  cluster_programs
  find_images
  have_images || step "making the base images" make_images
  mkdir -p "$state"/{log,run,nodes,helm}
  rm -f "$state"/log/*
  printf 'bin=%q\nnodes=%q\nprofile=%q\nimages=%q\n' "$bin" "$nodes" "$profile" "$images" >"$state/shape"

  step_hint="The programs' logs are in $state/log; ./run cluster down cleans up."
  begin_cluster "$nodes"
  good "the cluster is ready: $nodes node(s), GPU profile $profile  $dim$(seconds_since "$start")$plain"
}

check_profile() {
  [ -e "testing/profiles/$profile.yaml" ] ||
    fail "there is no GPU profile \"$profile\": $(cd testing/profiles && echo *.yaml | sed 's/\.yaml//g') or none"
  [ -e "build/release/testing/$profile/stamp" ] ||
    fail "the stand-ins of GPU profile \"$profile\" are not built: ./run build. PAWL_GPU_PROFILE=none makes bare nodes"
}

# Nodes load their images while the control plane starts.
begin_cluster() {
  local i nodes=$1
  step "certificates" make_pki
  step "network" make_network
  start_api_server
  for i in $(seq "$nodes"); do
    step "node $i: files and network" prepare_and_plug "$i" "$nodes"
    start_node "$i"
  done
  step "API server" await_api_server
  touch "$state/run/api-ready"
  start_controllers
  for i in $(seq "$nodes"); do
    step "node $i" await_node "$i"
  done
  step "controllers" await_controllers
}

prepare_and_plug() {
  prepare_node "$1"
  plug_node "$1" "$2"
}

# cluster_is NODES PROFILE: whether such a cluster is up, and answers.
cluster_is() {
  local want_nodes=$1 want_profile=$2 i
  [ -e "$state/shape" ] || return 1
  (
    # shellcheck source=/dev/null
    . "$state/shape"
    [ "$nodes" = "$want_nodes" ] && [ "$profile" = "$want_profile" ] || exit 1
    for i in $(node_numbers); do node_pid "$i" >/dev/null && node_ready "$(node_name "$i")" || exit 1; done
    in_ctl_kubectl get serviceaccount default
  ) >/dev/null 2>&1
}

cluster_down() {
  local start
  start=$(now_ms)
  lock_cluster
  hold_cluster "cluster down"
  if ! anything_left; then
    good "no cluster is up"
    return
  fi
  take_down || fail "not all of the cluster went away"
  good "the cluster is gone  $dim$(seconds_since "$start")$plain"
}

cluster_status() {
  local name
  if ! [ -e "$state/shape" ]; then
    note "no cluster is up"
    return
  fi
  # shellcheck source=/dev/null
  . "$state/shape"
  heading "Programs (logs: $state/log)"
  for name in "$state"/run/*.pid; do
    name=$(basename "$name" .pid)
    if running "$name"; then good "$name"; else bad "$name has ended"; fi
  done
  heading "Nodes (GPU profile $profile)"
  in_ctl_kubectl --request-timeout 5s get nodes -o wide || return
  heading "Pods"
  in_ctl_kubectl --request-timeout 5s get pods -A -o wide
}

cluster_kubectl() {
  cd "$caller" || return
  exec nsenter --net="/run/netns/$ctl" "$bin/kubectl" --kubeconfig "$state/pki/admin.conf" "$@"
}

cluster_helm() {
  cd "$caller" || return
  exec nsenter --net="/run/netns/$ctl" env KUBECONFIG="$state/pki/admin.conf" HELM_CACHE_HOME="$state/helm/cache" \
    HELM_CONFIG_HOME="$state/helm/config" HELM_DATA_HOME="$state/helm/data" "$bin/helm" "$@"
}

cluster_load() {
  [ $# -eq 1 ] || fail "./run cluster load TARBALL"
  local tarball
  tarball=$(cd "$caller" && realpath "$1")
  step "loading $(basename "$tarball") into every node" load_image "$tarball"
}
