#!/usr/bin/env bash
# Fault tests: real processes that are killed, starved and lied to.
#
#   tests/fault/run.sh [BIN_FOLDER [WORD ...]]     as CI runs them
#   BIMBACKUP_KILLS=200 tests/fault/run.sh         the long run
#
# BIMBACKUP_SEED, which every run prints, repeats its random moments.
here=$(dirname "$0")
exec "$here/../support/run_process_tests.sh" "$here" "$@"
