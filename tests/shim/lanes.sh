#!/bin/sh
# lanes.sh MPIRUN PROGRAM SHIM PORT: the shim's collectives over UCX endpoints of its own; without the library that has
# them, over MPI's messages, with one line.
set -eu
folder=$(dirname "$(realpath "$0")")
mpirun=$1 program=$2 shim=$3 port=$4
library=$(dirname "$shim")/libcolltopo_ucx.so
if [ ! -f "$library" ]; then
  echo "SKIP: built without UCX" >&2
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# By variables of our own contexts: MPICH has UCX too, and over TCP its MPI_Finalize can wait for a peer that has left.
export COLLTOPO_UCX_TLS=tcp,self COLLTOPO_UCX_NET_DEVICES=lo COLLTOPO_TRANSPORT=ucx COLLTOPO_LANES="ports:$port:2" COLLTOPO_VERBOSE=1

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

for ranks in 2 3; do
  lines=$("$folder/run.sh" "$mpirun" "$shim" "$ranks" "$program" 2>&1) || fail "$ranks ranks: $lines"
  echo "$lines" | grep -q "^colltopo: transport ucx: 2 lanes ('ports:$port:2'), communicator number 0" || fail "$ranks ranks: $lines"
  case $lines in *'transport pml'*) fail "$ranks ranks: $lines" ;; esac
done

cp "$shim" "$scratch"
lines=$(COLLTOPO_VERBOSE=0 "$folder/run.sh" "$mpirun" "$scratch/$(basename "$shim")" 2 "$program" 2>&1) || fail "no library: $lines"
[ "$(echo "$lines" | grep -c '^colltopo: there is no libcolltopo_ucx.so in .*; using MPI.s messages (transport pml)$')" = 1 ] || fail "no library: $lines"
