/* Says what a library of MPI 5's standard ABI says of itself. Loaded behind the shim, it makes any library one. */
__attribute__((visibility("default"))) int PMPI_Abi_get_version(int *major, int *minor);

int PMPI_Abi_get_version(int *major, int *minor)
{
    *major = 1;
    *minor = 0;
    return 0;
}
