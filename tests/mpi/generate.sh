#!/bin/sh
# generate.sh BUILD: colltopo generate under mpirun. The processes share the work, one of them writes, and a fault is said once
# and ends all.
set -u
build=$1
colltopo=$build/bin/colltopo
. "$(dirname "$(realpath "$0")")/job.sh"
cd "$scratch" || exit 1

together() {
  ranks=$1
  shift
  timeout -k 3 60 mpirun -np "$ranks" "$colltopo" generate "$@"
}

# holds EXPRESSION: of the JSON object `it` in answer.json.
holds() {
  python3 -c '
import json, sys
it = json.load(open("answer.json"))
sys.exit(0 if eval(sys.argv[1]) else 1)' "$1" || fail "not $1: $(cat answer.json)"
}

if ldd "$colltopo" | awk '{print $1}' | grep -q libmpi; then fail "the command links MPI"; fi

for ranks in 2 3; do
  rm -f spread.sched
  together $ranks mcf kautz:100:4 --json -o spread.sched >answer.json 2>said || fail "$ranks ranks: $(cat said)"
  # One JSON object, so one process has spoken.
  holds "it['verified'] and it['gap'] <= 0.01 and it['processes'] == $ranks"
  # 100 sources in every sweep, shared as evenly as can be.
  holds "len(it['trees_per_process']) == $ranks and max(it['trees_per_process']) * (100 // $ranks) == min(it['trees_per_process']) * -(-100 // $ranks)"
  "$colltopo" verify spread.sched --on kautz:100:4 >said 2>&1 || fail "$ranks ranks: $(cat said)"
  # One process has opened the file to write it.
  if command -v strace >/dev/null; then
    timeout -k 3 60 mpirun -np $ranks strace -f -o "trace.$ranks" -ff -e trace=openat "$colltopo" generate mcf kautz:40:4 \
      -o traced.sched >said 2>&1 || fail "$ranks ranks, traced: $(cat said)"
    [ "$(cat "trace.$ranks".* | grep -c 'traced.sched.*O_WRONLY')" -eq 1 ] || fail "$ranks ranks: not one process opens the file to write"
  fi
done

# The same file every time.
together 3 mcf kautz:100:4 -o again.sched >said 2>&1 || fail "again: $(cat said)"
cmp -s spread.sched again.sched || fail "another file from the same command"

# A fault of all, known at once, after reading, or when writing: one line, status 2, nobody waits.
fault() {
  words=$1
  shift
  together 3 "$@" >out 2>said
  status=$?
  [ $status -eq 2 ] || fail "generate $*: status $status, not 2: $(cat said)"
  [ "$(grep -c "$words" said)" -eq 1 ] || fail "generate $*: not one line with '$words': $(cat said)"
  [ "$(grep -c '^colltopo: ' said)" -eq 1 ] || fail "generate $*: more than one line of colltopo: $(cat said)"
}
fault 'unknown topology family' mcf kauz:100:4
fault '1 host' mcf mesh:1
fault "algorithm 'mfc' is unknown" mfc kautz:100:4
fault 'cannot be written' mcf kautz:40:4 -o nowhere/x.sched
cat >parts.edges <<'X'
0 1
2 3
X
fault 'parts.edges' mcf parts.edges

# A fault of one process alone: a file that is not there for rank 1.
mkdir there
"$colltopo" topology kautz:40:4 -o there/net.json >/dev/null || fail "cannot write a topology"
timeout -k 3 60 mpirun -np 3 sh -c '[ "$OMPI_COMM_WORLD_RANK" = 1 ] || cd there; exec "$0" generate mcf net.json' "$colltopo" >out 2>said
status=$?
[ $status -eq 2 ] || fail "a file missing on one rank: status $status, not 2: $(cat said)"
[ "$(grep -c '^colltopo: .*net.json' said)" -eq 1 ] || fail "a file missing on one rank: not one line: $(cat said)"

# What does not spread is made by one process.
together 3 ewsp torus:4x4 -o one.sched >out 2>said || fail "ewsp: $(cat said)"
grep -q 'started 3 times; rank 0 generates' said || fail "ewsp: $(cat said)"
"$colltopo" verify one.sched --on torus:4x4 >said 2>&1 || fail "ewsp: $(cat said)"

# Without the library one process works alone and says why.
mkdir bin
cp "$colltopo" bin
timeout -k 3 60 mpirun -np 2 bin/colltopo generate mcf kautz:40:4 -o alone.sched >out 2>said || fail "alone: $(cat said)"
[ "$(grep -c 'rank 0 generates, the others have ended: libcolltopo_team.so: not found' said)" -eq 1 ] || fail "alone: $(cat said)"
"$colltopo" verify alone.sched --on kautz:40:4 >said 2>&1 || fail "alone: $(cat said)"

if [ -f "$build/lib/libcolltopo_team_mpich.so" ] && command -v mpirun.mpich >/dev/null; then
  timeout -k 3 100 mpirun.mpich -np 2 "$colltopo" generate mcf kautz:40:4 --json -o mpich.sched >answer.json 2>said ||
    fail "MPICH: $(cat said)"
  holds "it['verified'] and it['processes'] == 2"
fi

exit $failed
