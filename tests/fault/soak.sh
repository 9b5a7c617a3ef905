#!/usr/bin/env bash
# Ten minutes of everything that may go wrong; see soak.py. Not part of CI.
#
#   tests/fault/soak.sh [--minutes=10] [--seed=N] [BIN_FOLDER]
#
# The seed, which every run prints, repeats its random choices.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
minutes=10
seed=
bin=
for argument in "$@"; do
  case $argument in
    --minutes=*) minutes=${argument#*=} ;;
    --seed=*) seed=${argument#*=} ;;
    -*)
      echo "soak.sh: unknown flag $argument" >&2
      exit 2
      ;;
    *) bin=$argument ;;
  esac
done
bin=$(realpath "${bin:-$here/../../build/release/bin}")
export BIMBACKUP_SOAK_MINUTES=$minutes BIMBACKUP_SEED=$seed
export PYTHONPATH=$here/../support PYTHONDONTWRITEBYTECODE=1
exec timeout --kill-after=30 $((minutes * 60 + 900)) \
  /usr/bin/python3 "$here/soak.py" "$bin"
