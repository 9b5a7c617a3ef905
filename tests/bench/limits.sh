#!/usr/bin/env bash
# See limits.py.
exec /usr/bin/python3 "$(dirname "$0")/limits.py" "$@"
