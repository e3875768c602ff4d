/* Calls that do not block: MPI_Ialltoall ... and MPI_Alltoall_init ...
 *
 * A request holds a call by its arguments. It begins as an operation of colltopo; where that is new to the
 * communicator, it waits for its turn first. What is declined becomes a request of the function that the communicator
 * had before, and is watched here. */
#ifndef MCA_COLL_TOPO_REQUESTS_H
#define MCA_COLL_TOPO_REQUESTS_H

#include "coll_topo.h"

#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/request/request.h"

BEGIN_C_DECLS

/* The arguments of any collective; a function's own ones are filled in. */
typedef struct mca_coll_topo_arguments_t {
    const void *sbuf;
    void *rbuf; /* the one buffer of bcast */
    size_t scount, rcount;
    ompi_datatype_t *sdtype, *rdtype; /* reductions: both the same */
    ompi_op_t *op;
    int root;
    mca_coll_topo_counts_t scounts, rcounts; /* reduce_scatter, and the calls that end in v or w */
    mca_coll_topo_displs_t sdispls, rdispls;
    ompi_datatype_t *const *sdtypes, *const *rdtypes; /* alltoallw */
    mca_coll_topo_byte_displs_t sbytes, rbytes;       /* neighbor_alltoallw, in place of displacements */
} mca_coll_topo_arguments_t;

typedef struct mca_coll_topo_request_t mca_coll_topo_request_t;
typedef struct mca_coll_topo_uneven_t mca_coll_topo_uneven_t;
typedef struct mca_coll_topo_types_t mca_coll_topo_types_t;

/* What one function of MPI does with them. */
typedef struct mca_coll_topo_kind_t {
    int collective;
    /* Fills in request->asked, by the arguments. */
    int (*describe)(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *arguments);
    /* Calls the former function, non-blocking, or the one that makes a persistent request. */
    int (*pass_on)(mca_coll_topo_module_t *topo, const mca_coll_topo_arguments_t *arguments, ompi_communicator_t *comm,
                   ompi_request_t **request);
    int (*pass_on_init)(mca_coll_topo_module_t *topo, const mca_coll_topo_arguments_t *arguments,
                        ompi_communicator_t *comm, struct ompi_info_t *info, ompi_request_t **request);
} mca_coll_topo_kind_t;

/* A call as colltopo is asked it, without pointers, and what brings its data into dense form and back. */
typedef struct mca_coll_topo_asked_t {
    bool is_reduction;
    colltopo_call call;
    mca_coll_topo_move_t move;
    mca_coll_topo_reduction_t reduction;
    size_t bytes;        /* 0: nothing to do */
    bool declines_alone; /* the former function has to see what is wrong, though other ranks may find nothing wrong */
} mca_coll_topo_asked_t;

typedef enum {
    MCA_COLL_TOPO_WAITS,  /* for its turn */
    MCA_COLL_TOPO_RUNS,   /* as an operation */
    MCA_COLL_TOPO_PASSED, /* as a request of the former function */
    MCA_COLL_TOPO_OVER    /* failed before it began */
} mca_coll_topo_stage_t;

struct mca_coll_topo_request_t {
    ompi_coll_base_nbc_request_t super;
    mca_coll_topo_request_t *next, *before; /* of those under way */
    mca_coll_topo_module_t *topo;
    const mca_coll_topo_kind_t *kind;
    mca_coll_topo_arguments_t arguments;
    mca_coll_topo_asked_t asked;
    size_t *counts;                 /* reduce_scatter's, one per rank */
    mca_coll_topo_uneven_t *uneven; /* of a call whose blocks have sizes of their own; NULL: of another */
    int tag;                        /* 1: none reserved yet */
    volatile int stage;
    unsigned turns_taken; /* when its operation was given out of turn or declined, or is_new */
    int ticks;            /* of a call like its own (colltopo_ticks) */
    bool is_new;
    bool is_fit;       /* to be kept for calls like its own */
    bool is_laid_out;  /* the call's pointers hold for every start */
    bool is_packed;    /* they point into `memory` */
    bool is_under_way; /* under the lock */
    bool was_freed;    /* while under way */
    int rc;            /* MPI's code, of a call that did not begin */
    colltopo_operation *operation;
    ompi_request_t *awaited;                   /* a message without which there is nothing to do; NULL: none is known */
    ompi_request_t *passed;                    /* the former function's; a persistent one has it for all starts */
    struct mca_coll_topo_stand_in_t *stand_in; /* what was passed on late has for its communicator */
    struct mca_coll_topo_ordered_t *ordered;   /* and a reduce that is mended for its operation */
    colltopo_turn turn;
    struct shell_memory memory;           /* packed data */
    mca_coll_topo_buffer_t input, output; /* of a process with an accelerator */
    ompi_communicator_t *comm;            /* kept while this uses it, as is what follows */
    ompi_datatype_t *kept_types[2];
    ompi_op_t *kept_op;
    mca_coll_topo_types_t *types; /* listed ones, to which `arguments` point */
    size_t *arrays;               /* counts and places, to which `arguments` point once the call has returned */
};
OBJ_CLASS_DECLARATION(mca_coll_topo_request_t);

/* MPI_Iallreduce and the like, and MPI_Allreduce_init and the like. */
int mca_coll_topo_start_call(mca_coll_base_module_t *module, const mca_coll_topo_kind_t *kind,
                             const mca_coll_topo_arguments_t *arguments, ompi_request_t **request);
int mca_coll_topo_init_call(mca_coll_base_module_t *module, const mca_coll_topo_kind_t *kind,
                            const mca_coll_topo_arguments_t *arguments, struct ompi_info_t *info,
                            ompi_request_t **request);

/* Nothing is under way any more, and nothing will be. */
void mca_coll_topo_stop_looking(void);
/* The request, with is_under_way set, is looked at from now on, and completed by whoever makes progress. */
void mca_coll_topo_send_off(mca_coll_topo_request_t *request);
/* After a request that was over at once: whoever makes progress moves on what lanes still hold of it. */
void mca_coll_topo_look_at_lingering(void);
/* Whether the request is over; then it is taken out of the list and completed. */
bool mca_coll_topo_move_on(mca_coll_topo_request_t *request);
void mca_coll_topo_complete(mca_coll_topo_request_t *request);

/* References of the request's own to the datatypes and the operation of its call, and a copy of listed datatypes. To be
 * called before it is described. */
int mca_coll_topo_hold(mca_coll_topo_request_t *request);
/* Copies of the arrays of counts and places, for a call that may be passed on when it has returned. */
int mca_coll_topo_copy_arrays(mca_coll_topo_request_t *request);
bool mca_coll_topo_holds_listed_types(const mca_coll_topo_request_t *request);
/* Before the user is told of the end. */
void mca_coll_topo_show_own_types(mca_coll_topo_request_t *request);
void mca_coll_topo_drop_held(mca_coll_topo_request_t *request);

/* Data of a request. `let_go` is about all that it uses; `prepare` decides where the operation's data lies, and
 * may communicate in a turn alone; `begin` fills that in and begins the operation, which is `over` perhaps;
 * `begin_again` does that where the data needs nothing; `end` brings results home. Codes are MPI's, or
 * COLLTOPO_DECLINED and COLLTOPO_UNKNOWN. */
int mca_coll_topo_describe(mca_coll_topo_request_t *request);
void mca_coll_topo_let_go(mca_coll_topo_request_t *request); /* of all but the communicator */
int mca_coll_topo_prepare(mca_coll_topo_request_t *request, bool in_turn);
int mca_coll_topo_begin(mca_coll_topo_request_t *request, bool *over);
int mca_coll_topo_end(mca_coll_topo_request_t *request);
void mca_coll_topo_drop_data(mca_coll_topo_request_t *request);
/* The same where blocks have sizes of their own, in request->memory. */
int mca_coll_topo_pack_uneven(mca_coll_topo_request_t *request, const struct shell_side *side);
int mca_coll_topo_unpack_uneven(mca_coll_topo_request_t *request, const struct shell_side *side);
void mca_coll_topo_drop_uneven(mca_coll_topo_request_t *request);

static inline bool mca_coll_topo_begin_again(mca_coll_topo_request_t *request)
{
    const bool over = 0 != colltopo_begin(request->operation, &request->asked.call, request->tag);

    request->awaited = over ? NULL : (ompi_request_t *) colltopo_awaited(request->operation);
    return over;
}

/* Passes the call on with the tag that it has reserved, so that ranks whose former function reserves one itself agree
 * with this one. */
int mca_coll_topo_pass_on_late(mca_coll_topo_request_t *request);
/* Passes a call on before it returns. Either the former function's request becomes the user's, or this one, which has
 * that in `passed` from then on; else it is to be discarded. */
int mca_coll_topo_pass_on_at_once(mca_coll_topo_request_t *request, ompi_request_t **handle);
int mca_coll_topo_pass_on_init(mca_coll_topo_request_t *request, struct ompi_info_t *info, ompi_request_t **handle);
/* A call of predefined datatypes and operations, whose like was declined before. */
int mca_coll_topo_pass_on_again(mca_coll_topo_module_t *topo, const mca_coll_topo_kind_t *kind,
                                const mca_coll_topo_arguments_t *arguments, ompi_request_t **handle);
/* Begins a persistent one; whether it is over already. */
bool mca_coll_topo_start_passed(mca_coll_topo_request_t *request);
/* Its code, when it is over. */
int mca_coll_topo_end_passed(mca_coll_topo_request_t *request);
void mca_coll_topo_drop_passed(mca_coll_topo_request_t *request);

END_C_DECLS

#endif
