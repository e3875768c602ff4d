#!/bin/sh
# run.sh MPIRUN SHIM RANKS PROGRAM [ARGS]: a program under mpirun with the shim preloaded, as ctest needs it.
#
# Each collective is given an algorithm, so that what is served does not depend on a model of this machine. The launcher
# itself runs without the shim.
set -eu
mpirun=$1 shim=$2 ranks=$3
shift 3

. "$(dirname "$(realpath "$0")")/../helpers/launch.sh"
export COLLTOPO_ALLTOALL_ALGORITHM="${COLLTOPO_ALLTOALL_ALGORITHM-tra}"
export COLLTOPO_ALLGATHER_ALGORITHM="${COLLTOPO_ALLGATHER_ALGORITHM-bruck}"
export COLLTOPO_REDUCE_SCATTER_ALGORITHM="${COLLTOPO_REDUCE_SCATTER_ALGORITHM-ring}"
export COLLTOPO_ALLREDUCE_ALGORITHM="${COLLTOPO_ALLREDUCE_ALGORITHM-ring}"
export COLLTOPO_BCAST_ALGORITHM="${COLLTOPO_BCAST_ALGORITHM-binomial}"
export COLLTOPO_REDUCE_ALGORITHM="${COLLTOPO_REDUCE_ALGORITHM-binomial}"
export COLLTOPO_GATHER_ALGORITHM="${COLLTOPO_GATHER_ALGORITHM-binomial}"
export COLLTOPO_SCATTER_ALGORITHM="${COLLTOPO_SCATTER_ALGORITHM-two-level}"
export COLLTOPO_ALLGATHERV_ALGORITHM="${COLLTOPO_ALLGATHERV_ALGORITHM-ring}"
export COLLTOPO_GATHERV_ALGORITHM="${COLLTOPO_GATHERV_ALGORITHM-linear}"
export COLLTOPO_SCATTERV_ALGORITHM="${COLLTOPO_SCATTERV_ALGORITHM-linear}"
export COLLTOPO_ALLTOALLV_ALGORITHM="${COLLTOPO_ALLTOALLV_ALGORITHM-linear}"
export COLLTOPO_ALLTOALLW_ALGORITHM="${COLLTOPO_ALLTOALLW_ALGORITHM-pairwise}"
exec "$mpirun" -np "$ranks" env LD_PRELOAD="$shim" "$@"
