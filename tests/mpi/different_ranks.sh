#!/bin/sh
# different_ranks.sh BUILD CASE: ranks on made-up hosts that are told different things, or find different files under one
# path. The next component serves on all ranks, one line names the difference, values are right, nobody waits for ever.
set -u
build=$1 name=$2
. "$(dirname "$(realpath "$0")")/job.sh"
. "$(dirname "$(realpath "$0")")/made_up_nodes.sh"
if ! unshare --uts true 2>/dev/null; then
  echo "SKIP: several hosts on one need 'unshare --uts', which is not permitted here" >&2
  exit 77
fi
colltopo=$build/bin/colltopo
mkdir "$scratch/here" "$scratch/there"

# make FOLDER ARGUMENTS...: a file by the command, in a folder.
make() (
  cd "$scratch/$1" && shift && "$colltopo" "$@" >"$scratch/report" 2>&1 || { cat "$scratch/report" >&2; exit 1; }
)

# on THERE [mpirun options]: four hosts with a rank each, of which the last THERE work in the folder `there`, with what the
# variable `told` says in their environment. One program for all: mpirun of Open MPI 5.0 over another's PMIx ends with a fault
# when there are several (open-mpi/ompi#13303).
told=none=
on() {
  there=$1
  shift
  # shellcheck disable=SC2016
  timeout -k 3 50 mpirun --mca plm_rsh_agent "$here/fakersh" --host node1:1,node2:1,node3:1,node4:1 "$@" -np 4 sh -c '
    [ "$OMPI_COMM_WORLD_RANK" -ge "$1" ] || { cd "$2/here" && exec "$3"; }
    cd "$2/there" && exec env "$4" "$3"' sh $((4 - there)) "$scratch" "$build/bin/mpi_settings" "$told" 2>&1
}

# differs WORDS THERE [mpirun options]: as above, and one line of coll/topo with the words; `calls` says which may be served.
calls='served=0 '
differs() {
  words=$1
  shift
  output=$(on "$@")
  status=$?
  [ $status -ne 124 ] && [ $status -ne 137 ] || fail "$*: ranks wait for ever: $output"
  [ $status -eq 0 ] || fail "$*: the job ended with $status: $output"
  printf '%s\n' "$output" | grep -q "$calls" || fail "$*: not '$calls': $output"
  # What there is no schedule for at all is another matter.
  lines=$(printf '%s\n' "$output" | grep -o 'coll/topo: .*' | grep -v ': no schedule for ' | sort -u)
  [ "$(printf '%s\n' "$lines" | wc -l)" -eq 1 ] || fail "$*: one line expected, not: $lines"
  printf '%s\n' "$lines" | grep -Eq "coll/topo: .*($words)" || fail "$*: no line that names the difference ($words): $output"
}

case $name in
  topology)  # sides 2 and 2 for some, 4 for others: their peers are not the same
    make here topology torus:2x2 -o net.json
    make there topology ring:4 -o net.json
    for algorithm in swing mirrored auto; do
      differs 'topologies under net.json' 2 --mca coll_topo_topology net.json --mca coll_topo_allreduce_algorithm $algorithm
    done
    differs 'topologies under net.json' 1 --mca coll_topo_topology net.json --mca coll_topo_allreduce_algorithm ring
    rm "$scratch/there/net.json"
    differs net.json 1 --mca coll_topo_topology net.json --mca coll_topo_allreduce_algorithm swing
    ;;
  settings)
    told=OMPI_MCA_coll_topo_alltoall_algorithm=linear
    differs alltoall_algorithm 2 --mca coll_topo_allreduce_algorithm ring
    told=OMPI_MCA_coll_topo_alltoall_radix=3
    differs alltoall_radix 1
    told=OMPI_MCA_coll_topo_segment_bytes=65536
    differs segment_bytes 3 --mca coll_topo_allreduce_algorithm ring
    ;;
  schedules)  # of the same collective for the same number of ranks; the other collectives have no file
    make here generate ring torus:2x2 -c allreduce -o all.sched
    make there generate recursive-doubling torus:2x2 -c allreduce -o all.sched
    calls='served=0 '
    alone='--mca coll_topo_choice off --mca coll_topo_allreduce_algorithm file:all.sched'  # nothing is the model's
    differs all.sched 2 $alone
    differs all.sched 1 $alone
    # Damaged on one host after its seals were made.
    cp "$scratch/here/all.sched" "$scratch/there/all.sched"
    printf 'x' | dd of="$scratch/there/all.sched" bs=1 seek=40 conv=notrunc 2>/dev/null
    differs all.sched 1 $alone
    rm "$scratch/there/all.sched"
    differs all.sched 2 $alone
    ;;
  folders)  # found by topology; the model decides instead, on all ranks
    mkdir "$scratch/here/schedules" "$scratch/there/schedules"
    make here generate forest torus:2x2 -c allreduce -o schedules/all.sched
    make there generate ring torus:2x2 -c allreduce -o schedules/all.sched
    calls='served='
    differs 'schedules/all.sched|schedules' 2 --mca coll_topo_topology torus:2x2 --mca coll_topo_hosts node1,node2,node3,node4 \
      --mca coll_topo_schedules schedules --mca coll_topo_schedules_from_bytes 0
    ;;
  rules)
    rule() {
      printf '{"rule_file_version": 3, "module": "topo", "collectives": {"alltoall": [{"rules": [{"alg": "%s"}]}]}}\n' "$1"
    }
    rule linear >"$scratch/here/rules.json"
    rule pairwise >"$scratch/there/rules.json"
    differs rules.json 2 --mca coll_topo_rules rules.json
    rm "$scratch/there/rules.json"
    differs rules.json 1 --mca coll_topo_rules rules.json
    ;;
  *) fail "no such case" ;;
esac
exit $failed
