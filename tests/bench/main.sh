#!/usr/bin/env bash
# See main.py.
exec /usr/bin/python3 "$(dirname "$0")/main.py" "$@"
