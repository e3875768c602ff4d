# Sourced after `build` has been set: mpirun as tests need it, finding coll/topo in the build folder.
. "$(dirname "$(realpath "$0")")/../helpers/launch.sh"
. "$build/env.sh"
# What Open MPI comes to here by itself, a quarter of a second later in each job: it opens libraries for other networks first.
export OMPI_MCA_pml="${OMPI_MCA_pml:-ob1}"
# What jobs remember for their user stays in the build folder.
export XDG_CACHE_HOME="${XDG_CACHE_HOME:-$build/test_files/cache}"
