#!/bin/sh
# symmetric.sh BUILD: the component runs a schedule that repeats under a group of symmetries, every rank making its own
# part, forced by file and found in a folder; every value is checked. A damaged file is refused once, and the call served.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"

colltopo=$build/bin/colltopo
"$colltopo" generate mcf torus:2x3 --parametric -o "$scratch/torus.sched" >/dev/null || fail "generate torus:2x3"
grep -q '^orbits 1 ' "$scratch/torus.sched" || fail "the file of torus:2x3 has no orbits"
"$colltopo" generate mcf ring:3/ranks:2 --parametric -o "$scratch/ranks.sched" >/dev/null || fail "generate ring:3/ranks:2"
"$colltopo" generate mcf kautz:6:2 --parametric -o "$scratch/kautz.sched" >/dev/null || fail "generate kautz:6:2"

# run FILE: a checked alltoall on 6 ranks by the file.
run() {
  timeout -k 3 60 mpirun -np 6 --mca coll_topo_verbose 1 --mca coll_topo_alltoall_algorithm "file:$1" \
    "$build/bin/colltopo-bench" --collective alltoall --algorithm set --bytes 8,1K,100K --check 2>&1
}
for name in torus ranks kautz; do
  output=$(run "$scratch/$name.sched") || fail "$name: the job failed: $output"
  printf '%s\n' "$output" | grep -q "alltoall.*$name.sched" || fail "$name: coll/topo does not say that it ran the file: $output"
done

# A generator that is none: the file is refused, and somebody else serves the call.
sed 's/^turn 1 order 3/turn 1 order 6/' "$scratch/torus.sched" >"$scratch/bent.sched"
output=$(run "$scratch/bent.sched") || fail "bent: the job failed: $output"
[ "$(printf '%s\n' "$output" | grep -c 'bent.sched:[0-9]*: seal')" = 1 ] || fail "bent: expected one line about its seal: $output"
exit $failed
