/* The calls whose blocks have sizes of their own: every element and every gap on every rank checked against a value
 * computed by hand, and every call checked to have been served by the shim. Some ranks send nothing to some. */
#include <string.h>

#include "check.h"

enum { most = 40 };

static int rank, ranks;

static int value(int from, int to, int i)
{
    return from * 100000 + to * 1000 + i;
}

/* Ints that go from one rank to another; the same both ways, as calls in place need it. */
static int ints_of(int a, int b)
{
    return (a + b) % 3 == 0 ? 0 : 1 + (a * b + 7 * (a + b)) % most;
}

/* An int with one behind it that is not ours. */
static MPI_Datatype gap_type(void)
{
    MPI_Datatype type;

    MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    return type;
}

/* Blocks from the last rank's to the first's, two extents apart, of `stride` ints per element. */
struct side {
    int *counts, *places, *bytes, *memory;
    MPI_Datatype *types;
    int stride;
};

static struct side side_of(int stride, MPI_Datatype type, int with)
{
    struct side side = {.stride = stride};
    const size_t size = (size_t)ranks * sizeof(int);
    int end = 1;

    side.counts = malloc(size);
    side.places = malloc(size);
    side.bytes = malloc(size);
    side.types = malloc((size_t)ranks * sizeof(MPI_Datatype));
    for (int peer = ranks - 1; peer >= 0; --peer) {
        side.counts[peer] = ints_of(with < 0 ? peer : with, peer);
        side.places[peer] = end;
        side.bytes[peer] = end * stride * (int)sizeof(int);
        side.types[peer] = type;
        end += side.counts[peer] + 2;
    }
    side.memory = malloc((size_t)(end * stride) * sizeof(int));
    for (int i = 0; i < end * stride; ++i) {
        side.memory[i] = -7;
    }
    return side;
}

static void release(struct side *side)
{
    free(side->counts);
    free(side->places);
    free(side->bytes);
    free(side->types);
    free(side->memory);
}

static void fill(struct side *side, int peer, int from, int to)
{
    for (int i = 0; i < side->counts[peer]; ++i) {
        side->memory[(side->places[peer] + i) * side->stride] = value(from, to, i);
    }
}

static void check(const char *call, const struct side *side, int peer, int from, int to)
{
    for (int i = 0; i < side->counts[peer]; ++i) {
        const int *at = &side->memory[(side->places[peer] + i) * side->stride];
        CHECK(at[0] == value(from, to, i), "%s: [%d] from %d is %d", call, i, from, at[0]);
        CHECK(side->stride == 1 || at[1] == -7, "%s wrote into the gap after [%d] from %d", call, i, from);
    }
    CHECK(side->memory[(side->places[peer] + side->counts[peer]) * side->stride] == -7,
          "%s wrote behind the block of %d", call, peer);
}

static void exchange(MPI_Comm comm, MPI_Datatype gaps)
{
    for (int way = 0; way < 6; ++way) {
        const int in_place = way % 3 == 2, w = way >= 3;
        struct side in = side_of(1, MPI_INT, rank),
                    out = side_of(way % 3 == 0 ? 1 : 2, way % 3 == 0 ? MPI_INT : gaps, rank);
        for (int peer = 0; peer < ranks; ++peer) {
            fill(in_place ? &out : &in, peer, rank, peer);
        }
        const void *input = in_place ? MPI_IN_PLACE : in.memory;
        if (w) {
            SERVED(COLLTOPO_ALLTOALLW, MPI_Alltoallw(input, in.counts, in.bytes, in.types, out.memory, out.counts,
                                                     out.bytes, out.types, comm));
        } else {
            SERVED(COLLTOPO_ALLTOALLV, MPI_Alltoallv(input, in.counts, in.places, MPI_INT, out.memory, out.counts,
                                                     out.places, out.types[0], comm));
        }
        for (int peer = 0; peer < ranks; ++peer) {
            check(w ? "alltoallw" : "alltoallv", &out, peer, peer, rank);
        }
        release(&in);
        release(&out);
    }
}

static void allgatherv(MPI_Comm comm, MPI_Datatype gaps)
{
    for (int way = 0; way < 3; ++way) {
        const int in_place = way == 2;
        struct side out = side_of(way == 0 ? 1 : 2, way == 0 ? MPI_INT : gaps, -1);
        int own[most + 1];
        for (int i = 0; i < out.counts[rank]; ++i) {
            own[i] = value(rank, 0, i);
        }
        if (in_place) {
            fill(&out, rank, rank, 0);
        }
        SERVED(COLLTOPO_ALLGATHERV, MPI_Allgatherv(in_place ? MPI_IN_PLACE : own, out.counts[rank], MPI_INT, out.memory,
                                                   out.counts, out.places, out.types[0], comm));
        for (int peer = 0; peer < ranks; ++peer) {
            check("allgatherv", &out, peer, peer, 0);
        }
        release(&out);
    }
}

static void gatherv_and_scatterv(MPI_Comm comm, MPI_Datatype gaps)
{
    for (int root = 0; root < ranks; ++root) {
        const int is_root = rank == root, in_place = is_root && root % 2 == 1;
        struct side all = side_of(2, gaps, -1);
        int own[most + 1], got[most + 1];
        for (int i = 0; i < all.counts[rank]; ++i) {
            own[i] = value(rank, 0, i);
            got[i] = -3;
        }
        if (in_place) {
            fill(&all, rank, rank, 0);
        }
        SERVED(COLLTOPO_GATHERV,
               MPI_Gatherv(in_place ? MPI_IN_PLACE : own, all.counts[rank], MPI_INT, is_root ? all.memory : NULL,
                           is_root ? all.counts : NULL, is_root ? all.places : NULL, is_root ? gaps : MPI_DATATYPE_NULL,
                           root, comm));
        for (int peer = 0; is_root && peer < ranks; ++peer) {
            check("gatherv", &all, peer, peer, 0);
        }
        SERVED(COLLTOPO_SCATTERV, MPI_Scatterv(is_root ? all.memory : NULL, is_root ? all.counts : NULL,
                                               is_root ? all.places : NULL, is_root ? gaps : MPI_DATATYPE_NULL,
                                               in_place ? MPI_IN_PLACE : got, all.counts[rank], MPI_INT, root, comm));
        for (int i = 0; !in_place && i < all.counts[rank]; ++i) {
            CHECK(got[i] == value(rank, 0, i), "scatterv from %d: [%d] is %d", root, i, got[i]);
        }
        release(&all);
    }
}

int main(int argc, char **argv)
{
    MPI_Datatype gaps;
    MPI_Comm reversed;

    MPI_Init(&argc, &argv);
    gaps = gap_type();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    exchange(MPI_COMM_WORLD, gaps);
    allgatherv(MPI_COMM_WORLD, gaps);
    gatherv_and_scatterv(MPI_COMM_WORLD, gaps);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_rank(reversed, &rank);
    exchange(reversed, gaps);
    allgatherv(reversed, gaps);
    MPI_Comm_free(&reversed);
    MPI_Type_free(&gaps);
    return checked();
}
