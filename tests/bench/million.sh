#!/usr/bin/env bash
# See million.py.
exec /usr/bin/python3 "$(dirname "$0")/million.py" "$@"
