#!/bin/sh
# no_memory.sh BUILD: where memory runs out while a plan is made, the call returns MPI's code and a line says why, in the
# component and in the shim.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"

# tells WHAT [mpirun options ...]
tells() {
  what=$1
  shift
  output=$(timeout -k 3 50 "$here/run.sh" "$build" 1 2 "$@" "$build/bin/mpi_no_memory" 2>&1) || fail "under $what: $output"
  case $output in
    *"a collective failed on this rank: out of memory; it returns MPI_ERR_INTERN"*) ;;
    *) fail "nothing is said under $what: $output" ;;
  esac
}

tells "the component"
shim=$build/lib/libcolltopo_mpi.so
[ ! -e "$shim" ] ||
  tells "the shim" --mca coll ^topo -x COLLTOPO_ALLREDUCE_ALGORITHM=recursive-doubling -x LD_PRELOAD="$shim"
exit $failed
