#!/bin/sh
# every_allocation.sh BUILD INJECTOR WHO CALL RANK: whichever allocation of the component's or the shim's (WHO) fails, on
# RANK of two, the call returns an error there, or right data: no crash, no wrong data, and that rank does not wait.
set -u
build=$1 injector=$2 who=$3 call=$4 rank=$5
. "$(dirname "$(realpath "$0")")/job.sh"

if [ "$who" = shim ]; then
  options="--mca coll ^topo -x LD_PRELOAD=$build/lib/libcolltopo_mpi.so:$injector -x FAILING_LIBRARY=libcolltopo_mpi"
else
  options="-x LD_PRELOAD=$injector -x FAILING_LIBRARY=mca_coll_topo"
fi
k=1
while :; do
  output=$(timeout -k 2 120 "$here/run.sh" "$build" 1 2 $options "$build/bin/mpi_every_allocation" "$call" "$rank" $k 2>&1)
  if echo "$output" | grep -q "^k [0-9]* rank [0-9]* CRASHES\|^k [0-9]* rank [0-9]* WRONG\|^k [0-9]* rank $rank HANGS"; then
    fail "$who, $call: $(echo "$output" | grep '^k ' | head -2)"
  fi
  echo "$output" | grep -q '^done' && break
  last=$(echo "$output" | sed -n 's/^k \([0-9]*\) rank.*/\1/p' | head -1)
  if [ -z "$last" ]; then
    fail "$who, $call, from the ${k}th allocation: $output"
    break
  fi
  k=$((last + 1))
done
echo "$who, $call on rank $rank: $k allocations"
exit $failed
