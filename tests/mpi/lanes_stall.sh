#!/bin/sh
# lanes_stall.sh BUILD: a lane over which nothing gets through for a while, under a job. In a network of its own with two
# devices: all ranks give the lane up together, calls go on while it is gone again, and it comes back. Values are right
# throughout.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/two_lanes.sh"

scratch=$(mktemp -d)
job=
: >"$scratch/calls" >"$scratch/said"
end() {
  [ -z "$job" ] || kill "$job" 2>/dev/null
  rm -rf "$scratch"
}
trap end EXIT
fail() {
  echo "FAILED: $*" >&2
  cat "$scratch/said" >&2
  tail -n 3 "$scratch/calls" >&2
  exit 1
}

# To a neighbour that is not there.
ip neighbour add 10.9.9.9 lladdr 02:00:00:00:00:99 dev lane0
ip route add 10.9.1.1 via 10.9.9.9 dev lane0 onlink table 77
cut() { ip rule add pref 10 to 10.9.1.1 lookup 77; }
restore() { ip rule del pref 10; }

# until_said PATTERN SECONDS
until_said() {
  tries=0
  until grep -q "$1" "$scratch/said"; do
    tries=$((tries + 1))
    [ "$tries" -le $((10 * $2)) ] || fail "no '$1' in $2 s"
    sleep 0.1
  done
}
calls() { wc -l <"$scratch/calls"; }
# until_calls MORE SECONDS
until_calls() {
  wanted=$(($(calls) + $1)) tries=0
  until [ "$(calls)" -ge "$wanted" ]; do
    tries=$((tries + 1))
    [ "$tries" -le $((10 * $2)) ] || fail "not $1 more calls in $2 s"
    sleep 0.1
  done
}

"$build/bin/colltopo" generate ewsp ring:4 -o "$scratch/ring.sched" >/dev/null || exit 1
export OMPI_MCA_coll_topo_watch=1 OMPI_MCA_coll_topo_lane_patience_s=1 OMPI_MCA_coll_topo_verbose=1
export OMPI_MCA_coll_topo_alltoall_algorithm="file:$scratch/ring.sched"
timeout -k 3 130 "$here/run.sh" "$build" 1 4 "$build/bin/mpi_loop" 65 262144 >"$scratch/calls" 2>"$scratch/said" &
job=$!
until_calls 20 20
cut
sleep 4
restore
until_said 'lane 1 given up, .* rank [0-3] waited' 20
# Longer than the lane rests: a message tries it meanwhile, and must not be taken for heard.
cut
case $(ip route get 10.9.1.1) in *'via 10.9.9.9'*) ;; *) fail "the cut cuts nothing: $(ip route get 10.9.1.1)" ;; esac
second=0
while [ "$second" -lt 14 ]; do
  until_calls 2 3
  sleep 1
  second=$((second + 1))
done
grep -q 'used again' "$scratch/said" && fail "a lane is used again over which nothing gets through"
restore
until_said 'lane 1 used again' 30
until_calls 20 10
wait "$job" || fail "the job ends with status $?"
job=
[ "$(grep -c 'given up' "$scratch/said")" = 1 ] || fail "more than one line about the stall"
grep -q "using MPI's messages" "$scratch/said" && fail "the job left its lanes"
exit 0
