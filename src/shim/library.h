/* The MPI library behind the shim, found at run time.
 *
 * The shim is linked with no MPI library: preloaded into a shell it must change nothing, and preloaded into a program
 * of the other ABI it must be able to say so. Every function of MPI that it calls is a member of shim_mpi, always the
 * library's own PMPI_ form. */
#ifndef COLLTOPO_SHIM_LIBRARY_H
#define COLLTOPO_SHIM_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#define SHIM_MPI_FUNCTIONS(X) \
    X(Allgather)              \
    X(Allgatherv)             \
    X(Allreduce)              \
    X(Alltoall)               \
    X(Bcast)                  \
    X(Cancel)                 \
    X(Comm_call_errhandler)   \
    X(Comm_create)            \
    X(Comm_create_keyval)     \
    X(Comm_free)              \
    X(Comm_get_attr)          \
    X(Comm_group)             \
    X(Comm_rank)              \
    X(Comm_set_attr)          \
    X(Comm_set_errhandler)    \
    X(Comm_size)              \
    X(Comm_split_type)        \
    X(Comm_test_inter)        \
    X(Finalized)              \
    X(Gather)                 \
    X(Gatherv)                \
    X(Group_free)             \
    X(Ibarrier)               \
    X(Initialized)            \
    X(Iprobe)                 \
    X(Irecv)                  \
    X(Isend)                  \
    X(Op_commutative)         \
    X(Pack)                   \
    X(Reduce)                 \
    X(Reduce_local)           \
    X(Request_free)           \
    X(Scatter)                \
    X(Scatterv)               \
    X(Sendrecv)               \
    X(Test)                   \
    X(Type_commit)            \
    X(Type_contiguous)        \
    X(Type_create_resized)    \
    X(Type_create_struct)     \
    X(Type_free)              \
    X(Type_get_contents)      \
    X(Type_get_envelope)      \
    X(Type_get_extent_x)      \
    X(Type_get_true_extent_x) \
    X(Type_size_x)            \
    X(Unpack)

/* The handles that the shim compares with or passes on. In Open MPI they are addresses of the library's variables. */
struct shim_mpi {
#define MEMBER(name) __typeof__(&PMPI_##name) name;
    SHIM_MPI_FUNCTIONS(MEMBER)
#undef MEMBER
    MPI_Comm comm_null;
    MPI_Comm comm_self;
    MPI_Datatype datatype_null;
    MPI_Datatype byte;
    MPI_Datatype int_type;
    MPI_Op op_null;
    MPI_Op min;
    MPI_Errhandler errors_return;
    MPI_Info info_null;
};

extern struct shim_mpi shim_mpi;

/* True once shim_mpi is usable: the library behind the shim has the shim's ABI and COLLTOPO_DISABLE is not set. The
 * first call looks for the library and says in one line why if the shim stays out. */
bool shim_library_fits(void);

/* As shell_library() has it; "" where it does not say. */
const char *shim_library_name(void);

/* A function of the MPI library behind the shim; NULL when there is none. */
void *shim_symbol(const char *name);

/* A variable of it, at the address by which the program knows it. */
void *shim_variable(const char *name);

/* Whether a handle is none at all, not even a null one. */
#ifdef OPEN_MPI
#define shim_is_no_handle(handle) ((handle) == NULL)
#else
#define shim_is_no_handle(handle) (false)
#endif

/* What a handle is in a call, whichever ABI the caller has: both pass it in one 64-bit register or stack slot. */
typedef intptr_t shim_handle;

#endif
