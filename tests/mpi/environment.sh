# Sourced after `build` has been set: mpirun as tests need it, finding coll/topo in the build folder.
. "$(dirname "$(realpath "$0")")/../helpers/launch.sh"
. "$build/env.sh"
