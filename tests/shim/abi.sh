#!/bin/sh
# abi.sh MPIRUN PROGRAM WRONG_SHIM RIGHT_SHIM: the shim of the other ABI says so once and the program runs as without it.
set -eu
folder=$(dirname "$(realpath "$0")")
mpirun=$1 program=$2 wrong=$3 right=$4

lines=$(SHIM_TEST_SERVES=0 "$folder/run.sh" "$mpirun" "$wrong" 3 "$program" 2>&1) || {
  echo "the program failed with the shim of the other ABI: $lines"
  exit 1
}
[ "$(echo "$lines" | grep -c '^colltopo: this shim is built for')" = 1 ] || {
  echo "expected one line about the ABI, found: $lines"
  exit 1
}
echo "$lines" | grep -q "preload $(basename "$right"); passing all calls through" || {
  echo "the line does not name $(basename "$right"): $lines"
  exit 1
}
