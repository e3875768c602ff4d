/* Requests of calls that do not block: their life, from MPI's call to completion. */
#include "ompi_config.h"

#include "coll_topo_kept.h"

#include <stdlib.h>

#include "ompi/errhandler/errcode-internal.h"
#include "opal/runtime/opal_progress.h"

static int mca_coll_topo_request_free(ompi_request_t **request);
static int mca_coll_topo_request_start(size_t count, ompi_request_t **requests);

static int mca_coll_topo_request_cancel(ompi_request_t *request, int flag)
{
    (void) request;
    (void) flag;
    return MPI_ERR_REQUEST;
}

static void mca_coll_topo_request_construct(mca_coll_topo_request_t *request)
{
    memset((char *) request + sizeof(request->super), 0, sizeof(*request) - sizeof(request->super));
    request->super.super.req_type = OMPI_REQUEST_COLL;
    request->super.super.req_status._cancelled = 0;
    request->super.super.req_free = mca_coll_topo_request_free;
    request->super.super.req_cancel = mca_coll_topo_request_cancel;
    request->super.super.req_start = mca_coll_topo_request_start;
}

OBJ_CLASS_INSTANCE(mca_coll_topo_request_t, ompi_coll_base_nbc_request_t, mca_coll_topo_request_construct, NULL);

static mca_coll_topo_request_t *mca_coll_topo_new_request(mca_coll_topo_module_t *topo,
                                                          const mca_coll_topo_kind_t *kind,
                                                          const mca_coll_topo_arguments_t *arguments, bool persistent)
{
    mca_coll_topo_request_t *request = mca_coll_topo_idle_request();

    if (NULL == request) {
        return NULL;
    }
    OMPI_REQUEST_INIT(&request->super.super, persistent);
    request->super.super.req_free = mca_coll_topo_request_free; /* MPI's functions may have put their own before it */
    request->super.super.req_mpi_object.comm = topo->comm;
    request->super.super.req_status.MPI_ERROR = MPI_SUCCESS;
    request->super.super.req_f_to_c_index = MPI_UNDEFINED;
    MCA_COLL_TOPO_NOTED_TYPES(&request->super).stypes = NULL; /* noted by a thread after another had seen the end */
    MCA_COLL_TOPO_NOTED_TYPES(&request->super).rtypes = NULL;
    request->topo = topo;
    request->comm = topo->comm;
    request->kind = kind;
    request->arguments = *arguments;
    request->tag = 1;
    request->is_new = true;
    request->is_fit = false;
    request->was_freed = false;
    request->is_under_way = false;
    request->awaited = NULL;
    request->stage = MCA_COLL_TOPO_WAITS;
    request->rc = OMPI_SUCCESS;
    OBJ_RETAIN(topo->comm);
    return request;
}

/* `comm` was the request's, which may be another's by now if it is kept. This may be its last use. */
static inline void mca_coll_topo_leave_request(mca_coll_topo_request_t *request, ompi_communicator_t *comm,
                                               bool is_kept)
{
    if (!is_kept) {
        mca_coll_topo_let_go(request);
        mca_coll_topo_keep_idle(request);
    }
    OBJ_RELEASE(comm);
}

/* Nobody wants it any more, and it is not under way. */
static void mca_coll_topo_discard(mca_coll_topo_request_t *request)
{
    ompi_communicator_t *comm = request->comm;

    OMPI_REQUEST_FINI(&request->super.super);
    mca_coll_topo_leave_request(request, comm, mca_coll_topo_keep_request(request));
}

/* MPI forbids it for requests under way; they end all the same, and then go. */
static int mca_coll_topo_request_free(ompi_request_t **handle)
{
    mca_coll_topo_request_t *request = (mca_coll_topo_request_t *) *handle;

    *handle = MPI_REQUEST_NULL;
    if (!mca_coll_topo_free_later(request)) {
        mca_coll_topo_discard(request);
    }
    return OMPI_SUCCESS;
}

/* Without threads nobody can have put something else there meanwhile. */
static inline void mca_coll_topo_signal(ompi_request_t *request)
{
    if (OPAL_LIKELY(!opal_using_threads() && NULL == request->req_complete_cb
                    && REQUEST_PENDING == request->req_complete)) {
        request->req_complete = REQUEST_COMPLETED;
    } else {
        (void) ompi_request_complete(request, true);
    }
}

/* The request is in no list. What it holds it has until the user has seen the end. */
void mca_coll_topo_complete(mca_coll_topo_request_t *request)
{
    int rc = request->rc;
    bool was_freed;

    if (OPAL_LIKELY(MCA_COLL_TOPO_RUNS == request->stage)) {
        rc = mca_coll_topo_end(request);
    } else if (MCA_COLL_TOPO_PASSED == request->stage) {
        rc = mca_coll_topo_end_passed(request);
    }
    if (OPAL_UNLIKELY(NULL != request->types)) {
        mca_coll_topo_show_own_types(request);
    }
    request->super.super.req_status.MPI_ERROR = rc;
    was_freed = mca_coll_topo_is_back(request);
    mca_coll_topo_signal(&request->super.super); /* after this it may be gone, unless it was freed */
    if (OPAL_UNLIKELY(was_freed)) {
        request->was_freed = false; /* it may serve the next call */
        mca_coll_topo_discard(request);
    }
}

static bool mca_coll_topo_move_operation_on(mca_coll_topo_request_t *request)
{
    bool over;

    opal_atomic_rmb();
    over = 0 != colltopo_progress(request->operation);
    request->awaited = over ? NULL : (ompi_request_t *) colltopo_awaited(request->operation);
    return over;
}

/* Whether the request is over. */
bool mca_coll_topo_move_on(mca_coll_topo_request_t *request)
{
    if (MCA_COLL_TOPO_WAITS == request->stage) {
        colltopo_move_turns(request->topo->collectives);
    }
    switch (request->stage) {
    case MCA_COLL_TOPO_RUNS:
        return mca_coll_topo_move_operation_on(request);
    case MCA_COLL_TOPO_PASSED:
        opal_atomic_rmb();
        return REQUEST_COMPLETE(request->passed);
    default:
        return MCA_COLL_TOPO_OVER == request->stage;
    }
}

/* Reserved once by every call that is not declined at once; those the former function reserves one for. None where no
 * byte moves: MPI may have returned by itself on other ranks, by a count of 0. */
static void mca_coll_topo_reserve_tag(mca_coll_topo_request_t *request)
{
    if (0 < request->tag) {
        request->tag = ompi_coll_base_nbc_reserve_tags(request->comm, 1);
    }
}

static void mca_coll_topo_set_stage(mca_coll_topo_request_t *request, mca_coll_topo_stage_t stage)
{
    opal_atomic_wmb();
    request->stage = stage;
}

/* The body of a turn. What it leaves behind for a persistent request is looked at by mca_coll_topo_init_call. */
static void mca_coll_topo_take_turn(void *context)
{
    mca_coll_topo_request_t *request = (mca_coll_topo_request_t *) context;
    bool over;
    int rc = mca_coll_topo_prepare(request, true);

    if (request->super.super.req_persistent) {
        request->rc = rc;
        mca_coll_topo_set_stage(request, MCA_COLL_TOPO_OVER);
        return;
    }
    if (COLLTOPO_DECLINED == rc) {
        rc = mca_coll_topo_pass_on_late(request);
        if (OMPI_SUCCESS == rc) {
            mca_coll_topo_set_stage(request, MCA_COLL_TOPO_PASSED);
            return;
        }
    } else if (OMPI_SUCCESS == rc) {
        rc = mca_coll_topo_begin(request, &over); /* whoever looks next sees it */
        if (OMPI_SUCCESS == rc) {
            mca_coll_topo_set_stage(request, MCA_COLL_TOPO_RUNS);
            return;
        }
    }
    request->rc = rc;
    mca_coll_topo_set_stage(request, MCA_COLL_TOPO_OVER);
}

/* The other ranks wait for this one's turn: where there is no memory for it, the call fails. */
static int mca_coll_topo_queue(mca_coll_topo_request_t *request)
{
    request->turn = (colltopo_turn){.body = mca_coll_topo_take_turn, .context = request};
    return mca_coll_topo_error(colltopo_take_turn(request->topo->collectives, &request->turn));
}

/* Local, and once. */
static int mca_coll_topo_get_ready(mca_coll_topo_module_t *topo)
{
    return OPAL_LIKELY(NULL != topo->collectives) ? OMPI_SUCCESS : mca_coll_topo_module_start(topo);
}

/* Describes the call and makes an operation for it, unless that takes a turn (COLLTOPO_UNKNOWN). */
static int mca_coll_topo_look_up(mca_coll_topo_request_t *request)
{
    int rc = mca_coll_topo_hold(request);

    rc = OPAL_LIKELY(OMPI_SUCCESS == rc) ? mca_coll_topo_describe(request) : rc;
    const bool is_empty = OMPI_SUCCESS == rc && 0 == request->asked.bytes && !request->asked.declines_alone;
    if (request->super.super.req_persistent && !is_empty) {
        mca_coll_topo_reserve_tag(request); /* whatever becomes of it */
    }
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc || is_empty)) {
        return rc;
    }
    rc = mca_coll_topo_prepare(request, false);
    request->is_new = OMPI_SUCCESS != rc;
    request->turns_taken = mca_coll_topo_turns_taken(request->topo);
    return rc;
}

static inline void mca_coll_topo_set_going(mca_coll_topo_request_t *request, bool over)
{
    request->is_under_way = true;
    if (OPAL_UNLIKELY(over)) {
        mca_coll_topo_look_at_lingering();
        mca_coll_topo_complete(request);
    } else {
        mca_coll_topo_send_off(request);
    }
}

/* Begins with an operation at hand. */
static void mca_coll_topo_run_off(mca_coll_topo_request_t *request)
{
    bool over = true;

    request->rc = mca_coll_topo_begin(request, &over);
    request->stage = OMPI_SUCCESS == request->rc ? MCA_COLL_TOPO_RUNS : MCA_COLL_TOPO_OVER;
    mca_coll_topo_set_going(request, over);
}

/* Messages first: what else there is to write is written while they are on their way. */
static void mca_coll_topo_run_again(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *arguments)
{
    colltopo_call *call = &request->asked.call;
    ompi_request_t *super = &request->super.super;
    bool over;

    call->input = NULL == call->input ? NULL : arguments->sbuf;
    call->output = NULL == call->output ? NULL : arguments->rbuf;
    request->tag = ompi_coll_base_nbc_reserve_tags(request->comm, 1);
    over = mca_coll_topo_begin_again(request);
    OBJ_RETAIN(request->comm);
    super->req_complete = REQUEST_PENDING;
    super->req_state = OMPI_REQUEST_ACTIVE;
    super->req_status.MPI_ERROR = MPI_SUCCESS;
    mca_coll_topo_set_going(request, over);
}

/* A call that is declined at once. */
static int mca_coll_topo_let_pass(mca_coll_topo_request_t *request, ompi_request_t **handle)
{
    mca_coll_topo_module_t *topo = request->topo;
    const int rc = mca_coll_topo_pass_on_at_once(request, handle);

    if (OPAL_LIKELY(NULL == request->passed)) {
        OMPI_REQUEST_FINI(&request->super.super);
        mca_coll_topo_leave_request(request, topo->comm, OMPI_SUCCESS == rc && mca_coll_topo_keep_declined(request));
        return rc;
    }
    request->super.super.req_state = OMPI_REQUEST_ACTIVE;
    mca_coll_topo_set_going(request, REQUEST_COMPLETE(request->passed));
    return OMPI_SUCCESS;
}

/* A call that begins in its turn. */
static int mca_coll_topo_send_to_turn(mca_coll_topo_request_t *request, ompi_request_t **handle)
{
    int rc = mca_coll_topo_copy_arrays(request);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    mca_coll_topo_reserve_tag(request);
    request->super.super.req_state = OMPI_REQUEST_ACTIVE;
    request->is_under_way = true;
    rc = mca_coll_topo_queue(request);
    if (OMPI_SUCCESS != rc) {
        request->is_under_way = false;
        return rc;
    }
    *handle = &request->super.super;
    mca_coll_topo_send_off(request);
    return OMPI_SUCCESS;
}

int mca_coll_topo_start_call(mca_coll_base_module_t *module, const mca_coll_topo_kind_t *kind,
                             const mca_coll_topo_arguments_t *arguments, ompi_request_t **handle)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    mca_coll_topo_request_t *request;
    int rc = mca_coll_topo_get_ready(topo);

    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        return rc;
    }
    request = mca_coll_topo_kept_request(topo, kind, arguments);
    if (OPAL_LIKELY(NULL != request)) {
        mca_coll_topo_run_again(request, arguments);
        *handle = &request->super.super;
        return OMPI_SUCCESS;
    }
    if (mca_coll_topo_is_declined(topo, kind, arguments)) {
        return mca_coll_topo_pass_on_again(topo, kind, arguments, handle);
    }
    request = mca_coll_topo_new_request(topo, kind, arguments, false);
    if (OPAL_UNLIKELY(NULL == request)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = mca_coll_topo_look_up(request);
    if (OPAL_UNLIKELY(OMPI_SUCCESS == rc && 0 == request->asked.bytes)) {
        mca_coll_topo_discard(request);
        *handle = &ompi_request_empty;
        return OMPI_SUCCESS;
    }
    if (COLLTOPO_DECLINED == rc) {
        return mca_coll_topo_let_pass(request, handle);
    }
    if (COLLTOPO_UNKNOWN == rc) {
        rc = mca_coll_topo_send_to_turn(request, handle);
    } else if (OMPI_SUCCESS == rc) {
        mca_coll_topo_reserve_tag(request);
        request->super.super.req_state = OMPI_REQUEST_ACTIVE;
        *handle = &request->super.super;
        mca_coll_topo_run_off(request);
    }
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        mca_coll_topo_discard(request);
    }
    return rc;
}

/* MPI lets initialisation wait for the other ranks. */
static int mca_coll_topo_wait_for_turn(mca_coll_topo_request_t *request)
{
    const int rc = mca_coll_topo_queue(request);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    while (MCA_COLL_TOPO_OVER != request->stage) {
        opal_progress();
        colltopo_move_turns(request->topo->collectives);
    }
    opal_atomic_rmb();
    return request->rc;
}

int mca_coll_topo_init_call(mca_coll_base_module_t *module, const mca_coll_topo_kind_t *kind,
                            const mca_coll_topo_arguments_t *arguments, struct ompi_info_t *info,
                            ompi_request_t **handle)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    mca_coll_topo_request_t *request;
    int rc = mca_coll_topo_get_ready(topo);

    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        return rc;
    }
    request = mca_coll_topo_new_request(topo, kind, arguments, true);
    if (OPAL_UNLIKELY(NULL == request)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = mca_coll_topo_look_up(request);
    if (COLLTOPO_UNKNOWN == rc) {
        rc = mca_coll_topo_wait_for_turn(request);
    }
    if (COLLTOPO_DECLINED == rc) {
        rc = mca_coll_topo_pass_on_init(request, info, handle);
        if (NULL == request->passed) {
            mca_coll_topo_discard(request);
        }
        return rc;
    }
    if (OMPI_SUCCESS != rc) {
        mca_coll_topo_discard(request);
        return rc;
    }
    if (0 == request->asked.bytes) {
        mca_coll_topo_discard(request);
        return ompi_request_persistent_noop_create(handle);
    }
    *handle = &request->super.super;
    return OMPI_SUCCESS;
}

static int mca_coll_topo_request_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; ++i) {
        mca_coll_topo_request_t *request = (mca_coll_topo_request_t *) requests[i];
        ompi_request_t *super = &request->super.super;

        const bool at_once = OPAL_LIKELY(request->is_laid_out);
        const bool over = at_once && mca_coll_topo_begin_again(request); /* messages first */

        super->req_complete = REQUEST_PENDING;
        super->req_state = OMPI_REQUEST_ACTIVE;
        super->req_status.MPI_ERROR = MPI_SUCCESS;
        if (at_once) {
            mca_coll_topo_set_going(request, over);
        } else if (NULL != request->passed) {
            mca_coll_topo_set_going(request, mca_coll_topo_start_passed(request));
        } else {
            mca_coll_topo_run_off(request);
        }
    }
    return OMPI_SUCCESS;
}
