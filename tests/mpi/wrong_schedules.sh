#!/bin/sh
# wrong_schedules.sh BUILD: more than forty kinds of wrong schedule, sealed and with a proof line that lies: none runs, in
# the component and in the shim, and one line each says why.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"
export XDG_CACHE_HOME="$scratch/cache"
python3 "$here/wrong_schedules.py" "$scratch" || exit 1
[ "$(wc -l <"$scratch/calls.txt")" -ge 40 ] || fail "fewer than 40 files"
# A job says no more than some thirty lines.
split -n l/2 "$scratch/calls.txt" "$scratch/calls."

# run HOW COMMAND...: each file is named in one line, which says that its calls are left to others.
run() {
  how=$1
  shift
  for calls in "$scratch"/calls.a?; do
    timeout 50 "$@" "$build/bin/mpi_wrong_schedules" "$calls" >"$scratch/said" 2>&1 \
      || { cat "$scratch/said" >&2; fail "$how: wrong values"; }
    while read -r _ _ name; do
      lines=$(grep -c "/$name.sched" "$scratch/said")
      [ "$lines" -eq 1 ] || fail "$how: $lines lines about $name, expected 1"
      grep "/$name.sched" "$scratch/said" | grep -q "does not run; using" || fail "$how: not why $name does not run"
    done <"$calls"
  done
}

run component mpirun -np 4 --mca coll_topo_rules "$scratch/rules.json"
if [ -f "$build/lib/libcolltopo_mpi.so" ]; then
  run shim mpirun -np 4 --mca coll ^topo env LD_PRELOAD="$build/lib/libcolltopo_mpi.so" \
    COLLTOPO_RULES="$scratch/rules.json"
fi
[ -z "$(ls "$scratch/cache/colltopo/proofs" 2>/dev/null)" ] || fail "something is remembered of files that are wrong"
exit "$failed"
