#!/usr/bin/env bash
# What the emulator can serve at most, so that no other measurement runs
# into it: tests/bench/run.sh emulator. Writes build/bench/emulator.json and
# prints Markdown; exits 1 when a bar falls short.
#
# BIMBACKUP_BIN: the folder of the binaries (build/release/bin).
set -euo pipefail
cd "$(dirname "$0")/../.."

exec python3 tests/bench/emulator_bench.py \
  "${BIMBACKUP_BIN:-build/release/bin}/bim360-emulator" build/bench
