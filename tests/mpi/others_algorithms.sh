#!/bin/sh
# others_algorithms.sh BUILD: algorithms in MSCCL's XML, converted, serve an mpirun; every value is checked. The XML itself
# is refused with the way to convert it.
set -u
build=$1
samples=$(dirname "$(realpath "$0")")/../samples/msccl
. "$(dirname "$(realpath "$0")")/job.sh"

# run RANKS COLLECTIVE FILE: a checked collective by the file.
run() {
  timeout -k 3 60 mpirun -np "$1" "$build/bin/colltopo-bench" --collective "$2" --bytes 8,8K,1000K --algorithm "file:$3" --check 2>&1
}

# expect RANKS COLLECTIVE SAMPLE
expect() {
  "$build/bin/colltopo" convert "$samples/$3.xml" --to text -o "$scratch/$3.sched" >/dev/null || fail "convert $3"
  output=$(run "$1" "$2" "$scratch/$3.sched") || fail "$3: the job failed: $output"
  printf '%s\n' "$output" | grep -q "$2.*$3.sched" || fail "$3: did not serve: $output"
}

expect 4 allgather allgather-ring-2-channels
expect 4 allgather allgather-precopied
expect 2 allgather allgather-crossing
expect 4 allreduce allreduce-ring
expect 4 allreduce allreduce-trees
expect 4 allreduce allreduce-allpairs
expect 4 allreduce allreduce-binomial
expect 3 reduce_scatter reduce-scatter-trees
expect 9 alltoall alltoall-two-step-3x3

output=$(run 4 allreduce "$samples/allreduce-ring.xml")
printf '%s\n' "$output" | grep -q 'allreduce-ring.xml:1: .*expected "topo-schedule 1"' || fail "the XML: not refused: $output"
exit $failed
