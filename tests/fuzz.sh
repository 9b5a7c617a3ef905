#!/usr/bin/env bash
# Runs every fuzzer for longer than ctest does, with AddressSanitizer and
# UBSan.
#
#   tests/fuzz.sh [SECONDS [NAME ...]]    300 s each; all, or those named
#
# Each starts from corpus/NAME beside its sources and from what it learned
# before, in build/asan/fuzz/NAME. What fails is left there as NAME-crash-...:
# add it to the corpus once it is mended. The last line is `N passed, N
# failed`; the exit code is 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

readonly seconds=${1:-300}
shift || true
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
  echo "tests/fuzz.sh: '$seconds' is no number of seconds" >&2
  exit 2
fi
export CCACHE_BASEDIR=$PWD
cmake --preset asan >/dev/null &&
  cmake --build build/asan --target "${@:-fuzzers}" || exit 1

passed=0
failed=0
while read -r -a command; do
  name=$(basename "${command[0]}")
  if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
  log=build/asan/fuzz/$name.log
  if timeout --kill-after=10 $((seconds + 120)) "build/asan/${command[0]}" \
    "${command[@]:1}" -max_total_time="$seconds" >"$log" 2>&1 </dev/null; then
    echo "ok     $name: $(grep -E '^Done' "$log")"
    passed=$((passed + 1))
  else
    echo "FAILED $name: see $log"
    tail -30 "$log"
    failed=$((failed + 1))
  fi
done <build/asan/fuzz/commands
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
