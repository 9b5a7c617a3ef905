#!/usr/bin/env bash
# Runs one section of the benchmarks: tests/bench/SECTION.sh.
#
#   tests/bench/run.sh SECTION [ARGUMENT ...]
#
# A section prints Markdown and writes build/bench/SECTION.json; the exit code
# is 1 when a bar falls short. Binaries come from build/release/bin, or from
# BIMBACKUP_BIN.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
section=${1:-}
if [[ -z $section || $section == run || ! -x $here/$section.sh ]]; then
  sections=$(cd "$here" && ls ./*.sh | sed 's|^\./||; s|\.sh$||' |
    grep -vx run | tr '\n' ' ')
  echo "usage: tests/bench/run.sh SECTION; sections: $sections" >&2
  exit 2
fi
shift
export BIMBACKUP_BIN=${BIMBACKUP_BIN:-$root/build/release/bin}
export PYTHONPATH=$root/tests/support PYTHONDONTWRITEBYTECODE=1
mkdir -p "$root/build/bench"
cd "$root"
exec timeout 3600 "$here/$section.sh" "$@"
