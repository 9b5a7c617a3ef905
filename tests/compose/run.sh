#!/usr/bin/env bash
# Builds the images, from the binaries given, and tests docker-compose.yml.
#
#   tests/compose/run.sh [BIN_FOLDER [WORD ...]]
#
# The base image is made here where it cannot be pulled. Compiling in the
# image, which takes long, is tested where BIMBACKUP_COMPILE_IMAGE is set.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=$(realpath "${1:-$root/build/release/bin}")
"$root/tests/support/make_base_image.sh"
rm -rf "$root/deploy/prebuilt"
if [ -z "${BIMBACKUP_COMPILE_IMAGE:-}" ]; then
  mkdir -p "$root/deploy/prebuilt"
  for binary in "$bin"/bim*; do
    strip -o "$root/deploy/prebuilt/$(basename "$binary")" "$binary"
  done
fi
trap 'rm -rf "$root/deploy/prebuilt"' EXIT
if docker-compose version >/dev/null 2>&1; then
  export BIMBACKUP_COMPOSE=docker-compose
else
  export BIMBACKUP_COMPOSE="docker compose"
fi
"$here/../support/run_process_tests.sh" "$here" "$bin" "${@:2}"
