#!/usr/bin/env bash
# Runs the Python tests of one folder against real processes.
#
#   tests/support/run_process_tests.sh FOLDER [BIN_FOLDER] [WORD ...]
#
# WORDs select the tests whose names hold one of them. The last line is
# `N passed, N failed`; the exit code is 1 when one failed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(realpath "$1")
bin=$(realpath "${2:-$root/build/release/bin}")
shift
shift || true
export PYTHONPATH="$root/tests/support" PYTHONDONTWRITEBYTECODE=1
passed=0
failed=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT
for file in "$folder"/*_test.py; do
  echo "== $(basename "$file")"
  timeout 1500 /usr/bin/python3 "$file" "$bin" "$@" 2>&1 | tee "$output"
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$output" | tail -1)
  if [ -z "$counts" ]; then
    echo "FAILED $(basename "$file") did not end"
    failed=$((failed + 1))
    continue
  fi
  read -r file_passed _ file_failed _ <<<"${counts//,/}"
  passed=$((passed + file_passed))
  failed=$((failed + file_failed))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
