#!/bin/sh
# abandoned.sh BUILD: a message that was given up after an error arrives while its memory still is there, in the component
# and in the shim.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"

# lives WHAT [mpirun options ...]
lives() {
  what=$1
  shift
  output=$(timeout -k 3 50 "$here/run.sh" "$build" 1 3 --mca btl_vader_single_copy_mechanism none \
    --mca orte_tmpdir_base "$scratch" "$@" "$build/bin/mpi_abandoned" 2>&1)
  case $output in *"rank 0 lives"*) ;; *) fail "rank 0 does not outlive the message under $what: $output" ;; esac
}

lives "the component"
shim=$build/lib/libcolltopo_mpi.so
[ ! -e "$shim" ] || lives "the shim" --mca coll ^topo \
  -x COLLTOPO_ALLTOALL_ALGORITHM=linear -x COLLTOPO_SEGMENT_BYTES=16M -x LD_PRELOAD="$shim"
exit $failed
