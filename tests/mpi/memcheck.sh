#!/bin/sh
# memcheck.sh BUILD RANKS PROGRAM [ARGS]: the program under valgrind, in which nothing may be read, written or freed that is gone.
# What Open MPI sends without having written it is not counted.
set -u
build=$1 ranks=$2
shift 2
. "$(dirname "$(realpath "$0")")/job.sh"

command -v valgrind >/dev/null || {
  echo "SKIP: no valgrind here" >&2
  exit 77
}
output=$("$here/run.sh" "$build" 1 "$ranks" valgrind -q --num-callers=20 --log-file="$scratch/log.%p" "$@" 2>&1) || fail "$*: $output"
grep -h -A 20 'Invalid' "$scratch"/log.* | head -60 >"$scratch/found"
[ ! -s "$scratch/found" ] || fail "$*: $(cat "$scratch/found")"
[ -n "$(find "$scratch" -name 'log.*')" ] || fail "$*: valgrind has not run"
exit $failed
