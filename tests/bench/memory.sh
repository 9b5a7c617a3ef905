#!/usr/bin/env bash
# See memory.py.
exec /usr/bin/python3 "$(dirname "$0")/memory.py" "$@"
