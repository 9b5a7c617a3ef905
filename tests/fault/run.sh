#!/usr/bin/env bash
# Fault tests: real processes that are killed, starved and lied to.
#
#   tests/fault/run.sh [BIN_FOLDER [WORD ...]]     as CI runs them
#   BIMBACKUP_KILLS=200 tests/fault/run.sh         more kills of each kind
#   tests/fault/kills.sh --kills=200               kills at random moments
#   tests/fault/soak.sh --minutes=10               all kinds of faults at once
#
# BIMBACKUP_SEED, which every run prints, repeats its random moments.
here=$(dirname "$0")
exec "$here/../support/run_process_tests.sh" "$here" "$@"
