#!/usr/bin/env bash
# Runs the Python tests of one folder against real processes.
#
#   tests/support/run_process_tests.sh FOLDER [BIN_FOLDER] [WORD ...]
#
# WORDs select the tests whose names hold one of them. Two files run at a time,
# since tests wait more than they work, and are printed as they end; meanwhile
# their output is in build/test-logs/FOLDER. The last line is
# `N passed, N failed`; the exit code is 1 when one failed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(realpath "$1")
bin=$(realpath "${2:-$root/build/release/bin}")
shift
shift || true
export PYTHONPATH="$root/tests/support" PYTHONDONTWRITEBYTECODE=1
logs=$root/build/test-logs/$(basename "$folder")
rm -rf "$logs"
mkdir -p "$logs"

# run_file LOGS BIN FILE [WORD ...]
run_file() {
  local log file=$3
  log=$1/$(basename "$file")
  {
    echo "== $(basename "$file")"
    timeout 1500 /usr/bin/python3 "$file" "$2" "${@:4}"
  } >"$log" 2>&1
  cat "$log"
}
export -f run_file

printf '%s\0' "$folder"/*_test.py |
  xargs -0 -P 2 --process-slot-var=BIMBACKUP_TEST_SLOT -I FILE \
    bash -c 'run_file "$@"' run "$logs" "$bin" FILE "$@"

passed=0
failed=0
for file in "$folder"/*_test.py; do
  name=$(basename "$file")
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$logs/$name" | tail -1)
  if [ -z "$counts" ]; then
    echo "FAILED $name did not end"
    failed=$((failed + 1))
    continue
  fi
  read -r file_passed _ file_failed _ <<<"${counts//,/}"
  passed=$((passed + file_passed))
  failed=$((failed + file_failed))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
