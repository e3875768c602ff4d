#!/bin/sh
# without.sh MPIRUN PROGRAM SHIM: one rank of several is started without the shim. The others wait for it, one line says so, and
# nobody gets wrong data.
set -eu
folder=$(dirname "$(realpath "$0")")
mpirun=$1 program=$2 shim=$3
. "$folder/../helpers/launch.sh"
export COLLTOPO_PATIENCE_S=0.5

for odd in 1 0; do
  # shellcheck disable=SC2016
  script='[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = "$1" ] || export LD_PRELOAD="$2"; exec "$0"'
  status=0
  lines=$(timeout -k 1 5 "$mpirun" -np 3 sh -c "$script" "$program" $odd "$shim" 2>&1) || status=$?
  [ $status -eq 124 ] || [ $status -eq 137 ] || { echo "rank $odd without: the job ended with $status: $lines"; exit 1; }
  found=$(echo "$lines" | grep -c 'colltopo: ranks of a communicator are waited for in its first collective' || true)
  [ "$found" -eq 1 ] || { echo "rank $odd without: $found lines: $lines"; exit 1; }
  ! echo "$lines" | grep 'rank [0-9]*: ' | grep -v 'no shim is loaded' || { echo "rank $odd without: wrong data"; exit 1; }
done
