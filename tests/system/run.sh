#!/usr/bin/env bash
# System tests: whole backups by real processes, and bad configuration.
#
#   tests/system/run.sh [BIN_FOLDER [WORD ...]]
here=$(dirname "$0")
exec "$here/../support/run_process_tests.sh" "$here" "$@"
