#!/bin/sh
# lanes_stall.sh BUILD: a lane over which nothing gets through for a while, under a job. In a network of its own with two
# devices: all ranks give the lane up together, calls go on while it is gone again, and it comes back. Values are right
# throughout.
set -u
build=$1
here=$(dirname "$(realpath "$0")")
if [ ! -f "$build/lib/libcolltopo_ucx.so" ]; then
  echo "SKIP: built without UCX" >&2
  exit 77
fi
if [ "${2:-}" != inside ]; then
  if ! unshare --net true 2>/dev/null; then
    echo "SKIP: a network of its own needs 'unshare --net', which is not permitted here" >&2
    exit 77
  fi
  # /sys shows the devices of the network that it was mounted in.
  exec unshare --net --mount sh -c 'mount -t sysfs sysfs /sys && exec "$0" "$1" inside' "$0" "$build"
fi

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

ip link set lo up
for lane in 0 1; do
  ip link add "lane$lane" type veth peer name "other$lane" || exit 77
  ip address add "10.9.$lane.1/32" dev "lane$lane"
  ip link set "lane$lane" up
  ip link set "other$lane" up
done
# Rules before the table of local addresses, which would answer itself; and a neighbour that is not there.
ip rule add pref 100 lookup local && ip rule del pref 0
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
export UCX_TLS=tcp,self OMPI_MCA_coll_topo_transport=ucx OMPI_MCA_coll_topo_lanes=device:lane0,lane1
export OMPI_MCA_coll_topo_watch=1 OMPI_MCA_coll_topo_lane_patience_s=1 OMPI_MCA_coll_topo_verbose=1
export OMPI_MCA_coll_topo_alltoall_algorithm="file:$scratch/ring.sched"
export OMPI_MCA_btl=vader,self OMPI_MCA_oob_tcp_if_include=lo
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
