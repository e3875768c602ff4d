# Sourced by scripts that call mpirun: it runs as root, with more ranks than cores, which give way to each other. Open MPI 4.1
# reads the first line of these, 5.0 the second and 6.0 the third; each is silent about the others'.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export PRTE_MCA_rmaps_default_mapping_policy=slot:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none
export PRTE_MCA_mapby=slot:oversubscribe PRTE_MCA_bindto=none
# Since 5.0 there is a line of the launcher about addresses of the other family, which this machine may have.
export OMPI_MCA_btl_tcp_disable_family=6
