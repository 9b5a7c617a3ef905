#!/usr/bin/env bash
# Runs README's grpcurl commands, as they stand there, against real servers.
# Their ports are fixed, so everything runs in a network of its own.
#
#   tests/grpcurl/run.sh [BIN_FOLDER [WORD ...]]
here=$(cd "$(dirname "$0")" && pwd)
if unshare --net true 2>/dev/null; then
  exec unshare --net "$here/../support/run_process_tests.sh" "$here" "$@"
fi
exec "$here/../support/run_process_tests.sh" "$here" "$@"
