#!/usr/bin/env bash
# The line readers and their stream against GNU `wc -l`: see scan.py.
#
#   tests/bench/run.sh scan [--runs N] [--peers]
exec /usr/bin/python3 "$(dirname "$0")/scan.py" "$@"
