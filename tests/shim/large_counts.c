/* MPI 4's functions with large counts, as mpi4py 4 calls them, are served like the others. */
#include "check.h"

#if MPI_VERSION >= 4
enum { k_block = 5 };

static int value(int from, int to, int i)
{
    return from * 1000 + to * 10 + i;
}

static void moves(int rank, int ranks)
{
    int *out = malloc(sizeof(int) * k_block * ranks), *in = malloc(sizeof(int) * 2 * k_block * ranks);
    MPI_Datatype every_second;

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < k_block * ranks; ++i) {
        out[i] = value(rank, i / k_block, i % k_block);
    }
    SERVED(COLLTOPO_ALLTOALL, MPI_Alltoall_c(out, k_block, MPI_INT, in, k_block, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < k_block * ranks; ++i) {
        CHECK(in[i] == value(i / k_block, rank, i % k_block), "alltoall_c: %d at %d", in[i], i);
    }
    SERVED(COLLTOPO_ALLTOALL, MPI_Alltoall_c(out, k_block, MPI_INT, in, k_block, every_second, MPI_COMM_WORLD));
    for (int i = 0; i < k_block * ranks; ++i) {
        CHECK(in[2 * i] == value(i / k_block, rank, i % k_block), "alltoall_c with gaps: %d at %d", in[2 * i], i);
    }
    SERVED(COLLTOPO_ALLGATHER, MPI_Allgather_c(out, k_block, MPI_INT, in, k_block, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < k_block * ranks; ++i) {
        CHECK(in[i] == value(i / k_block, 0, i % k_block), "allgather_c: %d at %d", in[i], i);
    }
    SERVED(COLLTOPO_BCAST, MPI_Bcast_c(out, k_block, MPI_INT, ranks - 1, MPI_COMM_WORLD));
    for (int i = 0; i < k_block; ++i) {
        CHECK(out[i] == value(ranks - 1, 0, i), "bcast_c: %d at %d", out[i], i);
    }
    MPI_Type_free(&every_second);
    free(out);
    free(in);
}

static void reductions(int rank, int ranks)
{
    const int sum = ranks * (ranks - 1) / 2, root = ranks - 1;
    long *out = malloc(sizeof(long) * ranks), *in = malloc(sizeof(long) * ranks), own = -1;
    MPI_Count *counts = malloc(sizeof(MPI_Count) * ranks);

    for (int i = 0; i < ranks; ++i) {
        out[i] = rank + i;
        counts[i] = 1;
    }
    SERVED(COLLTOPO_ALLREDUCE, MPI_Allreduce_c(out, in, ranks, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < ranks; ++i) {
        CHECK(in[i] == sum + (long)ranks * i, "allreduce_c: %ld at %d", in[i], i);
        in[i] = -1;
    }
    SERVED(COLLTOPO_REDUCE, MPI_Reduce_c(out, in, ranks, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD));
    for (int i = 0; i < ranks; ++i) {
        CHECK(in[i] == (rank == root ? sum + (long)ranks * i : -1), "reduce_c: %ld at %d", in[i], i);
    }
    SERVED(COLLTOPO_REDUCE_SCATTER, MPI_Reduce_scatter_block_c(out, &own, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK(own == sum + (long)ranks * rank, "reduce_scatter_block_c: %ld", own);
    own = -1;
    SERVED(COLLTOPO_REDUCE_SCATTER, MPI_Reduce_scatter_c(out, &own, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK(own == sum + (long)ranks * rank, "reduce_scatter_c: %ld", own);
    free(out);
    free(in);
    free(counts);
}

int main(int argc, char **argv)
{
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    moves(rank, ranks);
    reductions(rank, ranks);
    return checked();
}
#else
int main(void)
{
    puts("SKIP: this library has no functions with large counts (MPI 4)");
    return 77;
}
#endif
