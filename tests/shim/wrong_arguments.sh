#!/bin/sh
# wrong_arguments.sh MPIRUN PROGRAM SHIM: wrong calls get the library's own error classes, by the shim's own choice and
# where every call is served, and no rank waits for others where the library does not.
set -u
folder=$(dirname "$(realpath "$0")")
mpirun=$1 program=$2 shim=$3
. "$folder/../helpers/launch.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

for who in all one; do
  timeout 60 "$mpirun" -np 2 "$program" $who >"$scratch/wanted" 2>"$scratch/errors"
  [ "$(wc -l <"$scratch/wanted")" -ge 100 ] || {
    echo "FAILED: the program without the shim: $(tail -3 "$scratch/errors")"
    exit 1
  }
  timeout 100 "$mpirun" -np 2 env LD_PRELOAD="$shim" "$program" $who >"$scratch/auto" 2>"$scratch/errors"
  timeout 100 "$folder/run.sh" "$mpirun" "$shim" 2 "$program" $who >"$scratch/served" 2>>"$scratch/errors"
  for how in auto served; do
    diff "$scratch/wanted" "$scratch/$how" || {
      echo "FAILED: $who, $how: classes differ from those without the shim (<): $(tail -3 "$scratch/errors")"
      failed=1
    }
  done
done
exit $failed
