/* What the shim does with a reduction's data: absolute addresses under MPI_BOTTOM, gaps that go out with the elements,
 * vectors too sparse to be sent whole. */
#include <malloc.h>

#include "check.h"

enum { k_most = 8 };

static MPI_Aint places[k_most]; /* of the ints that the op adds, from an element's address */
static int places_count;
static MPI_Aint gap = -1;
static int dirty_gaps;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint lower, extent;

    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *count; ++i) {
        char *from = (char *)in + i * extent, *to = (char *)inout + i * extent;
        for (int place = 0; place < places_count; ++place) {
            *(int *)(to + places[place]) += *(int *)(from + places[place]);
        }
        dirty_gaps += gap >= 0 && *(int *)(from + gap) != 0;
    }
}

static void reductions_into_bottom(MPI_Op op, int stride, int rank, int ranks)
{
    const int root = ranks - 1, lengths[4] = {1, 1, 1, 1};
    const MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    int ints[8];
    MPI_Datatype type;

    places_count = 4;
    for (int i = 0; i < 4; ++i) {
        MPI_Get_address(&ints[i * stride], &places[i]);
    }
    MPI_Type_create_struct(4, lengths, places, types, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 8; ++i) {
        ints[i] = rank + i;
    }
    SERVED(COLLTOPO_ALLREDUCE, MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < 8; ++i) {
        const int wanted = i % stride == 0 && i / stride < 4 ? ranks * (ranks - 1) / 2 + ranks * i : rank + i;
        CHECK(ints[i] == wanted, "allreduce into MPI_BOTTOM, stride %d: %d at %d, not %d", stride, ints[i], i, wanted);
        ints[i] = rank + i;
    }
    SERVED(COLLTOPO_REDUCE,
           MPI_Reduce(rank == root ? MPI_IN_PLACE : MPI_BOTTOM, MPI_BOTTOM, 1, type, op, root, MPI_COMM_WORLD));
    for (int i = 0; i < 8; ++i) {
        const int is_sum = rank == root && i % stride == 0 && i / stride < 4;
        const int wanted = is_sum ? ranks * (ranks - 1) / 2 + ranks * i : rank + i;
        CHECK(ints[i] == wanted, "reduce into MPI_BOTTOM, stride %d: %d at %d, not %d", stride, ints[i], i, wanted);
    }
    MPI_Type_free(&type);
}

/* Fresh memory is not 0 here, so neither are gaps that nobody has written. */
static void gaps_have_a_value(MPI_Op op, int rank, int ranks)
{
    static int in[2000], out[2000];
    MPI_Datatype type;

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
    places[0] = 0;
    places_count = 1;
    gap = sizeof(int);
    for (int i = 0; i < 2000; ++i) {
        in[i] = i % 2 == 0 ? rank + i : 77;
        out[i] = -1;
    }
    SERVED(COLLTOPO_ALLREDUCE, MPI_Allreduce(in, out, 1000, type, op, MPI_COMM_WORLD));
    CHECK(dirty_gaps == 0, "%d gaps with old memory in them", dirty_gaps);
    for (int i = 0; i < 2000; ++i) {
        CHECK(out[i] == (i % 2 == 0 ? ranks * (ranks - 1) / 2 + ranks * i : -1), "%d at %d", out[i], i);
    }
    gap = -1;
    MPI_Type_free(&type);
}

static void sparse_vectors_pass_through(MPI_Op op, int rank, int ranks)
{
    int in[80], out[80];
    MPI_Datatype column;

    MPI_Type_vector(8, 1, 10, MPI_INT, &column);
    MPI_Type_commit(&column);
    places_count = 8;
    for (int i = 0; i < 8; ++i) {
        places[i] = i * 10 * (MPI_Aint)sizeof(int);
    }
    for (int i = 0; i < 80; ++i) {
        in[i] = rank;
        out[i] = -1;
    }
    PASSED(COLLTOPO_ALLREDUCE, MPI_Allreduce(in, out, 1, column, op, MPI_COMM_WORLD));
    for (int i = 0; i < 80; ++i) {
        CHECK(out[i] == (i % 10 == 0 ? ranks * (ranks - 1) / 2 : -1), "%d at %d of a column", out[i], i);
    }
    MPI_Type_free(&column);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Op op;

    mallopt(M_PERTURB, 0xA5);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Op_create(add, 1, &op);
    reductions_into_bottom(op, 1, rank, ranks);
    reductions_into_bottom(op, 2, rank, ranks);
    gaps_have_a_value(op, rank, ranks);
    sparse_vectors_pass_through(op, rank, ranks);
    MPI_Op_free(&op);
    return checked();
}
