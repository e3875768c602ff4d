#!/bin/sh
# with_component.sh MPIRUN PROGRAM SHIM COMPONENT_FOLDER RANKS: shim and coll/topo in one job. The shim serves the program, the
# component what the shim asks of MPI, each with its own settings.
set -eu
folder=$(dirname "$(realpath "$0")")
mpirun=$1 program=$2 shim=$3 component=$4 ranks=$5

export OMPI_MCA_mca_base_component_path="SYSTEM_DEFAULT:$component"
export OMPI_MCA_coll_topo_allreduce_algorithm=recursive-doubling OMPI_MCA_coll_topo_verbose=1 COLLTOPO_VERBOSE=1
lines=$("$folder/run.sh" "$mpirun" "$shim" "$ranks" "$program" 2>&1) || {
  echo "the program failed: $(echo "$lines" | grep -v predicted | head -n 20)"
  exit 1
}
for line in '^colltopo: allreduce of 148 bytes .*: ring' 'coll/topo: allreduce of [0-9]* bytes .*: recursive-doubling'; do
  echo "$lines" | grep -q "$line" || {
    echo "no line '$line' in: $(echo "$lines" | head -n 20)"
    exit 1
  }
done
