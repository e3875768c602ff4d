/* The functions that a program finds instead of the library's: MPI_X and, because the Fortran bindings of Open MPI end
 * in it, PMPI_X.
 *
 * They are declared without mpi.h's handle types. A program of the other ABI may call them, with handles that are wider
 * or narrower than ours; passed on as they came they are right for the library that the program was made for. */
#include <stdatomic.h>

#include "collectives.h"
#include "colltopo/colltopo.h"
#include "communicator.h"
#include "interpose.h"

#include <stdio.h>
#include <stdlib.h>

static atomic_ullong calls[COLLTOPO_COLLECTIVES];

/* How many calls of a collective (COLLTOPO_ALLTOALL ...; -1: all) this process has had served by a schedule. */
EXPORTED unsigned long long colltopo_shim_calls(int collective);

unsigned long long colltopo_shim_calls(int collective)
{
    unsigned long long sum = 0;

    for (int i = 0; i < COLLTOPO_COLLECTIVES; ++i) {
        sum += collective == i || collective < 0 ? atomic_load(&calls[i]) : 0;
    }
    return sum;
}

int shim_run(void *owner, int collective, const colltopo_call *call)
{
    struct shim_communicator *const communicator = owner;
    int status;

    communicator->abandoned = false;
    status = colltopo_run(communicator->collectives, collective, call);
    if (status == COLLTOPO_SUCCESS) {
        atomic_fetch_add_explicit(&calls[collective], 1, memory_order_relaxed);
    } else if (status == COLLTOPO_DECLINED) {
        shim_note_left(communicator, collective);
    } else {
        status = shim_error(status);
    }
    return status;
}

int shim_error(int status)
{
    char line[256];

    if (status != COLLTOPO_INVALID) {
        return status;
    }
    shim_say(0, shell_failure(line, sizeof(line)));
    return MPI_ERR_INTERN;
}

struct shell_side shim_side(struct shim_communicator *communicator)
{
    return (struct shell_side){.owner = communicator,
                               .memory = &communicator->memory,
                               .abandoned = &communicator->abandoned,
                               .no_memory = MPI_ERR_NO_MEM,
                               .run = shim_run};
}

int shim_answer(int status, MPI_Comm comm)
{
    if (status > 0) {
        shim_mpi.Comm_call_errhandler(comm, status);
    }
    return status;
}

void *shim_must_find(const char *name)
{
    void *function = (shim_library_fits(), shim_symbol(name));

    if (function == NULL) {
        fprintf(stderr, "colltopo: %s was called, but no MPI library is loaded that has it; the program cannot go on\n",
                name);
        abort();
    }
    return function;
}

#define OPERANDS                                      \
    (struct shim_operands)                            \
    {                                                 \
        input, output, (MPI_Datatype)type, (MPI_Op)op \
    }

/* All of them, with counts of type `count`; `counts` is the member of struct shim_counts that has its type. MPI 4's
 * forms end in _c and count in 64 bits. */
#define THE_COLLECTIVES(suffix, count, counts)                                                                         \
    INTERPOSED(Alltoall##suffix, (const void *input, count send_count, shim_handle send_type, void *output,            \
                                  count recv_count, shim_handle recv_type, shim_handle comm))                          \
    {                                                                                                                  \
        SERVE(shim_alltoall((struct shim_blocks){input, send_count, (MPI_Datatype)send_type, 0},                       \
                            (struct shim_blocks){output, recv_count, (MPI_Datatype)recv_type, 0}, (MPI_Comm)comm));    \
        PASS_THROUGH(Alltoall##suffix, (const void *, count, shim_handle, void *, count, shim_handle, shim_handle),    \
                     (input, send_count, send_type, output, recv_count, recv_type, comm));                             \
    }                                                                                                                  \
    INTERPOSED(Allgather##suffix, (const void *input, count send_count, shim_handle send_type, void *output,           \
                                   count recv_count, shim_handle recv_type, shim_handle comm))                         \
    {                                                                                                                  \
        SERVE(shim_allgather((struct shim_blocks){input, send_count, (MPI_Datatype)send_type, 0},                      \
                             (struct shim_blocks){output, recv_count, (MPI_Datatype)recv_type, 0}, (MPI_Comm)comm));   \
        PASS_THROUGH(Allgather##suffix, (const void *, count, shim_handle, void *, count, shim_handle, shim_handle),   \
                     (input, send_count, send_type, output, recv_count, recv_type, comm));                             \
    }                                                                                                                  \
    INTERPOSED(Bcast##suffix, (void *buffer, count number, shim_handle type, int root, shim_handle comm))              \
    {                                                                                                                  \
        SERVE(shim_bcast((struct shim_blocks){buffer, number, (MPI_Datatype)type, 0}, root, (MPI_Comm)comm));          \
        PASS_THROUGH(Bcast##suffix, (void *, count, shim_handle, int, shim_handle),                                    \
                     (buffer, number, type, root, comm));                                                              \
    }                                                                                                                  \
    INTERPOSED(Gather##suffix, (const void *input, count send_count, shim_handle send_type, void *output,              \
                                count recv_count, shim_handle recv_type, int root, shim_handle comm))                  \
    {                                                                                                                  \
        SERVE(shim_gather((struct shim_blocks){input, send_count, (MPI_Datatype)send_type, 0},                         \
                          (struct shim_blocks){output, recv_count, (MPI_Datatype)recv_type, 0}, root,                  \
                          (MPI_Comm)comm));                                                                            \
        PASS_THROUGH(Gather##suffix, (const void *, count, shim_handle, void *, count, shim_handle, int, shim_handle), \
                     (input, send_count, send_type, output, recv_count, recv_type, root, comm));                       \
    }                                                                                                                  \
    INTERPOSED(Scatter##suffix, (const void *input, count send_count, shim_handle send_type, void *output,             \
                                 count recv_count, shim_handle recv_type, int root, shim_handle comm))                 \
    {                                                                                                                  \
        SERVE(shim_scatter((struct shim_blocks){input, send_count, (MPI_Datatype)send_type, 0},                        \
                           (struct shim_blocks){output, recv_count, (MPI_Datatype)recv_type, 0}, root,                 \
                           (MPI_Comm)comm));                                                                           \
        PASS_THROUGH(Scatter##suffix,                                                                                  \
                     (const void *, count, shim_handle, void *, count, shim_handle, int, shim_handle),                 \
                     (input, send_count, send_type, output, recv_count, recv_type, root, comm));                       \
    }                                                                                                                  \
    INTERPOSED(Allreduce##suffix,                                                                                      \
               (const void *input, void *output, count number, shim_handle type, shim_handle op, shim_handle comm))    \
    {                                                                                                                  \
        SERVE(shim_allreduce(OPERANDS, number, (MPI_Comm)comm));                                                       \
        PASS_THROUGH(Allreduce##suffix, (const void *, void *, count, shim_handle, shim_handle, shim_handle),          \
                     (input, output, number, type, op, comm));                                                         \
    }                                                                                                                  \
    INTERPOSED(Reduce##suffix, (const void *input, void *output, count number, shim_handle type, shim_handle op,       \
                                int root, shim_handle comm))                                                           \
    {                                                                                                                  \
        SERVE(shim_reduce(OPERANDS, number, root, (MPI_Comm)comm));                                                    \
        PASS_THROUGH(Reduce##suffix, (const void *, void *, count, shim_handle, shim_handle, int, shim_handle),        \
                     (input, output, number, type, op, root, comm));                                                   \
    }                                                                                                                  \
    INTERPOSED(Reduce_scatter##suffix, (const void *input, void *output, const count *numbers, shim_handle type,       \
                                        shim_handle op, shim_handle comm))                                             \
    {                                                                                                                  \
        SERVE(shim_reduce_scatter(OPERANDS, (struct shim_counts){.counts = numbers}, (MPI_Comm)comm));                 \
        PASS_THROUGH(Reduce_scatter##suffix,                                                                           \
                     (const void *, void *, const count *, shim_handle, shim_handle, shim_handle),                     \
                     (input, output, numbers, type, op, comm));                                                        \
    }                                                                                                                  \
    INTERPOSED(Reduce_scatter_block##suffix,                                                                           \
               (const void *input, void *output, count number, shim_handle type, shim_handle op, shim_handle comm))    \
    {                                                                                                                  \
        SERVE(shim_reduce_scatter_block(OPERANDS, number, (MPI_Comm)comm));                                            \
        PASS_THROUGH(Reduce_scatter_block##suffix,                                                                     \
                     (const void *, void *, count, shim_handle, shim_handle, shim_handle),                             \
                     (input, output, number, type, op, comm));                                                         \
    }

THE_COLLECTIVES(, int, ints)
#if MPI_VERSION >= 4
_Static_assert(sizeof(MPI_Count) == sizeof(long long), "counts of MPI 4 are passed as long long");
THE_COLLECTIVES(_c, long long, large)
#endif
