#!/usr/bin/env bash
# See dataplane.py.
exec /usr/bin/python3 "$(dirname "$0")/dataplane.py" "$@"
