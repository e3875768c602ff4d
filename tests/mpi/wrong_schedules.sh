#!/bin/sh
# wrong_schedules.sh BUILD: more than forty kinds of wrong schedule, sealed and with a proof line that lies: none runs, in
# the component and in the shims, by rules and in a folder, and one line each says why. Of files too large to be proved none
# runs whose ranks do not send what others receive; a right one does.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"
export XDG_CACHE_HOME="$scratch/cache"

# make WHERE FILES ARGUMENTS...: at least so many files in a folder of the scratch folder.
make() {
  where=$scratch/$1 files=$2
  shift 2
  mkdir "$where"
  python3 "$here/wrong_schedules.py" "$@" || exit 1
  [ "$(wc -l <"$where/calls.txt")" -ge "$files" ] || fail "$where: fewer than $files files"
  # A job says no more than some thirty lines.
  split -n l/2 "$where/calls.txt" "$where/calls."
}

# run HOW WHERE COMMAND...: each file is named in one line, which says that its calls are left to others; a right one is in use.
run() {
  how=$1 where=$scratch/$2
  shift 2
  for calls in "$where"/calls.a?; do
    timeout 50 "$@" "$calls" >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; fail "$how: wrong values"; }
    while read -r collective _ name; do
      lines=$(grep "/$name.sched" "$scratch/said")
      if [ "$name" = right ]; then
        expected="$collective of .*: file:"
      else
        expected="does not run; "
      fi
      [ "$(echo "$lines" | wc -l)" -eq 1 ] || fail "$how: more than one line about $name: $lines"
      echo "$lines" | grep -q "$expected" || fail "$how: not what becomes of $name: $lines"
    done <"$calls"
  done
}

make rules 40 "$scratch/rules"
run component rules mpirun -np 4 --mca coll_topo_rules "$scratch/rules/rules.json" "$build/bin/mpi_wrong_schedules"
if [ -f "$build/lib/libcolltopo_mpi.so" ]; then
  run shim rules mpirun -np 4 --mca coll ^topo env LD_PRELOAD="$build/lib/libcolltopo_mpi.so" \
    COLLTOPO_RULES="$scratch/rules/rules.json" "$build/bin/mpi_wrong_schedules"
fi
if [ -f "$build/lib/libcolltopo_mpich.so" ] && [ -x "$build/bin/wrong_schedules.mpich" ]; then
  run "shim of MPICH" rules mpirun.mpich -np 4 env LD_PRELOAD="$build/lib/libcolltopo_mpich.so" \
    COLLTOPO_RULES="$scratch/rules/rules.json" "$build/bin/wrong_schedules.mpich"
fi
[ -z "$(ls "$scratch/cache/colltopo/proofs" 2>/dev/null)" ] || fail "something is remembered of files that are wrong"

make large 10 --large "$scratch/large"
run "too large to be proved" large mpirun -np 4 --mca coll_topo_rules "$scratch/large/rules.json" \
  --mca coll_topo_verbose 1 "$build/bin/mpi_wrong_schedules"

if unshare --uts true 2>/dev/null; then
  "$build/bin/colltopo" generate linear torus:2x2 -o "$scratch/one.sched" >/dev/null || fail "no schedule of torus:2x2"
  make folder 40 "$scratch/folder" "$(sed -n 's/^topology \([^ ]*\) .*/\1/p' "$scratch/one.sched")" torus:2x2
  printf 'node1\nnode2\nnode3\nnode4\n' >"$scratch/hosts"
  run folder folder "$here/run.sh" "$build" 4 4 --mca coll_topo_topology torus:2x2 --mca coll_topo_hosts "$scratch/hosts" \
    --mca coll_topo_schedules "$scratch/folder" "$build/bin/mpi_wrong_schedules"
fi
exit "$failed"
