# What scripts of MPI tests begin with: `. job.sh` after `build` has been set. Gives scratch, fail and failed, and the
# environment in which mpirun runs as root, with more ranks than cores, and finds coll/topo in the build folder.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
  echo "FAILED: $*" >&2
  failed=1
}

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mca_base_component_path="SYSTEM_DEFAULT:$build/lib/openmpi"
