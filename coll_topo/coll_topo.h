/* The component coll/topo: collectives of an intra-communicator by colltopo's schedules, over the PML.
 *
 * A module holds the functions that the communicator had before it came and a colltopo_comm, made at the first
 * collective call. Everything that colltopo declines goes to the former functions, on every rank alike. */
#ifndef MCA_COLL_TOPO_H
#define MCA_COLL_TOPO_H

#include "coll_topo_compat.h"

#include "colltopo/colltopo.h"
#include "shell.h"

BEGIN_C_DECLS

/* The collectives that the component serves: those that it can also stage for an accelerator, and the others. */
#define MCA_COLL_TOPO_EACH_FUNCTION(APPLY) \
    MCA_COLL_TOPO_EACH_STAGED(APPLY)       \
    APPLY(allgatherv)                      \
    APPLY(gatherv)                         \
    APPLY(scatterv)                        \
    APPLY(alltoallv)                       \
    APPLY(alltoallw)                       \
    MCA_COLL_TOPO_EACH_NEIGHBOR(APPLY)
#define MCA_COLL_TOPO_EACH_NEIGHBOR(APPLY) \
    APPLY(neighbor_allgather)              \
    APPLY(neighbor_allgatherv)             \
    APPLY(neighbor_alltoall)               \
    APPLY(neighbor_alltoallv)              \
    APPLY(neighbor_alltoallw)
#define MCA_COLL_TOPO_EACH_STAGED(APPLY) \
    APPLY(alltoall)                      \
    APPLY(allgather)                     \
    APPLY(allreduce)                     \
    APPLY(reduce_scatter)                \
    APPLY(reduce_scatter_block)          \
    APPLY(bcast)                         \
    APPLY(reduce)                        \
    APPLY(gather)                        \
    APPLY(scatter)

/* Those of them that do not block, in both forms. */
#define MCA_COLL_TOPO_EACH_REQUEST_FUNCTION(APPLY) \
    MCA_COLL_TOPO_EACH_EVEN_REQUEST(APPLY)         \
    MCA_COLL_TOPO_EACH_UNEVEN_REQUEST(APPLY)       \
    MCA_COLL_TOPO_EACH_NEIGHBOR_REQUEST(APPLY)
#define MCA_COLL_TOPO_EACH_NEIGHBOR_REQUEST(APPLY) \
    APPLY(ineighbor_allgather)                     \
    APPLY(neighbor_allgather_init)                 \
    APPLY(ineighbor_allgatherv)                    \
    APPLY(neighbor_allgatherv_init)                \
    APPLY(ineighbor_alltoall)                      \
    APPLY(neighbor_alltoall_init)                  \
    APPLY(ineighbor_alltoallv)                     \
    APPLY(neighbor_alltoallv_init)                 \
    APPLY(ineighbor_alltoallw) APPLY(neighbor_alltoallw_init)
#define MCA_COLL_TOPO_EACH_UNEVEN_REQUEST(APPLY) \
    APPLY(iallgatherv)                           \
    APPLY(allgatherv_init)                       \
    APPLY(igatherv)                              \
    APPLY(gatherv_init)                          \
    APPLY(iscatterv)                             \
    APPLY(scatterv_init)                         \
    APPLY(ialltoallv)                            \
    APPLY(alltoallv_init) APPLY(ialltoallw) APPLY(alltoallw_init)
#define MCA_COLL_TOPO_EACH_EVEN_REQUEST(APPLY) \
    APPLY(ialltoall)                           \
    APPLY(alltoall_init)                       \
    APPLY(iallgather)                          \
    APPLY(allgather_init)                      \
    APPLY(iallreduce)                          \
    APPLY(allreduce_init)                      \
    APPLY(ireduce_scatter)                     \
    APPLY(reduce_scatter_init)                 \
    APPLY(ireduce_scatter_block)               \
    APPLY(reduce_scatter_block_init)           \
    APPLY(ibcast)                              \
    APPLY(bcast_init)                          \
    APPLY(ireduce) APPLY(reduce_init) APPLY(igather) APPLY(gather_init) APPLY(iscatter) APPLY(scatter_init)

typedef struct mca_coll_topo_previous_t {
#define MCA_COLL_TOPO_PREVIOUS(name)         \
    mca_coll_base_module_##name##_fn_t name; \
    mca_coll_base_module_t *name##_module;
    MCA_COLL_TOPO_EACH_FUNCTION(MCA_COLL_TOPO_PREVIOUS)
    MCA_COLL_TOPO_EACH_REQUEST_FUNCTION(MCA_COLL_TOPO_PREVIOUS)
#undef MCA_COLL_TOPO_PREVIOUS
} mca_coll_topo_previous_t;

/* A call that colltopo declined, by all that decides: an equal one is declined again, and need not be asked about. The
 * last few of a collective are known. */
enum { MCA_COLL_TOPO_DECLINED = 3 };
typedef struct mca_coll_topo_declined_t {
    size_t bytes;
    size_t element_size;
    int root; /* -1, which no call has: none yet */
    int op_properties;
    bool in_place; /* all ranks */
} mca_coll_topo_declined_t;

/* Where a collective of a communicator goes in a process that has an accelerator: agreed at its first call. */
typedef enum { MCA_COLL_TOPO_UNKNOWN, MCA_COLL_TOPO_STAGES, MCA_COLL_TOPO_LEAVES } mca_coll_topo_staging_t;

/* Blocks that the communicator's former alltoall gets wrong where input and output have different layouts. */
typedef struct mca_coll_topo_mended_t {
    size_t first; /* bytes */
    size_t sizes; /* how many, from `first` on; 0: none */
} mca_coll_topo_mended_t;

/* Requests that are over: each with an operation for more calls like its own, or of a call that was declined. */
typedef struct mca_coll_topo_kept_t {
    struct mca_coll_topo_request_t *first;
    int requests;
} mca_coll_topo_kept_t;

typedef struct mca_coll_topo_module_t {
    mca_coll_base_module_t super;
    colltopo_comm *collectives; /* NULL until the first call */
    bool serving;               /* false until the first call */
    ompi_communicator_t *comm;
    int rank;
    int ranks;
    int verbose;
    const unsigned *left;                        /* colltopo_left(); until the first call, zero */
    unsigned long long *passed_on;               /* colltopo_passed_on_count(); until the first call, NULL */
    long long *until_look;                       /* colltopo_until_look(); the same */
    const unsigned *turns_taken;                 /* colltopo_turns_taken(); the same */
    bool abandoned;                              /* a message of the last call was given up and may still arrive */
    int failed;                                  /* the error of a call within a former function; see allgatherv */
    size_t *counts;                              /* reduce_scatter's, one per rank; NULL until needed */
    size_t *sizes;                               /* of blocks of sizes of their own; NULL until needed */
    size_t numbers;                              /* so many */
    struct mca_coll_topo_neighbors_t *neighbors; /* NULL until needed */
    bool named_neighbors;                        /* to colltopo */
    struct shell_memory memory;                  /* packed data of derived datatypes */
    mca_coll_topo_declined_t declined[COLLTOPO_COLLECTIVES][MCA_COLL_TOPO_DECLINED];
    mca_coll_topo_staging_t staging[COLLTOPO_COLLECTIVES];
    mca_coll_topo_mended_t mended;
    mca_coll_topo_kept_t kept[COLLTOPO_COLLECTIVES], passed[COLLTOPO_COLLECTIVES]; /* with operations, declined */
    mca_coll_topo_previous_t previous;
} mca_coll_topo_module_t;
OBJ_CLASS_DECLARATION(mca_coll_topo_module_t);

/* Here and not in colltopo: a function's call would save all arguments. */
static inline void mca_coll_topo_count_passed_on(mca_coll_topo_module_t *topo)
{
    __atomic_store_n(topo->passed_on, __atomic_load_n(topo->passed_on, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

/* More than colltopo has: what colltopo_settings() lists is checked against it at registration. */
#define MCA_COLL_TOPO_MAX_SETTINGS 256

typedef struct mca_coll_topo_component_t {
    mca_coll_base_component_t super;
    int priority;
    /* The values of the MCA variables, in the order of colltopo_settings(). */
    char *settings[MCA_COLL_TOPO_MAX_SETTINGS];
    char *previous;    /* what MPI_T shows of it, Open MPI's to free */
    opal_mutex_t lock; /* for the lines warned of so far, and loading the hwloc topology */
} mca_coll_topo_component_t;
extern mca_coll_topo_component_t mca_coll_topo_component;

/* Modules for when there is no memory: a rank that has none for a communicator would run other functions than others.
 */
void mca_coll_topo_fill_spares(void);
void mca_coll_topo_drop_spares(void);

mca_coll_base_module_t *mca_coll_topo_comm_query(ompi_communicator_t *comm, int *priority);

/* Makes module->collectives, at the first call; local. */
int mca_coll_topo_module_start(mca_coll_topo_module_t *module);

/* The name of the component that a module is of, as Open MPI has selected it; NULL: of none of the communicator's. */
const char *mca_coll_topo_component_of(const ompi_communicator_t *comm, const mca_coll_base_module_t *module);

/* For a call that this rank leaves to the former function for a reason that the others may not have: lengths that
 * differ, which is wrong by the standard and the former function's to answer. In a communicator's first call the others
 * wait for this rank, so it agrees with them first. COLLTOPO_DECLINED, or an error. */
int mca_coll_topo_decline_alone(mca_coll_topo_module_t *module, int collective);

/* Nothing is known to be declined. */
void mca_coll_topo_forget_declined(mca_coll_topo_module_t *module);

/* Publishes what this process has of the component; false: it could not, and must not serve. Then what was published as
 * its priority, negative if nothing was. */
bool mca_coll_topo_publish(void);
int mca_coll_topo_priority(void);
void mca_coll_topo_forget_peers(void);
/* For colltopo: what another rank's process has published. */
int mca_coll_topo_peer(void *module, int rank, colltopo_peer *peer);

/* Adds to an include list of coll components (`--mca coll topo`) those that this one stands on. */
int mca_coll_topo_complete_selection(void);

/* False, with a line, in another Open MPI than the one that the component was built for. */
bool mca_coll_topo_fits_library(void);

/* Whether the code that called is Open MPI itself, and no function of MPI's. Equal on all ranks. */
bool mca_coll_topo_is_internal(const void *caller);

/* Shows a line once per process. */
void mca_coll_topo_warn(const char *line);

/* The callbacks that a module lends to colltopo. */
void mca_coll_topo_callbacks(mca_coll_topo_module_t *module, colltopo_callbacks *callbacks);
/* Notes for MPI_T which components the module has before it. */
void mca_coll_topo_note_previous(mca_coll_topo_module_t *module);
int mca_coll_topo_locality(void *context, int level, int *group_of);
const char *mca_coll_topo_host_of(const mca_coll_topo_module_t *module, int rank); /* "": not known */
int mca_coll_topo_host_names(void *context, size_t size, char *names);
void mca_coll_topo_forget_hosts(void);

typedef int (*mca_coll_topo_run_fn_t)(colltopo_comm *comm, const colltopo_call *call);

/* Runs a call on a started module. Errors are MPI's, or COLLTOPO_DECLINED. */
int mca_coll_topo_run(void *module, int collective, const colltopo_call *call);

/* The MPI code of a colltopo call's result that is neither success nor COLLTOPO_DECLINED; says what a code cannot. */
int mca_coll_topo_error(int rc);

/* `blocks` blocks of `count` elements of a datatype at `buf`. */
typedef struct mca_coll_topo_span_t {
    const void *buf;
    size_t blocks; /* 0: none */
    size_t count;
    ompi_datatype_t *dtype;
} mca_coll_topo_span_t;

/* Datatypes: moves (alltoall, allgather, bcast, gather, scatter). The call lacks its pointers; `collective` is a
 * COLLTOPO_ number. */
typedef struct mca_coll_topo_move_t {
    int collective;
    mca_coll_topo_span_t input;
    mca_coll_topo_span_t output;
    size_t first_held; /* of the blocks of output that hold input */
    size_t blocks_held;
    bool output_changes;
} mca_coll_topo_move_t;
int mca_coll_topo_move(mca_coll_topo_module_t *module, const mca_coll_topo_move_t *move, colltopo_call *call);
/* The same for the shell, and the call's pointers of data that is dense. */
void mca_coll_topo_shell_move(const mca_coll_topo_move_t *move, struct shell_move *packed, colltopo_call *call);

/* What packing of a module's calls needs. */
struct shell_side mca_coll_topo_side(mca_coll_topo_module_t *module);

/* Packs `count` elements at `buf` into `dense` or, the other way, unpacks them from there. */
int mca_coll_topo_convert(const ompi_datatype_t *dtype, size_t count, const void *buf, char *dense, bool packing);

/* What a reduction does to elements; the context of colltopo_call.reduce. */
typedef struct mca_coll_topo_operation_t {
    ompi_op_t *op;
    ompi_datatype_t *dtype;
} mca_coll_topo_operation_t;

/* A predefined datatype without gaps: its elements are bytes that follow each other from the buffer's address on. */
static inline bool mca_coll_topo_is_basic(const ompi_datatype_t *dtype)
{
    return OPAL_DATATYPE_FLAG_BASIC == (dtype->super.flags & OPAL_DATATYPE_FLAG_BASIC);
}

/* target = source op target on elements of a basic datatype. */
int mca_coll_topo_apply_basic(void *operation, const void *source, void *target, size_t elements);

/* Datatypes: other reductions. */
typedef struct mca_coll_topo_reduction_t {
    int collective;
    mca_coll_topo_operation_t operation;
    const void *input; /* MPI_IN_PLACE: in output */
    void *output;      /* NULL may be MPI_BOTTOM: `receives` says whether there is one */
    bool receives;
    size_t input_count;
    size_t output_count;
} mca_coll_topo_reduction_t;
int mca_coll_topo_reduction(mca_coll_topo_module_t *module, const mca_coll_topo_reduction_t *asked,
                            colltopo_call *call);

/* Whether a component that has the communicator so far fails below another one in this release of Open MPI. */
bool mca_coll_topo_cannot_be_above(const ompi_communicator_t *comm);

/* The same for the shell, and what of the call follows from it; false: such a datatype is not reduced here. `asked`
 * lives as long as the call. */
bool mca_coll_topo_shell_reduction(const mca_coll_topo_reduction_t *asked, struct shell_reduction *reduction,
                                   colltopo_call *call);

/* Fills in module->mended: what is known to give wrong results in this release of Open MPI. */
void mca_coll_topo_find_defects(mca_coll_topo_module_t *module);
void mca_coll_topo_say_defects(const mca_coll_topo_module_t *module);

/* Whether the former alltoall takes a block of `bytes` only in the layout that the output has. */
static inline bool mca_coll_topo_must_mend(const mca_coll_topo_module_t *module, size_t bytes)
{
    return bytes - module->mended.first < module->mended.sizes;
}

/* The former alltoall, not in place, of an input that is laid out like the output first. */
int mca_coll_topo_mend_alltoall(mca_coll_topo_module_t *topo, const void *sbuf, mca_coll_topo_count_t scount,
                                ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_count_t rcount,
                                ompi_datatype_t *rdtype, ompi_communicator_t *comm);

/* The former allgatherv, not in place, of a rank's block that is described by an element of another size than the
 * output's: it goes to its place first, and is sent from there. */
int mca_coll_topo_mend_allgatherv(mca_coll_topo_module_t *topo, const void *sbuf, mca_coll_topo_count_t scount,
                                  ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_counts_t rcounts,
                                  mca_coll_topo_displs_t displs, ompi_datatype_t *rdtype, ompi_communicator_t *comm);

/* The former gather of a rank that is not the root: its block goes as bytes in a row. */
int mca_coll_topo_mend_gather(mca_coll_topo_module_t *topo, const void *sbuf, mca_coll_topo_count_t scount,
                              ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_count_t rcount,
                              ompi_datatype_t *rdtype, int root, ompi_communicator_t *comm);

/* The former reduce and bcast in place of its allreduce, for a datatype whose first byte is not at its own address. */
int mca_coll_topo_mend_allreduce(mca_coll_topo_module_t *topo, const void *sbuf, void *rbuf,
                                 mca_coll_topo_count_t count, ompi_datatype_t *dtype, ompi_op_t *op,
                                 ompi_communicator_t *comm);

/* Whether elements that follow each other, or the parts of one, may lie on the same bytes. */
static inline bool mca_coll_topo_may_overlap(const ompi_datatype_t *dtype)
{
    const ptrdiff_t true_extent = dtype->super.true_ub - dtype->super.true_lb;

    return dtype->super.ub - dtype->super.lb < true_extent || true_extent < (ptrdiff_t) dtype->super.size
           || 0 != (dtype->super.flags & OPAL_DATATYPE_FLAG_OVERLAP);
}

/* Counts of nothing on each rank, in place of those of an empty datatype: many a function sends and receives where the
 * count is not 0, and then one end of a pair does and the other does not. `memory` is to be freed. */
typedef struct mca_coll_topo_no_counts_t {
    mca_coll_topo_counts_t counts;
    void *memory;
} mca_coll_topo_no_counts_t;
int mca_coll_topo_no_counts(const mca_coll_topo_module_t *topo, mca_coll_topo_no_counts_t *none);

/* What this process can do with memory of an accelerator. */
typedef struct mca_coll_topo_device_t {
    bool (*holds)(const void *address);
    void (*copy)(void *to, const void *from, size_t bytes); /* either address in a device's memory or the host's */
} mca_coll_topo_device_t;
void mca_coll_topo_find_device(void);                     /* once per process */
const mca_coll_topo_device_t *mca_coll_topo_device(void); /* NULL: there is no accelerator */

/* A buffer of a call, and its copy in the host's memory while the call runs. */
typedef struct mca_coll_topo_buffer_t {
    const void *user;
    size_t count; /* 0: this rank has no such buffer */
    const ompi_datatype_t *dtype;
    bool is_read;
    bool is_written;
    const void *staged; /* what to hand on; `user` where that is the host's */
    struct shell_memory memory;
    size_t bytes;
    char *first; /* byte of the user's buffer that data reaches down to */
} mca_coll_topo_buffer_t;
bool mca_coll_topo_is_on_device(mca_coll_topo_buffer_t *buffer);
/* Copies it in, into memory that stays with it. */
int mca_coll_topo_stage(mca_coll_topo_buffer_t *buffer);
/* Copies it home if all went well. */
void mca_coll_topo_unstage(mca_coll_topo_buffer_t *buffer, int rc);
/* Collective, at the first call of a collective on this communicator, in a turn or after all turns: whether each rank
 * has data of it on a device. COLLTOPO_DECLINED: the ranks serve nothing. */
int mca_coll_topo_agree_on_device(mca_coll_topo_module_t *topo, int collective, bool on_device);

/* One function per collective, as coll.h declares them. */
int mca_coll_topo_alltoall(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                           mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                           mca_coll_base_module_t *module);
int mca_coll_topo_allgather(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                            mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                            mca_coll_base_module_t *module);
int mca_coll_topo_allreduce(const void *sbuf, void *rbuf, mca_coll_topo_count_t count, ompi_datatype_t *dtype,
                            ompi_op_t *op, ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_topo_reduce_scatter(const void *sbuf, void *rbuf, mca_coll_topo_counts_t rcounts, ompi_datatype_t *dtype,
                                 ompi_op_t *op, ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_topo_reduce_scatter_block(const void *sbuf, void *rbuf, mca_coll_topo_count_t rcount,
                                       ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                                       mca_coll_base_module_t *module);
int mca_coll_topo_bcast(void *buf, mca_coll_topo_count_t count, ompi_datatype_t *dtype, int root,
                        ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_topo_reduce(const void *sbuf, void *rbuf, mca_coll_topo_count_t count, ompi_datatype_t *dtype,
                         ompi_op_t *op, int root, ompi_communicator_t *comm, mca_coll_base_module_t *module);

int mca_coll_topo_gather(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                         mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, int root, ompi_communicator_t *comm,
                         mca_coll_base_module_t *module);
int mca_coll_topo_scatter(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                          mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, int root, ompi_communicator_t *comm,
                          mca_coll_base_module_t *module);

int mca_coll_topo_allgatherv(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                             mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs, ompi_datatype_t *rdtype,
                             ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_topo_gatherv(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                          mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs, ompi_datatype_t *rdtype,
                          int root, ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_topo_scatterv(const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t displs,
                           ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype,
                           int root, ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_topo_alltoallv(const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t sdispls,
                            ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_counts_t rcounts,
                            mca_coll_topo_displs_t rdispls, ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                            mca_coll_base_module_t *module);
int mca_coll_topo_alltoallw(const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t sdispls,
                            struct ompi_datatype_t *const *sdtypes, void *rbuf, mca_coll_topo_counts_t rcounts,
                            mca_coll_topo_displs_t rdispls, struct ompi_datatype_t *const *rdtypes,
                            ompi_communicator_t *comm, mca_coll_base_module_t *module);

int mca_coll_topo_neighbor_allgather(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype,
                                     void *rbuf, mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype,
                                     ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_topo_neighbor_allgatherv(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype,
                                      void *rbuf, mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs,
                                      ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                                      mca_coll_base_module_t *module);
int mca_coll_topo_neighbor_alltoall(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                                    mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                                    mca_coll_base_module_t *module);
int mca_coll_topo_neighbor_alltoallv(const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t sdispls,
                                     ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_counts_t rcounts,
                                     mca_coll_topo_displs_t rdispls, ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                                     mca_coll_base_module_t *module);
int mca_coll_topo_neighbor_alltoallw(const void *sbuf, mca_coll_topo_counts_t scounts,
                                     mca_coll_topo_byte_displs_t sdispls, ompi_datatype_t *const *sdtypes, void *rbuf,
                                     mca_coll_topo_counts_t rcounts, mca_coll_topo_byte_displs_t rdispls,
                                     ompi_datatype_t *const *rdtypes, ompi_communicator_t *comm,
                                     mca_coll_base_module_t *module);

/* Requests: what the component opens once, and the functions that a module offers. */
int mca_coll_topo_open_requests(void);
void mca_coll_topo_close_requests(void);
void mca_coll_topo_drop_requests(mca_coll_topo_module_t *topo);
void mca_coll_topo_offer_requests(mca_coll_base_module_t *module);
void mca_coll_topo_offer_uneven_requests(mca_coll_base_module_t *module);
void mca_coll_topo_offer_neighbor_requests(mca_coll_base_module_t *module);

/* Offers functions that touch an accelerator's memory by its own copies alone, in place of those above. */
void mca_coll_topo_stage_devices(mca_coll_topo_module_t *module);

END_C_DECLS

#endif
