#!/bin/sh
# symbols.sh SHIM: it exports the interposed functions and its counter, and needs no MPI library. The functions with large
# counts are all there or none is: they belong to MPI 4.
set -eu
export LC_ALL=C
exported=$(nm -D --defined-only "$1" | sed 's/.* //' | sort | tr '\n' ' ')
forms=
case $exported in *MPI_Alltoall_c*) forms="_c" ;; esac
expected=
for prefix in MPI PMPI; do
  for name in Allgather Allgatherv Allreduce Alltoall Alltoallv Alltoallw Bcast Gather Gatherv Reduce Reduce_scatter \
    Reduce_scatter_block Scatter Scatterv; do
    for form in "" $forms; do
      expected="$expected${prefix}_$name$form "
    done
  done
done
expected="${expected}colltopo_shim_calls "
expected=$(printf '%s\n' $expected | sort | tr '\n' ' ')
[ "$exported" = "$expected" ] || {
  echo "exports $exported, expected $expected"
  exit 1
}
if readelf -d "$1" | grep NEEDED | grep -i mpi; then
  echo "needs an MPI library: it could not refuse the other ABI"
  exit 1
fi
