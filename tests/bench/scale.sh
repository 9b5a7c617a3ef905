#!/usr/bin/env bash
# See scale.py.
exec /usr/bin/python3 "$(dirname "$0")/scale.py" "$@"
