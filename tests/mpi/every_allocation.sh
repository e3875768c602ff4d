#!/bin/sh
# every_allocation.sh BUILD INJECTOR WHO CALL: whichever allocation of the component's or the shim's (WHO) fails on one
# rank, its call returns an error there, or right data: no crash, no wrong data, and that rank does not wait. In each
# form of the call; first and later calls; served by an algorithm, and left to the library; the first rank and the last.
set -u
build=$1 injector=$2 who=$3 call=$4
. "$(dirname "$(realpath "$0")")/job.sh"

if [ "$who" = shim ]; then
  options="--mca coll ^topo -x LD_PRELOAD=$build/lib/libcolltopo_mpi.so:$injector -x FAILING_LIBRARY=libcolltopo_mpi"
else
  options="-x LD_PRELOAD=$injector -x FAILING_LIBRARY=mca_coll_topo"
fi
# setting NAME VALUE, as WHO reads it
setting() {
  if [ "$who" = shim ]; then
    echo "-x COLLTOPO_$(echo "$1" | tr a-z A-Z)=$2"
  else
    echo "--mca coll_topo_$1 $2"
  fi
}
case $call in
  neighbor_*) name=neighborhood ;;
  reduce_scatter_block) name=reduce_scatter ;;
  *) name=$call ;;
esac
case $call in
  alltoall | neighbor_allgatherv) rows="tra" ;;
  alltoallv | neighbor_alltoallv) rows="linear tra" ;;
  alltoallw | neighbor_alltoallw) rows="pairwise node-pairs" ;;
  *gather | reduce_scatter* | allgatherv) rows="ring" ;;
  allreduce) rows="recursive-doubling" ;;
  bcast | reduce | scatter) rows="binomial" ;;
  *) rows="linear" ;;
esac
[ "$call" != gather ] || rows="binomial"
[ "$call" != neighbor_allgather ] || rows="linear"

# tries RANKS VICTIM FORM WINDOW [mpirun options]: in one process as long as an allocation fails, then in new ones from
# further on, where nothing is known yet and more is allocated, until one allocates no more than that.
tries() {
  ranks=$1 victim=$2 form=$3 window=$4
  shift 4
  what="$who, $form, rank $victim of $ranks, $window calls, $*"
  from=1 errors=0 tried=0
  while :; do
    head -c 4096 /dev/zero >"$scratch/note"
    timeout -k 2 600 "$here/run.sh" "$build" 1 "$ranks" $options "$@" "$build/bin/mpi_every_allocation" "$call" "$form" \
      "$victim" "$window" "$from" "$scratch/note" >"$scratch/said" 2>&1
    tail -c +9 "$scratch/note" | tr -d '\0' >"$scratch/found"
    found=$(grep '^k [0-9]' "$scratch/found" | head -3)
    line=$(grep '^done after\|^go on from' "$scratch/found")
    if [ -n "$found" ] || [ -z "$line" ]; then
      fail "$what, from the ${from}th allocation: ${found:-$(head -5 "$scratch/said")}"
      return
    fi
    errors=$((errors + $(echo "$line" | sed 's/.*, \([0-9]*\) errors/\1/')))
    to=$(echo "$line" | sed 's/^[a-z ]*\([0-9]*\),.*/\1/')
    [ "$to" -lt "$from" ] || tried=$((tried + to - from + 1))
    case $line in
      done*) [ "$to" -ge "$from" ] || break && from=$((2 * to + 1)) ;;
      *) from=$to ;;
    esac
  done
  echo "$call: $what: $tried allocations of up to $from, $errors errors"
  all=$((all + tried))
}

# all_of FORM: by each row, and by what the library has.
all_of() {
  for row in $rows; do
    tries 3 2 "$1" first $(setting ${name}_algorithm "$row")
    tries 2 0 "$1" later $(setting ${name}_algorithm "$row")
    tries 3 0 "$1" lasting $(setting ${name}_algorithm "$row")
  done
  tries 2 0 "$1" first
  tries 3 1 "$1" first
  tries 3 2 "$1" later $(setting trial_after 1)
}

all=0
all_of blocks
if [ "$who" = component ]; then
  all_of waits
  all_of starts
fi
echo "$who, $call: $all allocations in all"
exit $failed
