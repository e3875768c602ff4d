/* Every interposed collective, every element on every rank checked against a value computed by hand, and every call
 * checked to have been served by the shim (or not, where it must pass through). */
#include <string.h>

#include "check.h"

enum { count = 37 };

static int rank, ranks;

static int value(int from, int to, int i)
{
    return from * 100000 + to * 1000 + i;
}

/* A block of `count` ints that lie two ints apart. */
static MPI_Datatype spread_type(void)
{
    MPI_Datatype strided, spread;

    MPI_Type_vector(count, 1, 2, MPI_INT, &strided);
    MPI_Type_create_resized(strided, 0, 2 * count * (MPI_Aint)sizeof(int), &spread);
    MPI_Type_commit(&spread);
    MPI_Type_free(&strided);
    return spread;
}

static void alltoall(MPI_Comm comm)
{
    int *in = malloc((size_t)(ranks * count) * sizeof(int));
    int *out = malloc((size_t)(2 * ranks * count) * sizeof(int));
    MPI_Datatype spread = spread_type();

    for (int i = 0; i < ranks * count; ++i) {
        in[i] = value(rank, i / count, i % count);
    }
    memset(out, -1, (size_t)(2 * ranks * count) * sizeof(int));
    SERVED(COLLTOPO_ALLTOALL, MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm));
    for (int i = 0; i < ranks * count; ++i) {
        CHECK(out[i] == value(i / count, rank, i % count), "alltoall [%d] is %d", i, out[i]);
    }
    /* Ranks describe the same data differently: only the odd ones receive into a layout with gaps. */
    memset(out, -1, (size_t)(2 * ranks * count) * sizeof(int));
    SERVED(COLLTOPO_ALLTOALL,
           MPI_Alltoall(in, count, MPI_INT, out, rank % 2 ? 1 : count, rank % 2 ? spread : MPI_INT, comm));
    for (int i = 0; i < ranks * count; ++i) {
        const int at = rank % 2 ? 2 * i : i;
        CHECK(out[at] == value(i / count, rank, i % count), "alltoall spread [%d] is %d", i, out[at]);
        CHECK(rank % 2 == 0 || out[at + 1] == -1, "alltoall wrote into the gap after %d", i);
    }
    for (int i = 0; i < ranks * count; ++i) {
        out[2 * i] = in[i];
        out[2 * i + 1] = -7;
    }
    SERVED(COLLTOPO_ALLTOALL, MPI_Alltoall(MPI_IN_PLACE, rank, MPI_INT, out, 1, spread, comm));
    for (int i = 0; i < ranks * count; ++i) {
        CHECK(out[2 * i] == value(i / count, rank, i % count), "alltoall in place [%d] is %d", i, out[2 * i]);
        CHECK(out[2 * i + 1] == -7, "alltoall in place wrote into the gap after %d", i);
    }
    PASSED(COLLTOPO_ALLTOALL, MPI_Alltoall(in, 0, MPI_INT, out, 0, MPI_INT, comm));
    MPI_Type_free(&spread);
    free(in);
    free(out);
}

static void allgather(MPI_Comm comm)
{
    int in[2 * count];
    int *out = malloc((size_t)(2 * ranks * count) * sizeof(int));
    MPI_Datatype spread = spread_type();

    for (int i = 0; i < count; ++i) {
        in[2 * i] = value(rank, 0, i);
        in[2 * i + 1] = -1;
    }
    SERVED(COLLTOPO_ALLGATHER, MPI_Allgather(in, 1, spread, out, count, MPI_INT, comm));
    for (int i = 0; i < ranks * count; ++i) {
        CHECK(out[i] == value(i / count, 0, i % count), "allgather [%d] is %d", i, out[i]);
    }
    memset(out, -1, (size_t)(2 * ranks * count) * sizeof(int));
    memcpy(out + 2 * count * rank, in, sizeof(in));
    /* The sendcount is to be ignored in place, also where ranks give different ones. */
    SERVED(COLLTOPO_ALLGATHER, MPI_Allgather(MPI_IN_PLACE, rank % 2 ? 0 : 5, MPI_INT, out, 1, spread, comm));
    for (int i = 0; i < ranks * count; ++i) {
        CHECK(out[2 * i] == value(i / count, 0, i % count), "allgather in place [%d] is %d", i, out[2 * i]);
        CHECK(out[2 * i + 1] == -1, "allgather in place wrote into the gap after %d", i);
    }
    MPI_Type_free(&spread);
    free(out);
}

static void bcast(MPI_Comm comm)
{
    int data[2 * count];
    MPI_Datatype spread = spread_type();

    for (int root = 0; root < ranks; ++root) {
        for (int i = 0; i < 2 * count; ++i) {
            data[i] = rank == root ? value(root, 1, i) : -3;
        }
        SERVED(COLLTOPO_BCAST,
               rank == root ? MPI_Bcast(data, 1, spread, root, comm) : MPI_Bcast(data, count, MPI_INT, root, comm));
        for (int i = 0; i < count && rank != root; ++i) {
            CHECK(data[i] == value(root, 1, 2 * i), "bcast from %d [%d] is %d", root, i, data[i]);
        }
        for (int i = count; i < 2 * count && rank != root; ++i) {
            CHECK(data[i] == -3, "bcast from %d wrote beyond the end", root);
        }
    }
    MPI_Type_free(&spread);
}

/* From and to every root: dense, into a layout with gaps, and in place. What only the root has is null elsewhere. */
static void gather(MPI_Comm comm)
{
    int *out = malloc((size_t)(2 * ranks * count) * sizeof(int));
    int in[count];
    MPI_Datatype spread = spread_type();

    for (int i = 0; i < count; ++i) {
        in[i] = value(rank, 0, i);
    }
    for (int root = 0; root < ranks; ++root) {
        const int is_root = rank == root;
        memset(out, -1, (size_t)(2 * ranks * count) * sizeof(int));
        SERVED(COLLTOPO_GATHER, MPI_Gather(in, count, MPI_INT, is_root ? out : NULL, is_root ? count : -1,
                                           is_root ? MPI_INT : MPI_DATATYPE_NULL, root, comm));
        for (int i = 0; is_root && i < ranks * count; ++i) {
            CHECK(out[i] == value(i / count, 0, i % count), "gather to %d [%d] is %d", root, i, out[i]);
        }
        for (int in_place = 0; in_place < 2; ++in_place) {
            memset(out, -1, (size_t)(2 * ranks * count) * sizeof(int));
            for (int i = 0; is_root && in_place && i < count; ++i) {
                out[2 * (root * count + i)] = in[i];
            }
            SERVED(COLLTOPO_GATHER,
                   MPI_Gather(is_root && in_place ? MPI_IN_PLACE : in, count, MPI_INT, out, 1, spread, root, comm));
            for (int i = 0; is_root && i < ranks * count; ++i) {
                CHECK(out[2 * i] == value(i / count, 0, i % count), "gather spread [%d] is %d", i, out[2 * i]);
                CHECK(out[2 * i + 1] == -1, "gather wrote into the gap after %d", i);
            }
            CHECK(is_root || out[0] == -1, "gather wrote on a rank that is not the root");
        }
    }
    MPI_Type_free(&spread);
    free(out);
}

static void scatter(MPI_Comm comm)
{
    int *in = malloc((size_t)(2 * ranks * count) * sizeof(int));
    int out[2 * count];
    MPI_Datatype spread = spread_type();

    for (int root = 0; root < ranks; ++root) {
        const int is_root = rank == root;
        for (int i = 0; i < ranks * count; ++i) {
            in[2 * i] = is_root ? value(root, i / count, i % count) : -2;
            in[2 * i + 1] = -7;
        }
        for (int in_place = 0; in_place < 2; ++in_place) {
            for (int i = 0; i < 2 * count; ++i) {
                out[i] = -3;
            }
            SERVED(COLLTOPO_SCATTER,
                   MPI_Scatter(is_root ? in : NULL, is_root ? 1 : -1, is_root ? spread : MPI_DATATYPE_NULL,
                               is_root && in_place ? MPI_IN_PLACE : out, rank % 2 ? 1 : count,
                               rank % 2 ? spread : MPI_INT, root, comm));
            for (int i = 0; i < count && !(is_root && in_place); ++i) {
                const int at = rank % 2 ? 2 * i : i;
                CHECK(out[at] == value(root, rank, i), "scatter from %d [%d] is %d", root, i, out[at]);
                CHECK(rank % 2 == 0 || out[at + 1] == -3, "scatter wrote into the gap after %d", i);
            }
            for (int i = 0; is_root && i < ranks * count; ++i) {
                CHECK(in[2 * i] == value(root, i / count, i % count), "scatter changed its input at %d", i);
            }
        }
    }
    MPI_Type_free(&spread);
    free(in);
}

static void allreduce(MPI_Comm comm)
{
    const int sum = ranks * (ranks - 1) / 2;
    int in[count], out[count];
    double real[count];
    struct {
        double value;
        int place;
    } at[count], best[count];

    for (int i = 0; i < count; ++i) {
        in[i] = rank + i;
        real[i] = rank == i % ranks ? i + 0.5 : -1.0 * rank;
        memset(&at[i], 0, sizeof(at[i]));
        memset(&best[i], 0x55, sizeof(best[i]));
        at[i].value = (rank + i) % ranks;
        at[i].place = rank;
    }
    SERVED(COLLTOPO_ALLREDUCE, MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm));
    SERVED(COLLTOPO_ALLREDUCE, MPI_Allreduce(MPI_IN_PLACE, real, count, MPI_DOUBLE, MPI_MAX, comm));
    SERVED(COLLTOPO_ALLREDUCE, MPI_Allreduce(at, best, count, MPI_DOUBLE_INT, MPI_MAXLOC, comm));
    for (int i = 0; i < count; ++i) {
        const int where = ((ranks - 1 - i) % ranks + ranks) % ranks;
        unsigned gap;
        memcpy(&gap, (char *)&best[i] + 12, sizeof(gap));
        CHECK(out[i] == sum + ranks * i, "allreduce [%d] is %d", i, out[i]);
        CHECK(real[i] == i + 0.5, "allreduce max [%d] is %g", i, real[i]);
        CHECK(best[i].value == ranks - 1 && best[i].place == where, "maxloc [%d] is %g at %d", i, best[i].value,
              best[i].place);
        CHECK(gap == 0x55555555u, "maxloc wrote into the padding of element %d", i);
    }
}

/* Affine maps x -> ax + b modulo a prime, composed: associative, but the order matters. */
struct affine {
    int a, b;
};

static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const struct affine *first = in;
    struct affine *second = inout;

    (void)type;
    for (int i = 0; i < *length; ++i) {
        const struct affine f = first[i], g = second[i];
        second[i] = (struct affine){f.a * g.a % 97, (g.a * f.b + g.b) % 97};
    }
}

static void user_op(MPI_Comm comm)
{
    struct affine in[count], out[count];
    MPI_Datatype type;
    MPI_Op op;
    int failures = 0;

    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(compose, 0, &op);
    for (int i = 0; i < count; ++i) {
        in[i] = (struct affine){2 + rank, i + 3 * rank};
    }
    CHECK(MPI_Allreduce(in, out, count, type, op, comm) == MPI_SUCCESS, "allreduce of maps failed");
    for (int i = 0; i < count; ++i) {
        struct affine expected = {2, i};
        for (int r = 1; r < ranks; ++r) {
            const struct affine g = {2 + r, i + 3 * r};
            expected = (struct affine){expected.a * g.a % 97, (g.a * expected.b + g.b) % 97};
        }
        failures += out[i].a != expected.a || out[i].b != expected.b;
    }
    CHECK(failures == 0, "%d composed maps are wrong", failures);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

/* Three ints of which the middle one is a gap. */
static void add_outer(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const int *from = in;
    int *to = inout;

    (void)type;
    for (int i = 0; i < *length; ++i) {
        to[3 * i] += from[3 * i];
        to[3 * i + 2] += from[3 * i + 2];
    }
}

static void gaps(MPI_Comm comm)
{
    int in[3 * count], out[3 * count];
    MPI_Datatype type;
    MPI_Op op;
    const int sum = ranks * (ranks - 1) / 2;

    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_outer, 1, &op);
    for (int i = 0; i < 3 * count; ++i) {
        in[i] = rank + i;
        out[i] = -5;
    }
    SERVED(COLLTOPO_ALLREDUCE, MPI_Allreduce(in, out, count, type, op, comm));
    for (int i = 0; i < 3 * count; ++i) {
        CHECK(out[i] == (i % 3 == 1 ? -5 : sum + ranks * i), "gapped allreduce [%d] is %d", i, out[i]);
    }
    SERVED(COLLTOPO_REDUCE, MPI_Reduce(rank == 1 ? MPI_IN_PLACE : in, rank == 1 ? in : NULL, count, type, op, 1, comm));
    for (int i = 0; i < 3 * count && rank == 1; ++i) {
        CHECK(in[i] == (i % 3 == 1 ? rank + i : sum + ranks * i), "gapped reduce [%d] is %d", i, in[i]);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

static void reduce(MPI_Comm comm)
{
    const int sum = ranks * (ranks - 1) / 2;

    for (int root = 0; root < ranks; ++root) {
        int in[count], out[count];
        for (int i = 0; i < count; ++i) {
            in[i] = rank + i;
            out[i] = rank == root ? rank + i : -9;
        }
        SERVED(COLLTOPO_REDUCE,
               MPI_Reduce(rank == root && root % 2 ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, root, comm));
        for (int i = 0; i < count; ++i) {
            CHECK(out[i] == (rank == root ? sum + ranks * i : -9), "reduce to %d [%d] is %d", root, i, out[i]);
        }
    }
}

static void reduce_scatter(MPI_Comm comm)
{
    const int sum = ranks * (ranks - 1) / 2;
    int *counts = malloc((size_t)ranks * sizeof(int));
    int *in, *out, total = 0, first = 0;

    for (int r = 0; r < ranks; ++r) {
        counts[r] = r == 1 ? 0 : 3 * r + 2;
        first += r < rank ? counts[r] : 0;
        total += counts[r];
    }
    in = malloc((size_t)(total + ranks * count) * sizeof(int));
    out = malloc((size_t)(total + ranks * count) * sizeof(int));
    for (int i = 0; i < total + ranks * count; ++i) {
        in[i] = rank + i;
        out[i] = -1;
    }
    SERVED(COLLTOPO_REDUCE_SCATTER, MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < counts[rank]; ++i) {
        CHECK(out[i] == sum + ranks * (first + i), "reduce_scatter [%d] is %d", i, out[i]);
    }
    CHECK(out[counts[rank]] == -1, "reduce_scatter wrote beyond the end");
    memcpy(out, in, (size_t)total * sizeof(int));
    SERVED(COLLTOPO_REDUCE_SCATTER, MPI_Reduce_scatter(MPI_IN_PLACE, out, counts, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < counts[rank]; ++i) {
        CHECK(out[i] == sum + ranks * (first + i), "reduce_scatter in place [%d] is %d", i, out[i]);
    }
    memset(out, -1, (size_t)(total + ranks * count) * sizeof(int));
    SERVED(COLLTOPO_REDUCE_SCATTER, MPI_Reduce_scatter_block(in, out, count, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < count; ++i) {
        CHECK(out[i] == sum + ranks * (rank * count + i), "reduce_scatter_block [%d] is %d", i, out[i]);
    }
    CHECK(out[count] == -1, "reduce_scatter_block wrote beyond the end");
    free(counts);
    free(in);
    free(out);
}

static void all(MPI_Comm comm)
{
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    alltoall(comm);
    allgather(comm);
    bcast(comm);
    gather(comm);
    scatter(comm);
    allreduce(comm);
    user_op(comm);
    gaps(comm);
    reduce(comm);
    reduce_scatter(comm);
}

static int copies;

static int count_copy(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag)
{
    (void)comm;
    (void)key;
    (void)state;
    *(void **)out = in;
    *flag = 1;
    ++copies;
    return MPI_SUCCESS;
}

/* Communicators that come and go, and those that pass through. */
static void communicators(void)
{
    MPI_Comm copy, pair, half, bridge;
    int world_rank, world_ranks, other_leader, key, one = 1, sum = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    for (int round = 0; round < 3; ++round) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_set_attr(copy, key, &one);
        all(copy);
        CHECK(copies == 0, "the program's attribute was copied to a communicator that it did not make");
        MPI_Comm_free(&copy);
    }
    MPI_Comm_free_keyval(&key);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
    MPI_Comm_size(half, &ranks);
    if (ranks > 1) {
        all(half);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
        CHECK(sum == ranks, "%d ranks in a half of %d", sum, ranks);
    } else {
        PASSED(COLLTOPO_ALLREDUCE, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half));
    }
    /* The split was in descending order: a half is led by the last of its ranks. */
    other_leader = (world_ranks - 1) % 2 == world_rank % 2 ? world_ranks - 2 : world_ranks - 1;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other_leader, 3, &bridge);
    PASSED(COLLTOPO_ALLREDUCE, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, bridge));
    CHECK(sum == world_ranks - ranks, "%d ranks on the other side", sum);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank, 0, &pair);
    PASSED(COLLTOPO_ALLREDUCE, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, pair));
    CHECK(sum == 1, "a communicator of one rank sums to %d", sum);
    MPI_Comm_free(&pair);
    MPI_Comm_free(&bridge);
    MPI_Comm_free(&half);
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF while communication still works, the shim's among them. */
static int add_at_the_end(MPI_Comm comm, int key, void *value, void *state)
{
    int one = 1, sum = 0;

    (void)comm;
    (void)key;
    (void)value;
    (void)state;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (sum != ranks) {
        fprintf(stderr, "%d ranks of %d in the sum while MPI ends\n", sum, ranks);
        abort();
    }
    return MPI_SUCCESS;
}

static void at_the_end(void)
{
    int key;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, add_at_the_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

int main(int argc, char **argv)
{
    MPI_Comm never_freed;

    MPI_Init(&argc, &argv);
    at_the_end();
    CHECK(served(-1) >= 0, "no shim is loaded");
    all(MPI_COMM_WORLD);
    communicators();
    all(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &never_freed);
    all(never_freed);
    at_the_end();
    return checked();
}
