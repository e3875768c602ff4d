/* Finding the MPI library, and refusing one of the other ABI. */
#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

_Static_assert(sizeof(void *) == 8, "entry.c relies on handles of both ABIs being passed in 64 bits");

/* Which ABI mpi.h is of: the standard one (MPI 5) says so in every implementation. */
#if defined(MPI_ABI_VERSION) && MPI_ABI_VERSION >= 1
#define SHIM_ABI k_standard
#elif defined(OPEN_MPI)
#define SHIM_ABI k_open_mpi
/* Makes MPI_INT and its like a look-up in the library that was found, not a reference that the linker must resolve. */
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)shim_variable(#global))
#else
#define SHIM_ABI k_mpich
#endif

enum abi { k_open_mpi, k_mpich, k_standard };

static const struct {
    const char *name, *shim;
} abis[] = {[k_open_mpi] = {"Open MPI", "libcolltopo_mpi.so"},
            [k_mpich] = {"MPICH", "libcolltopo_mpich.so"},
            [k_standard] = {"the standard ABI of MPI 5", "libcolltopo_mpi_abi.so"}};

struct shim_mpi shim_mpi;

static void *library; /* NULL: the library is found by RTLD_NEXT */
static bool fits;
static pthread_once_t looked = PTHREAD_ONCE_INIT;

void *shim_symbol(const char *name)
{
    return dlsym(library == NULL ? RTLD_NEXT : library, name);
}

/* A program may hold the library's variables itself (copy relocations), before all libraries. */
void *shim_variable(const char *name)
{
    void *variable = dlsym(RTLD_DEFAULT, name);

    return variable == NULL ? shim_symbol(name) : variable;
}

/* Python opens MPI with RTLD_LOCAL when told to; then it is not among the next libraries, but it is loaded. */
static void find_library(void)
{
    static const char *const names[] = {"libmpi_abi.so.1", "libmpi.so.40", "libmpich.so.12", "libmpi.so.12"};

    if (dlsym(RTLD_NEXT, "PMPI_Get_library_version") != NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && library == NULL; ++i) {
        library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
    }
}

/* A line about the whole job, from one process of it: mpirun tells each its rank in one of these variables. */
static bool is_first_process(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        const char *rank = getenv(names[i]);
        if (rank != NULL) {
            return strcmp(rank, "0") == 0;
        }
    }
    return true;
}

/* A library of the standard ABI lies over an implementation's own, whose variables may be there as well; the native
 * libraries that know the question answer it with -1. */
static enum abi abi_of_library(void)
{
    int (*abi_version)(int *, int *);
    int major = -1, minor = -1;

    *(void **)&abi_version = shim_symbol("PMPI_Abi_get_version");
    if (abi_version != NULL && abi_version(&major, &minor) == 0 && major >= 1) {
        return k_standard;
    }
    return shim_symbol("ompi_mpi_comm_world") != NULL ? k_open_mpi : k_mpich;
}

const char *shim_library_name(void)
{
    int (*library_version)(char *, int *);

    *(void **)&library_version = shim_symbol("PMPI_Get_library_version");
    return library_version == NULL ? "" : shell_library(library_version);
}

static bool has_the_abi(void)
{
    const char *version = shim_library_name();
    enum abi found;

    if (*version == '\0') {
        return false;
    }
    found = abi_of_library();
    if (found == SHIM_ABI) {
        return true;
    }
    if (is_first_process()) {
        fprintf(stderr,
                "colltopo: this shim is built for %s, but the program runs on %s%s; preload %s; passing all calls "
                "through\n",
                abis[SHIM_ABI].name, version, found == k_standard ? " by the standard ABI of MPI 5" : "",
                abis[found].shim);
    }
    return false;
}

static bool is_disabled(void)
{
    const char *value = getenv("COLLTOPO_DISABLE");

    return value != NULL && *value != '\0' && strcmp(value, "0") != 0;
}

static bool find_functions(void)
{
    const char *missing = NULL;

#define FIND(name)                                         \
    *(void **)&shim_mpi.name = shim_symbol("PMPI_" #name); \
    missing = shim_mpi.name == NULL ? "PMPI_" #name : missing;
    SHIM_MPI_FUNCTIONS(FIND)
#undef FIND
    if (missing != NULL && is_first_process()) {
        fprintf(stderr, "colltopo: the MPI library has no %s; passing all calls through\n", missing);
    }
    return missing == NULL;
}

static void look(void)
{
    find_library();
    if (is_disabled() || !has_the_abi() || !find_functions()) {
        return;
    }
    shim_mpi.comm_null = MPI_COMM_NULL;
    shim_mpi.comm_self = MPI_COMM_SELF;
    shim_mpi.datatype_null = MPI_DATATYPE_NULL;
    shim_mpi.byte = MPI_BYTE;
    shim_mpi.int_type = MPI_INT;
    shim_mpi.op_null = MPI_OP_NULL;
    shim_mpi.min = MPI_MIN;
    shim_mpi.errors_return = MPI_ERRORS_RETURN;
    shim_mpi.info_null = MPI_INFO_NULL;
    fits = true;
}

bool shim_library_fits(void)
{
    pthread_once(&looked, look);
    return fits;
}
