#!/bin/sh
# lanes.sh BUILD PORT what...: coll_topo_transport=ucx over loopback TCP, at ports from PORT on.
#
#   serves       every collective on 2 3 4 5 8 ranks, over several lanes, eager and by rendezvous, beside pml ob1 and ucx
#   requests     calls that do not block, and persistent ones, over the same
#   falls_back   what cannot be had is one line, and the results are right
#   full         more plans than a communicator remembers, and a turn that meets a blocking call
#   ends         a rank that leaves, and one that aborts
set -u
build=$1 port=$2 what=$3
. "$(dirname "$(realpath "$0")")/job.sh"
program=$build/bin/mpi_lanes

if [ ! -f "$build/lib/libcolltopo_ucx.so" ]; then
  echo "SKIP: built without UCX" >&2
  exit 77
fi
export UCX_TLS=tcp,self UCX_NET_DEVICES=lo OMPI_MCA_coll_topo_transport=ucx
beside_ucx='--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any --mca osc ^ucx'

# on RANKS [mpirun options] PROGRAM [ARGS]
on() { timeout -k 3 50 "$here/run.sh" "$build" 1 "$@" 2>&1; }

# served RANKS [mpirun options] program and arguments: right and without a word.
served() {
  output=$(on "$@") || fail "$*: $output"
  case $output in *coll/topo:*) fail "$*: $output" ;; esac
}

# lent WORDS RANKS [mpirun options] program and arguments: right, with one line that contains the words; the lowest rank
# of each communicator says it once.
lent() {
  words=$1
  shift
  output=$(on "$@") || fail "$*: $output"
  [ "$(printf '%s\n' "$output" | grep -e coll/topo: -e 'UCX  ' | sed 's/^\[[^]]*\] //' | sort -u | wc -l)" -eq 1 ] || fail "$*: one line expected: $output"
  printf '%s\n' "$output" | grep -q "coll/topo: .*$words.*; using MPI's messages (transport pml)" || fail "$*: no line with '$words': $output"
}

generate() { "$build/bin/colltopo" generate "$1" "$2" -o "$scratch/$3.sched" >/dev/null || fail "generate $1 $2"; }
# The lanes of a schedule as the first ports of lanes.
ports_of() { sed -n 's/.* lane \([0-9]*\) .*/\1/p' "$scratch/$1.sched" | sort -un | while read -r lane; do echo $((port + 1000 * lane)); done; }
most_lanes() { sed -n 's/.* lane \([0-9]*\) .*/\1/p' "$scratch/$1.sched" | sort -n | tail -1; }

case $what in
serves)
  generate ewsp ring:4 four
  generate mcf bipartite:4:4 eight
  for ranks in 2 3 5; do served "$ranks" --mca coll_topo_lanes "ports:$port:2" "$program" served pairwise "$port"; done
  for ranks in four:4 eight:8; do
    name=${ranks%:*}
    ports=$(ports_of "$name")
    [ -n "$ports" ] || fail "$name.sched has one lane only"
    lanes=ports:$port:$(($(most_lanes "$name") + 1))
    # shellcheck disable=SC2086
    served "${ranks#*:}" --mca coll_topo_lanes "$lanes" "$program" served "file:$scratch/$name.sched" $ports
    # shellcheck disable=SC2086
    UCX_RNDV_THRESH=2K served "${ranks#*:}" --mca coll_topo_lanes "$lanes" "$program" served "file:$scratch/$name.sched" $ports
  done
  # shellcheck disable=SC2086
  served 4 $beside_ucx --mca coll_topo_lanes "ports:$port:2" "$program" served "file:$scratch/four.sched" $(ports_of four)
  served 4 --mca coll_topo_lanes shared "$program" served "file:$scratch/four.sched"
  served 4 --mca coll_topo_lanes device:lo,lo "$program" served "file:$scratch/four.sched"
  served 4 --mca coll_topo_segment_bytes 4K "$program" served linear
  served 3 "$build/bin/mpi_errors"
  # Through shared memory, as UCX would by itself.
  UCX_TLS=all UCX_NET_DEVICES=all served 3 "$program" served linear
  ;;
requests)
  generate ewsp ring:4 four
  requests=$build/bin/mpi_lanes_requests
  for ranks in 2 3 5; do served "$ranks" "$requests" linear; done
  for threshold in inf 2K; do
    UCX_RNDV_THRESH=$threshold served 4 --mca coll_topo_lanes "ports:$port:2" "$requests" "file:$scratch/four.sched"
    UCX_RNDV_THRESH=$threshold served 3 "$build/bin/mpi_nonblocking"
  done
  served 4 --mca coll_topo_lanes shared "$requests" "file:$scratch/four.sched"
  served 3 "$build/bin/mpi_persistent"
  served 4 "$build/bin/mpi_nonblocking_threads"
  # Through shared memory, as UCX would by itself.
  UCX_TLS=all UCX_NET_DEVICES=all served 3 "$requests" linear
  ;;
falls_back)
  generate mcf bipartite:4:4 eight
  lent "lane 0: UCX has no network device 'nowhere' here (UCX: .*lo" 4 --mca coll_topo_lanes device:nowhere,lo "$program" lent linear
  lent "lane 1: UCX has no network device 'nowhere' here" 4 --mca coll_topo_lanes device:lo,nowhere "$program" lent linear
  lent 'UCX has no InfiniBand or RoCE device here to set LID_PATH_BITS of' 4 --mca coll_topo_lanes lid-bits:0,1 "$program" lent linear
  lent 'takes none from its caller; use' 4 --mca coll_topo_lanes path-index:0,1 "$program" lent linear
  lent "rank . has messages on lane [0-9], but lanes '' has 1" 8 "$build/bin/colltopo-bench" --collective alltoall --bytes 1K --check --algorithm "file:$scratch/eight.sched"
  # One rank cannot have what the others have.
  lent "rank 0: lanes 'ports:$port:2': lane .*open files" 3 --mca coll_topo_lanes "ports:$port:2" \
    sh -c 'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then ulimit -n 24; fi; exec "$@"' sh "$program" lent linear
  # A library that is not there.
  mkdir -p "$scratch/openmpi"
  cp "$build/lib/openmpi/"* "$scratch/openmpi"
  lent 'there is no libcolltopo_ucx.so in' 3 env OMPI_MCA_mca_base_component_path="SYSTEM_DEFAULT:$scratch/openmpi" "$program" lent linear
  output=$(on 3 --mca coll_topo_lanes cables:1 "$build/bin/mpi_settings") || fail "cables: $output"
  printf '%s\n' "$output" | grep -q "coll/topo: lanes is 'cables:1'; must be auto, shared" || fail "cables: $output"
  ;;
full)
  {
    printf '{"rule_file_version": 3, "module": "topo", "collectives": {"bcast": [{"rules": ['
    for ints in $(seq 512); do
      printf '{"msg_size_min": %d, "msg_size_max": %d, "alg": "chain:pieces=%d"},' $((4 * ints)) $((4 * ints)) "$ints"
    done
    printf '{"alg": "binomial"}]}]}}\n'
  } >"$scratch/rules.json"
  served 2 --mca coll_topo_rules "$scratch/rules.json" --mca coll_topo_allreduce_algorithm ring \
    --mca coll_topo_allgather_algorithm ring --mca coll_topo_gather_algorithm binomial \
    --mca coll_topo_scatter_algorithm binomial --mca coll_topo_reduce_algorithm binomial \
    --mca coll_topo_alltoall_algorithm linear --mca coll_topo_reduce_scatter_algorithm ring "$build/bin/mpi_lanes_full"
  ;;
ends)
  for ranks in 2 4; do
    output=$(on "$ranks" --mca orte_allowed_exit_without_sync 1 --mca prte_allowed_exit_without_sync 1 "$build/bin/mpi_lanes_end") || fail "a rank of $ranks leaves: $output"
    errors=$(printf '%s\n' "$output" | grep -c ': error after 3 calls')
    [ "$errors" -eq $((ranks - 1)) ] || fail "a rank of $ranks leaves: $errors ranks got an error: $output"
  done
  started=$(date +%s)
  on 4 sh -c '"$@" & job=$!; if [ "$OMPI_COMM_WORLD_RANK" = 2 ]; then sleep 1; kill -9 $job; fi; wait $job' sh \
    "$build/bin/colltopo-bench" --collective alltoall --bytes 64K --algorithm linear --iterations 1000000 >"$scratch/killed"
  [ $(($(date +%s) - started)) -lt 40 ] || fail "a rank is killed: the job hangs: $(cat "$scratch/killed")"
  ;;
esac
exit $failed
