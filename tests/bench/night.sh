#!/usr/bin/env bash
# See night.py.
exec /usr/bin/python3 "$(dirname "$0")/night.py" "$@"
