#!/usr/bin/env bash
# Runs one section of the benchmarks: tests/bench/SECTION.sh.
#
#   tests/bench/run.sh SECTION [ARGUMENT ...]
#
# The sections with their arguments' defaults, and how long they take on two
# cores that have nothing else to do:
#
#   main [RUNS=3]                            about 6 min
#   limits [RUNS=3 [SHAPE,...]]              about 16 min; charts
#   night [RUNS=3 [SEED=1 [SHAPE=account]]]  about 3 min
#   dataplane [RUNS=7 [KIND,...]]            about 20 min; needs 20 GB of disk
#   scale [RUNS=3]                           about 24 min; a chart
#   million [FILES=1000000 [RUNS=3]]         about 20 min
#   memory                                   about 3 min
#   emulator                                 about 1 min
#   scan [--runs N] [--peers]                about 5 min
#
# SHAPEs are account and large-project, KINDs "10 KB", "1 MB" and "1 GiB".
# A section prints Markdown and writes build/bench/SECTION.json, and charts
# beside it as SECTION*.svg; the exit code is 1 when a bar falls short. Binaries
# come from build/release/bin, or from BIMBACKUP_BIN.
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
