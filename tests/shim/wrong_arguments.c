/* Wrong calls, and the error class of each: `wrong_arguments all|one`. The calls are made by all ranks, or by the last
 * one alone, which must not wait for the others: the library answers at once. Prints a line "CALL KIND CLASS" for each,
 * as the last rank has it, or of any rank that crashes or waits. wrong_arguments.sh compares them with those without
 * the shim. Only what Open MPI 4.1 looks at is here: MPICH as Debian builds it checks no arguments at all. */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { k_ranks = 2, k_ints = 64 };

/* Arguments that are right, of which a kind makes one wrong. */
struct arguments {
    void *in, *out;
    int in_count, out_count, root;
    const int *in_counts, *in_places, *out_counts, *out_places;
    MPI_Datatype in_type, out_type;
    const MPI_Datatype *in_types, *out_types;
    MPI_Op op;
    MPI_Comm comm;
};

static int rank, ranks, root;
static int in[k_ints], out[k_ints], counts[k_ints], places[k_ints], negative[k_ints];
static MPI_Datatype types[k_ints], with_uncommitted[k_ints], with_null[k_ints], uncommitted;
static sigjmp_buf back;
static int jumped;

static void jump(int signal)
{
    siglongjmp(back, signal);
}

/* What calls have, for the kinds that concern them. */
enum {
    IN = 1,
    OUT = 2,
    COUNT_IN = 4,
    COUNT_OUT = 8,
    LIST_IN = 16,
    LIST_OUT = 32, /* places; its counts with CHECKED_LIST alone */
    CHECKED_LIST = 64,
    TYPES = 128,
    ROOT = 256,
    OP = 512,
    COMMITTED_OUT = 1024, /* the datatype of what is received, too */
    NULL_COMM = 2048,
    IN_IS_ROOTS = 4096, /* the root's alone, as the output below */
    OUT_IS_ROOTS = 8192,
    COUNTS = 16384
};

#define CALL(name, has, ...)                    \
    static int call_##name(struct arguments a)  \
    {                                           \
        return MPI_##name(__VA_ARGS__, a.comm); \
    }                                           \
    enum { has_##name = has };
CALL(Alltoall, IN | OUT | COUNT_IN | COUNT_OUT | COMMITTED_OUT | NULL_COMM, a.in, a.in_count, a.in_type, a.out,
     a.out_count, a.out_type)
CALL(Allgather, IN | OUT | COUNT_IN | COUNT_OUT, a.in, a.in_count, a.in_type, a.out, a.out_count, a.out_type)
CALL(Bcast, OUT | COUNT_OUT | ROOT | COMMITTED_OUT | NULL_COMM, a.out, a.out_count, a.out_type, a.root)
CALL(Gather, IN | OUT | COUNT_IN | COUNT_OUT | ROOT | OUT_IS_ROOTS | NULL_COMM, a.in, a.in_count, a.in_type, a.out,
     a.out_count, a.out_type, a.root)
CALL(Scatter, IN | OUT | COUNT_OUT | ROOT | IN_IS_ROOTS | NULL_COMM, a.in, a.in_count, a.in_type, a.out, a.out_count,
     a.out_type, a.root)
CALL(Allgatherv, IN | OUT | COUNT_IN | LIST_OUT | NULL_COMM, a.in, a.in_count, a.in_type, a.out, a.out_counts,
     a.out_places, a.out_type)
CALL(Gatherv, IN | OUT | COUNT_IN | LIST_OUT | CHECKED_LIST | ROOT | OUT_IS_ROOTS | NULL_COMM, a.in, a.in_count,
     a.in_type, a.out, a.out_counts, a.out_places, a.out_type, a.root)
CALL(Scatterv, IN | OUT | COUNT_OUT | LIST_IN | CHECKED_LIST | ROOT | IN_IS_ROOTS | NULL_COMM, a.in, a.in_counts,
     a.in_places, a.in_type, a.out, a.out_count, a.out_type, a.root)
CALL(Alltoallv, IN | OUT | LIST_IN | LIST_OUT | CHECKED_LIST | COMMITTED_OUT | NULL_COMM, a.in, a.in_counts,
     a.in_places, a.in_type, a.out, a.out_counts, a.out_places, a.out_type)
CALL(Alltoallw, LIST_IN | LIST_OUT | CHECKED_LIST | TYPES | NULL_COMM, a.in, a.in_counts, a.in_places, a.in_types,
     a.out, a.out_counts, a.out_places, a.out_types)
CALL(Allreduce, OUT | COUNT_OUT | OP | COMMITTED_OUT | NULL_COMM, a.in, a.out, a.out_count, a.out_type, a.op)
CALL(Reduce, OUT | COUNT_OUT | OP | ROOT | COMMITTED_OUT | NULL_COMM, a.in, a.out, a.out_count, a.out_type, a.op,
     a.root)
CALL(Reduce_scatter, OP | COUNTS | NULL_COMM, a.in, a.out, a.out_counts, a.out_type, a.op)
CALL(Reduce_scatter_block, OUT | COUNT_OUT | OP | COMMITTED_OUT | NULL_COMM, a.in, a.out, a.out_count, a.out_type, a.op)

#define ROW(name)                      \
    {                                  \
#name, call_##name, has_##name \
    }
static const struct {
    const char *name;
    int (*call)(struct arguments);
    int has;
} calls[] = {ROW(Alltoall),       ROW(Allgather),           ROW(Bcast),     ROW(Gather),
             ROW(Scatter),        ROW(Allgatherv),          ROW(Gatherv),   ROW(Scatterv),
             ROW(Alltoallv),      ROW(Alltoallw),           ROW(Allreduce), ROW(Reduce),
             ROW(Reduce_scatter), ROW(Reduce_scatter_block)};

/* A kind of wrong argument: what a call must have for it, and how. */
#define KIND(name, needs, ...)                   \
    static void make_##name(struct arguments *a) \
    {                                            \
        __VA_ARGS__;                             \
    }                                            \
    enum { needs_##name = needs };
KIND(null_comm, NULL_COMM, a->comm = MPI_COMM_NULL)
KIND(negative_count_in, COUNT_IN, a->in_count = -1)
KIND(negative_count_out, COUNT_OUT, a->out_count = -1)
KIND(null_type_in, IN, a->in_type = MPI_DATATYPE_NULL)
KIND(null_type_out, OUT, a->out_type = MPI_DATATYPE_NULL)
KIND(uncommitted_in, IN, a->in_type = uncommitted)
KIND(uncommitted_out, OUT | COMMITTED_OUT, a->out_type = uncommitted)
KIND(in_place_out, OUT, a->out = MPI_IN_PLACE)
KIND(null_counts_in, LIST_IN | CHECKED_LIST, a->in_counts = NULL)
KIND(null_counts_out, LIST_OUT | CHECKED_LIST, a->out_counts = NULL)
KIND(null_places_in, LIST_IN, a->in_places = NULL)
KIND(null_places_out, LIST_OUT, a->out_places = NULL)
KIND(negative_counts_in, LIST_IN | CHECKED_LIST, a->in_counts = negative)
KIND(negative_counts_out, LIST_OUT | CHECKED_LIST, a->out_counts = negative)
KIND(no_counts, COUNTS, a->out_counts = NULL)
KIND(negative_counts, COUNTS, a->out_counts = negative)
KIND(null_types_in, TYPES, a->in_types = NULL)
KIND(null_types_out, TYPES, a->out_types = NULL)
KIND(a_null_type_in, TYPES, a->in_types = with_null)
KIND(a_null_type_out, TYPES, a->out_types = with_null)
KIND(an_uncommitted_in, TYPES, a->in_types = with_uncommitted)
KIND(an_uncommitted_out, TYPES, a->out_types = with_uncommitted)
KIND(root_below, ROOT, a->root = -1)
KIND(root_above, ROOT, a->root = ranks)
KIND(null_op, OP, a->op = MPI_OP_NULL)
KIND(op_of_other_types, OP, a->op = MPI_BAND; a->out_type = MPI_DOUBLE)
KIND(swapped_in_place, OP, a->in = out; a->out = MPI_IN_PLACE)
KIND(uncommitted_reduced, OP, a->out_type = uncommitted)

#undef ROW
#define ROW(name)                        \
    {                                    \
#name, make_##name, needs_##name \
    }
static const struct {
    const char *name;
    void (*make)(struct arguments *);
    int needs;
} kinds[] = {ROW(null_comm),
             ROW(negative_count_in),
             ROW(negative_count_out),
             ROW(null_type_in),
             ROW(null_type_out),
             ROW(uncommitted_in),
             ROW(uncommitted_out),
             ROW(in_place_out),
             ROW(null_counts_in),
             ROW(null_counts_out),
             ROW(null_places_in),
             ROW(null_places_out),
             ROW(negative_counts_in),
             ROW(negative_counts_out),
             ROW(no_counts),
             ROW(negative_counts),
             ROW(null_types_in),
             ROW(null_types_out),
             ROW(a_null_type_in),
             ROW(a_null_type_out),
             ROW(an_uncommitted_in),
             ROW(an_uncommitted_out),
             ROW(root_below),
             ROW(root_above),
             ROW(null_op),
             ROW(op_of_other_types),
             ROW(swapped_in_place),
             ROW(uncommitted_reduced)};

static struct arguments right(MPI_Comm comm)
{
    return (struct arguments){in,     out,     2,       2,     root,  counts,  places, counts,
                              places, MPI_INT, MPI_INT, types, types, MPI_SUM, comm};
}

static void prepare(void)
{
    MPI_Type_contiguous(1, MPI_INT, &uncommitted);
    for (int i = 0; i < k_ints; ++i) {
        counts[i] = negative[i] = 2;
        places[i] = 2 * i;
        types[i] = with_uncommitted[i] = with_null[i] = MPI_INT;
    }
    negative[ranks - 1] = -1;
    with_uncommitted[ranks - 1] = uncommitted;
    with_null[ranks - 1] = MPI_DATATYPE_NULL;
}

static void run(size_t call, size_t kind, MPI_Comm comm)
{
    struct arguments wrong = right(comm);
    int class = MPI_SUCCESS, signal;

    kinds[kind].make(&wrong);
    signal = sigsetjmp(back, 1);
    if (signal == 0) {
        alarm(2);
        MPI_Error_class(calls[call].call(wrong), &class);
    }
    alarm(0);
    if (signal != 0) {
        jumped = 1;
        printf("%s %s of rank %d %s\n", calls[call].name, kinds[kind].name, rank,
               signal == SIGALRM ? "waits" : "crash");
    } else if (rank == ranks - 1) {
        printf("%s %s %d\n", calls[call].name, kinds[kind].name, class);
    }
    fflush(stdout);
}

/* The last rank is the root where that makes the wrong argument one that counts. Others are right then: a root that
 * sends they wait for, so it calls alone; to one that receives they send, so they all call. */
static int is_to_run(size_t call, size_t kind, int by_all)
{
    const int needs = kinds[kind].needs, has = calls[call].has;
    const int in = IN | COUNT_IN | LIST_IN, output = OUT | COUNT_OUT | LIST_OUT;
    const int is_roots = ((has & IN_IS_ROOTS) != 0 && (needs & in) != 0) ||
                         ((has & OUT_IS_ROOTS) != 0 && (needs & output) != 0) ||
                         (strcmp(calls[call].name, "Reduce") == 0 && strstr(kinds[kind].name, "in_place") != NULL);
    /* The root may say so, and is right then. */
    const int only_by_all =
        strncmp(calls[call].name, "Scatter", 7) == 0 && strcmp(kinds[kind].name, "in_place_out") == 0;

    root = is_roots ? ranks - 1 : 0;
    return (needs & has) == needs && (by_all || !only_by_all) && (!is_roots || by_all == ((has & IN_IS_ROOTS) == 0));
}

int main(int argc, char **argv)
{
    const int by_all = argc > 1 && strcmp(argv[1], "all") == 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    prepare();
    signal(SIGSEGV, jump);
    signal(SIGFPE, jump);
    signal(SIGBUS, jump);
    signal(SIGALRM, jump);
    for (size_t call = 0; call < sizeof(calls) / sizeof(calls[0]); ++call) {
        for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); ++kind) {
            MPI_Comm comm;
            if (is_to_run(call, kind, by_all)) {
                MPI_Comm_dup(MPI_COMM_WORLD, &comm);
                MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
                if (by_all || rank == ranks - 1) {
                    run(call, kind, comm);
                }
            }
        }
    }
    if (jumped) {
        _exit(1); /* what was left may not end */
    }
    MPI_Finalize();
    return 0;
}
