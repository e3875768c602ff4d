#!/bin/sh
# filed_schedules.sh BUILD: schedules out of a folder serve ranks on made-up hosts, in the order of the hosts' names and out of it,
# several on a host and on a part of the machine; every value is checked.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"
. "$(dirname "$(realpath "$0")")/made_up_nodes.sh"
if ! unshare --uts true 2>/dev/null; then
  echo "SKIP: several hosts on one need 'unshare --uts', which is not permitted here" >&2
  exit 77
fi

# on HOSTS [mpirun options]: a checked collective by the folder's schedules.
collective=alltoall
on() {
  hosts=$1
  shift
  timeout -k 3 60 mpirun --mca plm_rsh_agent "$here/fakersh" --host "$hosts" --mca coll_topo_verbose 1 \
    --mca coll_topo_topology torus:2x2 --mca coll_topo_hosts node1,node2,node3,node4 --mca coll_topo_schedules "$scratch" \
    "$@" "$build/bin/colltopo-bench" --collective "$collective" --bytes 8K --check 2>&1
}

# expect WORDS HOSTS [mpirun options]
expect() {
  words=$1
  shift
  output=$(on "$@") || fail "$*: the job failed: $output"
  printf '%s\n' "$output" | grep -q "$words" || fail "$*: no line with '$words': $output"
}

expect 'to make one: colltopo generate mcf torus:2x2 -o' node1:1,node2:1,node3:1,node4:1
# generate ALGORITHM TOPO NAME [options]: into the folder.
generate() {
  algorithm=$1 network=$2 name=$3
  shift 3
  "$build/bin/colltopo" generate "$algorithm" "$network" -o "$scratch/$name.sched" "$@" >/dev/null || fail "generate $algorithm $network"
}

generate mcf torus:2x2 whole
generate mcf torus:2x2/ranks:2 twice
generate mcf-path torus:2x2/ranks:0,2,1,0 part
expect 'whole.sched (found by' node1:1,node2:1,node3:1,node4:1
expect 'whole.sched by host (found by' node4:1,node2:1,node1:1,node3:1
expect 'twice.sched (found by' node1:2,node2:2,node3:2,node4:2
expect 'part.sched (found by' node2:2,node3:1

# Calls whose sizes two ranks alone know: by all routes that the schedule has for each pair.
for collective in alltoallv neighbor_alltoallv; do
  expect 'whole.sched by host (found by' node4:1,node2:1,node1:1,node3:1
done
collective=alltoall

# In steps, and other collectives: along packed trees and a ring without contention.
generate mcf-steps torus:2x2 whole
expect 'whole.sched by host (found by' node4:1,node2:1,node1:1,node3:1 --mca coll_topo_pace steps
for collective in allgather reduce_scatter allreduce; do
  generate forest torus:2x2 "$collective" -c "$collective"
  expect "$collective.sched by host (found by" node4:1,node2:1,node1:1,node3:1
  generate lr3 torus:2x2/ranks:2 "$collective-ring" -c "$collective"
  expect "$collective-ring.sched (found by" node1:2,node2:2,node3:2,node4:2
done
exit $failed
