/* The team's calls over MPI (calls.h). Failures of MPI itself end all processes: that is MPI's own default. */
#include "team/calls.h"

#include <stdint.h>

#include <mpi.h>

enum { k_gather_tag = 1 };

/* Counts of MPI are int; what is longer goes in pieces. */
static const size_t k_piece_bytes = (size_t) 1 << 30;

static int me, processes;

static int join(int *rank, int *ranks)
{
    int provided;
    if (MPI_SUCCESS != MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) || provided < MPI_THREAD_FUNNELED) {
        return 1;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    *rank = me;
    *ranks = processes;
    return 0;
}

/* A reduction to one rank and a broadcast rather than an allreduce, which may add in another order on every rank. */
static void sum(double *values, size_t count)
{
    const size_t piece = k_piece_bytes / sizeof(double);
    for (size_t at = 0; at < count; at += piece) {
        const int some = (int) (count - at < piece ? count - at : piece);
        MPI_Reduce(0 == me ? MPI_IN_PLACE : values + at, values + at, some, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Bcast(values + at, some, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

static void sizes(size_t mine, size_t *all)
{
    uint64_t own = mine;
    for (int rank = 0; rank < processes; ++rank) {
        uint64_t its = own;
        MPI_Bcast(&its, 1, MPI_UINT64_T, rank, MPI_COMM_WORLD);
        all[rank] = (size_t) its;
    }
}

static void gather(const void *mine, const size_t *all, void *const *into)
{
    for (int rank = 1; rank < processes; ++rank) {
        if (0 != me && rank != me) {
            continue;
        }
        for (size_t at = 0; at < all[rank]; at += k_piece_bytes) {
            const int some = (int) (all[rank] - at < k_piece_bytes ? all[rank] - at : k_piece_bytes);
            if (0 == me) {
                MPI_Recv((char *) into[rank] + at, some, MPI_BYTE, rank, k_gather_tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            } else {
                MPI_Send((const char *) mine + at, some, MPI_BYTE, 0, k_gather_tag, MPI_COMM_WORLD);
            }
        }
    }
}

static void leave(void)
{
    MPI_Finalize();
}

static void abort_all(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
}

const struct colltopo_team_calls *colltopo_team(void)
{
    static const struct colltopo_team_calls calls = {join, sum, sizes, gather, leave, abort_all};
    return &calls;
}
