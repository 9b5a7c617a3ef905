#!/usr/bin/env bash
# Kills worker, coordinator or both at random moments; see
# random_kills_test.py. 20 times in CI, here as often as one likes.
#
#   tests/fault/kills.sh [--kills=200] [--seed=N] [BIN_FOLDER]
#
# The seed, which every run prints, repeats its random choices.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kills=200
seed=
bin=
for argument in "$@"; do
  case $argument in
    --kills=*) kills=${argument#*=} ;;
    --seed=*) seed=${argument#*=} ;;
    -*)
      echo "kills.sh: unknown flag $argument" >&2
      exit 2
      ;;
    *) bin=$argument ;;
  esac
done
bin=$(realpath "${bin:-$here/../../build/release/bin}")
export BIMBACKUP_RANDOM_KILLS=$kills BIMBACKUP_SEED=$seed
export PYTHONPATH=$here/../support PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 "$here/random_kills_test.py" "$bin"
