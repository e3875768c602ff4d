#!/bin/sh
# lengths_differ.sh BUILD: a wrong program whose first collective has lengths that differ from rank to rank ends, with the
# component and with the shim, as it does without them: nobody waits for ever for a rank that left the call to Open MPI's own.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"

run() {
  output=$(timeout -k 2 15 mpirun -np 3 "$@" "$build/bin/mpi_lengths" "$call" "$form" "$odd" 2>&1)
  status=$?
}

# ends CALL FORM ODD [mpirun options]. Once in many times mpirun of 4.1 itself does not end after an error of its processes.
ends() {
  call=$1 form=$2 odd=$3
  shift 3
  run "$@"
  [ $status -ne 124 ] && [ $status -ne 137 ] || run "$@"
  [ $status -ne 124 ] && [ $status -ne 137 ] || fail "$call, $form, rank $odd is odd, $*: ranks wait for ever: $output"
  [ $status -ne 2 ] || fail "$call: no such call: $output"
}

for call in gather scatter alltoall allgather allgatherv gatherv scatterv alltoallv alltoallw bcast allreduce reduce_scatter; do
  ends $call blocking 1
done
for call in gather alltoall allgather allgatherv; do
  ends $call nonblocking 0
done
# Open MPI 4.1.4 alone ends, with an error or without one, or waits for ever.
for call in gather gatherv allgatherv; do
  ends $call persistent 1
done
for call in gather alltoall allgather allgatherv; do
  ends $call blocking 1 --mca coll ^topo -x LD_PRELOAD="$build/lib/libcolltopo_mpi.so"
done
exit $failed
