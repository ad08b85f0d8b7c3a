# shellcheck shell=bash
# Starting, watching and waiting for the cluster's programs.

# start NAME NETNS COMMAND… runs a program for good: a process group of its own, in the network namespace, its output
# in log/NAME.log, its id in run/NAME.pid.
start() {
  local name=$1 netns=$2
  shift 2
  # 8 and 9 are the locks of the cluster's users and of `up` and `down`; a program that inherits one would hold it for ever.
  setsid nsenter --net="/run/netns/$netns" "$@" >"$state/log/$name.log" 2>&1 </dev/null 8>&- 9>&- &
  echo $! >"$state/run/$name.pid"
}

running() { # NAME
  local pid
  pid=$(cat "$state/run/$1.pid" 2>/dev/null) || return 1
  # One that has ended, but that nobody has asked about yet, is still listed: Z.
  grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$pid/status" 2>/dev/null
}

# await SECONDS PROGRAM COMMAND… repeats a check until it succeeds. Gives up at the deadline, or at once when the
# program that it waits for is gone; then the end of that program's log is shown.
await() {
  local deadline=$((SECONDS + $1)) program=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ! running "$program"; then
      bad "$program has ended; its log ends so:"
      last_lines "$state/log/$program.log"
      return 1
    fi
    if [ $SECONDS -ge $deadline ]; then
      bad "no answer in time from $program; its log ends so:"
      last_lines "$state/log/$program.log"
      return 1
    fi
    sleep 0.1
  done
}
