#!/bin/sh
# settings.sh MPIRUN PROGRAM SHIM: what the environment says is obeyed, and what is wrong in it is said once.
set -eu
folder=$(dirname "$(realpath "$0")")
mpirun=$1 program=$2 shim=$3

# expect PATTERN TIMES: runs the program with the environment of the caller.
expect() {
  lines=$("$folder/run.sh" "$mpirun" "$shim" 2 "$program" 2>&1) || {
    echo "the program failed: $lines"
    exit 1
  }
  found=$(echo "$lines" | grep -c "$1" || true)
  if [ "$found" != "$2" ]; then
    echo "'$1' is there $found times, expected $2, in: $(echo "$lines" | head -n 20)"
    exit 1
  fi
}

COLLTOPO_DISABLE=1 SHIM_TEST_SERVES=0 expect colltopo: 0
COLLTOPO_DISABLE=0 expect 'colltopo: .*alltoall' 0
export SHIM_TEST_SERVES=all-but-alltoall
COLLTOPO_ALLTOALL_ALGORITHM=telepathy expect "^colltopo: alltoall_algorithm is 'telepathy'; must be one of .*tra.*; using the MPI library$" 1
COLLTOPO_ALLTOALL_ALGORITHM=fallback expect 'colltopo: .*alltoall' 0
unset SHIM_TEST_SERVES
COLLTOPO_SEGMENT_BYTES=many SHIM_TEST_SERVES=0 expect "^colltopo: segment_bytes is 'many'; must be" 1
# One line for each communicator on which the program calls it: the world and four copies. Debian's MPICH 5.0 takes the ranks of
# a node apart.
nodes=1
case $("$mpirun" --version 2>/dev/null) in *Version:*' 5.'*) nodes=[12] ;; esac
COLLTOPO_VERBOSE=1 expect "^colltopo: alltoall of 148 bytes on 2 ranks, $nodes nodes: tra" 5

# Ranks that were told different things use nothing of it.
script='[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ] || export COLLTOPO_ALLTOALL_RADIX=2; exec "$0"'
lines=$(SHIM_TEST_SERVES=0 "$folder/run.sh" "$mpirun" "$shim" 2 sh -c "$script" "$program" 2>&1)
echo "$lines" | grep -q '^colltopo: ranks have different values of .*; all must have the same; using the MPI library$' || {
  echo "ranks with different settings: $lines"
  exit 1
}
