#!/bin/sh
# filed_collectives.sh BUILD RANKS: rings without contention and packed trees for networks of that many hosts, generated into
# folders and run by tests/mpi/filed_collectives.cpp.
set -u
build=$1 ranks=$2
. "$(dirname "$(realpath "$0")")/job.sh"

# make FOLDER ALGORITHM COLLECTIVES TOPO [options]
make() {
  folder=$scratch/$1 algorithm=$2 collectives=$3 network=$4
  shift 4
  mkdir "$folder"
  for collective in $collectives; do
    case $collective in
      bcast | reduce) root="--root $((ranks / 2))" ;;
      *) root= ;;
    esac
    # shellcheck disable=SC2086 # no option or two words
    "$build/bin/colltopo" generate "$algorithm" "$network" -c "$collective" $root "$@" -o "$folder/$collective.sched" \
      >"$scratch/report" || { cat "$scratch/report" >&2; exit 1; }
    "$build/bin/colltopo" verify "$folder/$collective.sched" --json >"$folder/$collective.json" || exit 1
  done
}
rings='allgather reduce_scatter allreduce'
trees="$rings bcast reduce"

# Hosts one after the other on leaf switches of three, those on a spine.
leaves=$(((ranks + 2) / 3))
leaf=1 first=1
while [ "$leaf" -le "$leaves" ]; do
  last=$((leaf * 3 < ranks ? leaf * 3 : ranks))
  echo "SwitchName=leaf$leaf Nodes=n[$first-$last]"
  first=$((last + 1)) leaf=$((leaf + 1))
done >"$scratch/topology.conf"
[ "$leaves" -eq 1 ] || echo "SwitchName=spine Switches=leaf[1-$leaves]" >>"$scratch/topology.conf"

# 16 ranks on few cores take turns for every message: they get fewer networks.
if [ "$ranks" -lt 16 ]; then
  make lr3-star lr3 "$rings" "switch:$ranks"
  make forest-switches forest "$trees" "switches:$scratch/topology.conf"
fi
make lr3-tree lr3 "$rings" "switches:$scratch/topology.conf" --seed 3
case $ranks in
  2) make forest forest "$trees" complete:2 ;;
  3) make forest-ring forest "$trees" ring:3 ;;
  4 | 8) make forest-cube forest "$trees" "hypercube:$((ranks / 4 + 1))" && make forest-ring forest "$trees" "ring:$ranks" ;;
  5 | 7) make forest-random forest "$trees" "complete:$ranks/drop-links:3:1" ;;
  16) make forest-random forest "$trees" jellyfish:16:3 ;;
esac
case $ranks in
  16) make forest-gpus forest "$trees" dgx-a100:2 ;;
  *) make forest-gpus forest "$trees" dgx-a100:1 --hosts "0-$((ranks - 1))" ;;
esac
"$here/run.sh" "$build" 1 "$ranks" "$build/bin/mpi_filed_collectives" "$scratch"/lr3-* "$scratch"/forest*
