#!/usr/bin/env bash
# Installs what is missing (Debian 12, as root), builds, and runs every test.
#
#   tests/run.sh [SUITE ...]     all suites, or those named
#
# Suites: style build unit asan tsan system fault grpcurl compose. Each writes
# build/test-logs/SUITE.log. The last line is `N passed, N failed`; the exit
# code is 1 when one failed. Where no container engine runs, the compose
# suite is left out, in one line that says so; with CI=true that is a failure.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

readonly all=(style build unit asan tsan system fault grpcurl compose)
readonly logs=$PWD/build/test-logs
mkdir -p "$logs"
export CCACHE_BASEDIR=$PWD
unset "${!APS_@}" "${!BIM@}"

passed=0
failed=0

# add PASSED FAILED: counts towards the last line.
add() {
  passed=$((passed + $1))
  failed=$((failed + $2))
}

# The counts in a log's last line of the form `N passed, N failed`.
counts_of() {
  grep -E '^[0-9]+ passed, [0-9]+ failed$' "$1" | tail -1 | tr -d ','
}

# step LIMIT NAME COMMAND...: one test, which is the command's exit code.
step() {
  local limit=$1 name=$2
  shift 2
  if timeout --kill-after=30 "$limit" "$@"; then
    echo "ok     $name"
    return 0
  fi
  echo "FAILED $name"
  return 1
}

# report STEP...: runs functions as tests and prints their counts.
report() {
  local good=0 bad=0 name
  for name in "$@"; do
    if "$name"; then good=$((good + 1)); else bad=$((bad + 1)); fi
  done
  echo "$good passed, $bad failed"
}

check_format() {
  git ls-files -z '*.cc' '*.h' |
    step 300 clang-format xargs -0 clang-format-14 --dry-run -Werror
}
check_protos() { step 300 "buf lint" buf lint protos; }
check_scripts() {
  local script
  while read -r script; do
    step 20 "bash -n $script" bash -n "$script" >/dev/null || {
      echo "FAILED $script"
      return 1
    }
  done < <(git ls-files '*.sh' .ci/run)
  step 60 "python syntax" python3 - $(git ls-files '*.py') <<'EOF'
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path).read(), path)
EOF
}
check_table() {
  step 60 "tests named in README" python3 tests/support/check_table.py
}
run_style() { report check_format check_protos check_scripts check_table; }

build_release() {
  step 2700 "release build" sh -c \
    'cmake --preset release -DBIMBACKUP_BUILD_TESTS=ON &&
     cmake --build --preset release'
}
run_build() { report build_release; }

# run_ctest FOLDER [FLAG ...]: ctest's own counts.
run_ctest() {
  local summary folder=$1
  shift
  timeout --kill-after=30 1500 ctest --test-dir "$folder" -j2 --timeout 300 \
    --output-on-failure "$@" | tee "$logs/ctest.txt"
  summary=$(grep -E 'tests passed, [0-9]+ tests? failed out of' \
    "$logs/ctest.txt" | grep -oE '[0-9]+ tests? failed out of [0-9]+')
  if [ -z "$summary" ]; then
    echo "0 passed, 1 failed"
    return
  fi
  read -r bad _ _ _ _ total <<<"$summary"
  echo "$((total - bad)) passed, $bad failed"
}
run_unit() { run_ctest build/release; }

run_asan() {
  if ! step 2700 "asan build" sh -c \
    'cmake --preset asan && cmake --build --preset asan'; then
    echo "0 passed, 1 failed"
    return
  fi
  run_ctest build/asan
}

# What can race and links no gRPC, which Debian does not instrument.
run_tsan() {
  if ! step 2700 "tsan build" sh -c \
    'cmake --preset tsan && cmake --build --preset tsan'; then
    echo "0 passed, 1 failed"
    return
  fi
  TSAN_OPTIONS="suppressions=$PWD/cmake/tsan.supp" \
    run_ctest build/tsan -R "$(cat build/tsan/tsan_tests)"
}

run_system() { tests/system/run.sh "$PWD/build/release/bin"; }
run_fault() { tests/fault/run.sh "$PWD/build/release/bin"; }
run_grpcurl() { tests/grpcurl/run.sh "$PWD/build/release/bin"; }
run_compose() { tests/compose/run.sh "$PWD/build/release/bin"; }

# Whether a container engine runs; starts an installed one.
engine_runs() {
  timeout 20 docker info >/dev/null 2>&1 && return 0
  command -v docker >/dev/null || return 1
  (systemctl start docker || service docker start) >/dev/null 2>&1
  local attempt
  for attempt in $(seq 20); do
    timeout 10 docker info >/dev/null 2>&1 && return 0
    sleep 1
  done
  return 1
}

run_suite() {
  local suite=$1 started=$SECONDS counts
  echo "== $suite"
  if [ "$suite" = compose ] && ! engine_runs; then
    echo "left out: compose tests, because no container engine runs here"
    if [ "${CI:-}" = true ]; then add 0 1; fi
    return
  fi
  timeout --kill-after=60 3600 bash -c "run_$suite" >"$logs/$suite.log" 2>&1
  counts=$(counts_of "$logs/$suite.log")
  [ -n "$counts" ] || counts="0 passed 1 failed"
  read -r good _ bad _ <<<"$counts"
  add "$good" "$bad"
  if [ "$bad" -gt 0 ]; then
    grep -E 'FAILED|error:' "$logs/$suite.log" | head -40
    tail -30 "$logs/$suite.log"
  fi
  echo "$suite: $good passed, $bad failed, in $((SECONDS - started)) s"
}

export -f step report run_ctest check_format check_protos check_scripts \
  check_table build_release
export logs
for suite in "${all[@]}"; do export -f "run_$suite"; done

for suite in "$@"; do
  if [[ " ${all[*]} " != *" $suite "* ]]; then
    echo "tests/run.sh: no suite $suite; there are: ${all[*]}" >&2
    exit 2
  fi
done
if [ $# -eq 0 ]; then set -- "${all[@]}"; fi

deploy/install_deps.sh --docker --tools || exit 1
for suite in "$@"; do run_suite "$suite"; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
