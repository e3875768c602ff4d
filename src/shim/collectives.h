/* The collectives as MPI calls them. Each returns COLLTOPO_DECLINED when the call must pass through, otherwise what the
 * MPI call returns; errors have gone to the communicator's error handler. */
#ifndef COLLTOPO_SHIM_COLLECTIVES_H
#define COLLTOPO_SHIM_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include "shell.h"

/* What a move reads or writes: `blocks` blocks of `count` elements. Counts are those of MPI_X_c; MPI_X's fit. */
struct shim_blocks {
    const void *buffer;
    long long count;
    MPI_Datatype type;
    size_t blocks;
};

int shim_alltoall(struct shim_blocks input, struct shim_blocks output, MPI_Comm comm);
int shim_allgather(struct shim_blocks input, struct shim_blocks output, MPI_Comm comm);
int shim_bcast(struct shim_blocks output, int root, MPI_Comm comm);
int shim_gather(struct shim_blocks input, struct shim_blocks output, int root, MPI_Comm comm);
int shim_scatter(struct shim_blocks input, struct shim_blocks output, int root, MPI_Comm comm);

/* A side whose blocks have sizes of their own: counts and distances as MPI_X or its large form has them, the other ones
 * NULL. Distances are in extents, or in bytes where each block has a datatype. `single`: the rank's own block alone. */
struct shim_vector {
    const void *buffer;
    const int *counts, *places;
    const long long *large_counts;
    const MPI_Aint *large_places;
    MPI_Datatype type;
    const MPI_Datatype *types;
    bool single;
    long long count;
};

int shim_allgatherv(struct shim_vector input, struct shim_vector output, MPI_Comm comm);
int shim_gatherv(struct shim_vector input, struct shim_vector output, int root, MPI_Comm comm);
int shim_scatterv(struct shim_vector input, struct shim_vector output, int root, MPI_Comm comm);
/* COLLTOPO_ALLTOALLV or COLLTOPO_ALLTOALLW. */
int shim_exchange(int collective, struct shim_vector input, struct shim_vector output, MPI_Comm comm);

/* The arguments that reductions share. */
struct shim_operands {
    const void *input;
    void *output;
    MPI_Datatype type;
    MPI_Op op;
};

/* One count per rank, as MPI_Reduce_scatter or its large form has them; the other is NULL. */
struct shim_counts {
    const int *ints;
    const long long *large;
};

int shim_allreduce(struct shim_operands operands, long long count, MPI_Comm comm);
int shim_reduce(struct shim_operands operands, long long count, int root, MPI_Comm comm);
int shim_reduce_scatter(struct shim_operands operands, struct shim_counts counts, MPI_Comm comm);
int shim_reduce_scatter_block(struct shim_operands operands, long long count, MPI_Comm comm);

/* Runs a call on a struct shim_communicator and counts it. Like the functions above, but for the error handler. */
int shim_run(void *communicator, int collective, const colltopo_call *call);

/* What the packing of a communicator's calls needs. */
struct shim_communicator;
struct shell_side shim_side(struct shim_communicator *communicator);

/* The MPI code of what is neither success nor COLLTOPO_DECLINED; says what a code cannot. */
int shim_error(int status);

/* Hands an error to the communicator's error handler. */
int shim_answer(int status, MPI_Comm comm);

#endif
