#!/usr/bin/env bash
# Fault tests: real processes that are killed, starved and misconfigured.
#
#   tests/fault/run.sh [BIN_FOLDER]    all of them, as CI does (some minutes)
#   BIMBACKUP_KILLS=200 tests/fault/run.sh    the long run
#
# BIMBACKUP_SEED repeats a run. The last line is `N passed, N failed`.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(realpath "${1:-$root/build/release/bin}")
passed=0
failed=0
for file in "$root"/tests/fault/*_test.py; do
  echo "== $(basename "$file")"
  output=$(mktemp)
  timeout 1200 /usr/bin/python3 "$file" "$bin" 2>&1 | tee "$output"
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$output" | tail -1)
  rm -f "$output"
  if [ -z "$counts" ]; then
    failed=$((failed + 1))
    continue
  fi
  read -r file_passed _ file_failed _ <<<"${counts//,/}"
  passed=$((passed + file_passed))
  failed=$((failed + file_failed))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
