#!/bin/sh
# lanes_cut.sh BUILD: a lane over which nothing gets through. In a network of its own with two devices, where packets to the
# second one's address are refused or lost, all ranks go by MPI's messages, and one line says who did not reach whom.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/two_lanes.sh"
failed=0

fail() {
  echo "FAILED: $*" >&2
  failed=1
}

export OMPI_MCA_coll_topo_connect_timeout_s=30
"$build/bin/colltopo" generate ewsp ring:4 -o "/tmp/lanes_cut.$$.sched" >/dev/null
trap 'rm -f /tmp/lanes_cut.$$.sched' EXIT

# run served|lent
run() { timeout -k 3 50 "$here/run.sh" "$build" 1 4 "$build/bin/mpi_lanes" "$1" "file:/tmp/lanes_cut.$$.sched" 2>&1; }

output=$(run served) || fail "before the cut: $output"
case $output in *coll/topo:*) fail "before the cut: $output" ;; esac

# cut WORDS: one line with the words, and right values; the parts of the world whose schedules have one lane keep it.
cut() {
  output=$(run partly) || fail "$1: $output"
  lines=$(printf '%s\n' "$output" | grep -e coll/topo: -e 'UCX  ' | sed 's/^\[[^]]*\] //' | sort -u)
  printf '%s\n' "$lines" | grep -v "rank [0-3] .* rank [0-3] on lane 1: .*$1.*; using MPI's messages (transport pml)" | grep . && fail "$1: lines with other words: $output"
  [ -n "$lines" ] || fail "$1: not a word: $output"
}

ip rule add pref 10 to 10.9.1.1 unreachable
cut 'nreachable'
ip rule del pref 10
# To a neighbour that is not there.
ip neighbour add 10.9.9.9 lladdr 02:00:00:00:00:99 dev lane0
ip route add 10.9.1.1 via 10.9.9.9 dev lane0 onlink table 77
ip rule add pref 10 to 10.9.1.1 lookup 77
export OMPI_MCA_coll_topo_connect_timeout_s=5
cut 'no connection in time'
exit $failed
