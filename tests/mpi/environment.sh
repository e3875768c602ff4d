# Sourced after `build` has been set: mpirun runs as root, with more ranks than cores, and finds coll/topo in the build folder.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mca_base_component_path="SYSTEM_DEFAULT:$build/lib/openmpi"
