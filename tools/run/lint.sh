# shellcheck shell=bash
# ./run lint [--changed]: everything that is checked without running it. Every finding is an error.

our_files() { # GIT PATTERN…: what is in the repository or about to be
  git ls-files -z --cached --others --exclude-standard -- "$@" | while IFS= read -r -d '' file; do
    [ ! -e "$file" ] || printf '%s\n' "$file"
  done
}

check_format() { our_files 'src/*.cpp' 'src/*.h' 'testing/*.cpp' 'testing/*.h' 'testing/*.c' 'bench/*.cpp' 'bench/*.h' |
  xargs -r clang-format --dry-run -Werror; }

check_shell() {
  local scripts
  mapfile -t scripts < <(our_files '*.sh' run .ci/run tools testing images deploy |
    while IFS= read -r file; do head -c 64 "$file" | grep -qaE '^#!.*\b(ba)?sh\b|^# shellcheck shell' && echo "$file"; done)
  shellcheck -x "${scripts[@]}"
}

check_python() {
  our_files '*.py' tools/check-rooms | xargs -r python3 -c '
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path, encoding="utf-8").read(), path)'
}

run_lint() {
  [ -f build/release/compile_commands.json ] || step "configuring release" cmake --preset release
  failed=0
  try_step "rooms include only what they may" tools/check-rooms
  try_step "clang-format" check_format
  try_step "shell scripts" check_shell
  try_step "Python scripts" check_python
  try_step "clang-tidy" tools/run/tidy.py "$@"
  [ $failed -eq 0 ] || fail "$failed of the checks found something"
}
