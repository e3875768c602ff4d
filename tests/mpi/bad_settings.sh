#!/bin/sh
# bad_settings.sh BUILD: a wrong parameter is said in one line that names the value; the job goes on, right on every rank.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"
program=$build/bin/mpi_settings

# expect_line NAME VALUE WORDS: with the parameter wrong, one warning of coll/topo that contains the words.
expect_line() {
  output=$(timeout -k 3 50 "$here/run.sh" "$build" 1 4 --mca "coll_topo_$1" "$2" $program 2>&1) || fail "$1=$2: the job failed: $output"
  lines=$(printf '%s\n' "$output" | grep -c 'coll/topo: ')
  [ "$lines" -eq 1 ] || fail "$1=$2: one line expected, not $lines: $output"
  printf '%s\n' "$output" | grep -q "coll/topo: .*$3" || fail "$1=$2: no line with '$3': $output"
}

expect_line alltoall_algorithm nonsense "'nonsense'.*must be one of"
expect_line alltoall_algorithm ring "'ring'.*must be one of"
expect_line alltoall_radix 1 'alltoall_radix is 1; must be'
expect_line alltoall_radix two "'two'.*must be"
expect_line group 0 "'0'.*must be"
expect_line alltoall_algorithm "file:$scratch/none.sched" none.sched
expect_line segment_bytes many "'many'.*must be"
printf 'topo-schedule 1\nname broken\n' >"$scratch/broken.sched"
expect_line alltoall_algorithm "file:$scratch/broken.sched" broken.sched

# Files that are deep, without an end or no files: refused at once. Agreement of a first call that does not block runs on a
# fiber's small stack.
python3 -c "k=100000; print('{\"colltopo-topology\":1,\"hosts\":2,\"links\":['+'['*k+']'*k+']}')" >"$scratch/deep.json"
python3 -c "k=12000
print('{\"rule_file_version\":3,\"collectives\":{\"alltoall\":[{\"comm_size_min\":'+'['*k+']'*k+',\"rules\":[]}]}}')" >"$scratch/rules.json"
mkfifo "$scratch/pipe"
expect_line topology "$scratch/deep.json" 'deep.json:1: lists and objects are more than 100 deep'
expect_line rules "$scratch/rules.json" 'rules.json:1: lists and objects are more than 100 deep'
program="$build/bin/mpi_settings not-blocking"
expect_line rules "$scratch/rules.json" 'rules.json:1: lists and objects are more than 100 deep'
program=$build/bin/mpi_settings
expect_line rules /dev/zero '/dev/zero: cannot be read: it is a device'
expect_line decisions /dev/full '/dev/full: cannot be read: it is a device'
expect_line rules "$scratch/pipe" 'pipe: cannot be read: it is a pipe'

# rank_0_else FIRST OTHERS: a job whose rank 0 is told one algorithm and the others another, or none. Not by mpirun's colon, with
# which that of Open MPI 5.0.7 crashes.
rank_0_else() {
  timeout -k 3 50 "$here/run.sh" "$build" 1 4 env FIRST="$1" OTHERS="$2" sh -c '
    if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then algorithm=$FIRST; else algorithm=$OTHERS; fi
    if [ -n "$algorithm" ]; then export OMPI_MCA_coll_topo_alltoall_algorithm="$algorithm"; fi
    exec "$0"' "$program" 2>&1
}

# Ranks that are told different things agree that nobody serves.
output=$(rank_0_else linear pairwise) || fail "different settings: the job failed: $output"
printf '%s\n' "$output" | grep -q 'coll/topo: .*different values of' || fail "different settings: not said: $output"
printf '%s\n' "$output" | grep -q 'served=0 ' || fail "different settings: some calls were served: $output"

# A value that only one rank has, and that is wrong.
output=$(rank_0_else nonsense "") || fail "one wrong rank: the job failed: $output"
printf '%s\n' "$output" | grep -q 'served=0 ' || fail "one wrong rank: some calls were served: $output"

# Told nothing wrong, it says nothing.
output=$(timeout -k 3 50 "$here/run.sh" "$build" 1 4 --mca coll_topo_alltoall_algorithm linear "$program" 2>&1) || fail "the job failed: $output"
case $output in *coll/topo:*) fail "nothing to say, yet: $output" ;; esac

# Asked to, it says what it does, once per communicator and collective.
output=$(timeout -k 3 50 "$here/run.sh" "$build" 1 4 --mca coll_topo_alltoall_algorithm linear --mca coll_topo_verbose 1 "$program" 2>&1) ||
  fail "verbose: the job failed: $output"
lines=$(printf '%s\n' "$output" | grep -c 'coll/topo: alltoall of 4 bytes on 4 ranks.*: linear')
[ "$lines" -eq 2 ] || fail "verbose: a line for each of two communicators expected, not $lines: $output"
exit $failed
