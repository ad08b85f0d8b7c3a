# shellcheck shell=bash
# How ./run talks: headings, steps with their time, and what went wrong with the last lines of its log.
: "${repo:?}"
cache=$HOME/.cache/pawl
logs=$cache/log
mkdir -p "$logs"

if [ -t 1 ]; then
  live=1 bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m' wipe=$'\r\e[K'
else
  live='' bold='' dim='' red='' green='' plain='' wipe=''
fi

heading() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
note() { printf '   %s\n' "$*"; }
good() { printf '   %s✓%s %s\n' "$green" "$plain" "$*"; }
bad() { printf '   %s✗%s %s\n' "$red" "$plain" "$*" >&2; }
fail() {
  printf '%serror:%s %s\n' "$red" "$plain" "$*" >&2
  exit 1
}

now_ms() { local t=${EPOCHREALTIME/[.,]/}; echo $((t / 1000)); }
# seconds_since START_MS prints the time since then with one decimal.
seconds_since() {
  local tenths=$((($(now_ms) - $1) / 100))
  printf '%d.%d s' $((tenths / 10)) $((tenths % 10))
}

# last_lines FILE [COUNT] prints the end of a log, indented, on stderr.
last_lines() {
  [ -s "$1" ] || { printf '     (%s is empty)\n' "$1" >&2; return 0; }
  local count=${2:-25}
  # A compiler's first error is what matters, and it may be far up.
  if grep -qE '(: |^)(fatal )?error: ' "$1"; then
    grep -E '(: |^)(fatal )?error: ' "$1" | head -n 8 | sed "s/^/     $red/; s/\$/$plain/" >&2
    printf '     …\n' >&2
    count=8
  fi
  tail -n "$count" "$1" | sed 's/^/     /' >&2
  printf '     %s(the whole log: %s)%s\n' "$dim" "$1" "$plain" >&2
}

# watch_step PID TEXT START_MS LOG shows that a step is alive: on a terminal the seconds and the log's last line,
# elsewhere a line every half minute.
watch_step() {
  local pid=$1 text=$2 start=$3 log=$4 last spoken=0 elapsed
  while kill -0 "$pid" 2>/dev/null; do
    elapsed=$((($(now_ms) - start) / 1000))
    if [ -n "$live" ]; then
      last=$(tail -c 400 "$log" 2>/dev/null | tr '\r' '\n' | tail -n 1 | tr -cd '[:print:]' | cut -c1-60)
      printf '%s   … %s  %d s  %s%s%s' "$wipe" "$text" "$elapsed" "$dim" "$last" "$plain"
    elif [ $((elapsed / 30)) -gt $spoken ]; then
      spoken=$((elapsed / 30))
      last=$(tail -c 400 "$log" 2>/dev/null | tail -n 1 | tr -cd '[:print:]' | cut -c1-100)
      printf '   … %s  %d s  %s\n' "$text" "$elapsed" "$last"
    fi
    sleep 0.1
  done
  printf '%s' "$wipe"
}

# tree_of PID prints the id of a process and of all below it.
tree_of() {
  local child
  echo "$1"
  for child in $(cat "/proc/$1/task/"*/children 2>/dev/null || true); do tree_of "$child"; done
}

# end_tree PID asks a process and all below it to end, and makes them after 5 s.
end_tree() {
  local pids pid tries left
  pids=$(tree_of "$1")
  # shellcheck disable=SC2086  # a list of numbers
  kill -TERM $pids 2>/dev/null || true
  for tries in $(seq 50); do
    left=''
    for pid in $pids; do
      if grep -qs '^State:[[:space:]]*[^Z[:space:]]' "/proc/$pid/status"; then left="$left $pid"; fi
    done
    [ -n "$left" ] || return 0
    sleep 0.1
  done
  # shellcheck disable=SC2086
  kill -KILL $left 2>/dev/null || true
}

# guarded COMMAND… runs a command (or function) in a subshell and returns its status; when ./run is told to end (Ctrl-C,
# TERM), all that the command started ends first. Without it bash would wait for the command, or leave it behind.
guarded() {
  local pid code=0
  (
    set -e
    "$@"
  ) &
  pid=$!
  # shellcheck disable=SC2064  # the pid of now is meant
  trap "end_tree $pid; exit 130" INT TERM
  wait "$pid" || code=$?
  trap - INT TERM
  return $code
}

# step TEXT COMMAND… runs a command (or function) with its output in a log and says how long it took. When it fails, the
# end of its log is shown, then $step_hint, and ./run ends. Never call it where bash ignores errors (if, &&, ||): the
# function that it runs would then go on after its own errors.
step_hint=
step_lines=25
step() {
  local text=$1 log start pid code=0
  shift
  log=$logs/$(printf '%s' "$text" | tr -cs 'A-Za-z0-9._-' '-' | cut -c1-60).log
  start=$(now_ms)
  : >"$log"
  ("$@") >"$log" 2>&1 &
  pid=$!
  # shellcheck disable=SC2064  # the pid of now is meant
  trap "end_tree $pid; exit 130" INT TERM
  watch_step "$pid" "$text" "$start" "$log"
  wait "$pid" || code=$?
  trap - INT TERM
  if [ $code -eq 0 ]; then
    good "$text  $dim$(seconds_since "$start")$plain"
  else
    bad "$text failed after $(seconds_since "$start")"
    last_lines "$log" $step_lines
    [ -z "$step_hint" ] || printf '   %s\n' "$step_hint" >&2
    exit $code
  fi
}

# try_step: a step after which ./run goes on also when it failed; $failed counts those.
failed=0
try_step() {
  local code
  set +e
  guarded step "$@"
  code=$?
  set -e
  [ $code -eq 0 ] || failed=$((failed + 1))
  return 0
}

# need_root COMMAND: what makes namespaces, mounts and device nodes says so before it does anything.
need_root() {
  [ "$(id -u)" -eq 0 ] || fail "./run $1 makes namespaces, mounts and device nodes, and needs root rights: sudo ./run $1"
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "this needs root rights, and there is no sudo"
  fi
}
