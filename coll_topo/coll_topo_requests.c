/* Requests of calls that do not block: their life, from MPI's call to completion. */
#include "ompi_config.h"

#include "coll_topo_requests.h"

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

/* Holds on to what the call uses: users may free their handles at once. */
static void mca_coll_topo_keep(mca_coll_topo_request_t *request)
{
    const mca_coll_topo_asked_t *asked = &request->asked;
    ompi_op_t *const op = asked->is_reduction ? asked->reduction.operation.op : NULL;
    ompi_datatype_t *const types[2] = {asked->is_reduction ? asked->reduction.operation.dtype : asked->move.input.dtype,
                                       asked->is_reduction ? NULL : asked->move.output.dtype};

    for (int i = 0; i < 2; ++i) {
        if (NULL != types[i] && !ompi_datatype_is_predefined(types[i])) {
            OBJ_RETAIN(types[i]);
            request->kept_types[i] = types[i];
        }
    }
    if (NULL != op && !ompi_op_is_intrinsic(op)) {
        OBJ_RETAIN(op);
        request->kept_op = op;
    }
}

/* Lets go of everything but the communicator, whose last use this may be. */
static void mca_coll_topo_let_go(mca_coll_topo_request_t *request)
{
    if (NULL != request->operation) {
        colltopo_release(request->operation);
        request->operation = NULL;
    }
    mca_coll_topo_drop_data(request);
    for (int i = 0; i < 2; ++i) {
        if (NULL != request->kept_types[i]) {
            OBJ_RELEASE(request->kept_types[i]);
            request->kept_types[i] = NULL;
        }
    }
    if (NULL != request->kept_op) {
        OBJ_RELEASE(request->kept_op);
        request->kept_op = NULL;
    }
    free(request->counts);
    request->counts = NULL;
}

static mca_coll_topo_request_t *mca_coll_topo_new_request(mca_coll_topo_module_t *topo,
                                                          const mca_coll_topo_kind_t *kind,
                                                          const mca_coll_topo_arguments_t *arguments, bool persistent)
{
    mca_coll_topo_request_t *request = mca_coll_topo_idle_request();

    if (NULL == request) {
        return NULL;
    }
    OMPI_REQUEST_INIT(&request->super.super, persistent);
    request->super.super.req_mpi_object.comm = topo->comm;
    request->super.super.req_status.MPI_ERROR = MPI_SUCCESS;
    request->super.super.req_f_to_c_index = MPI_UNDEFINED;
    request->topo = topo;
    request->comm = topo->comm;
    request->kind = kind;
    request->arguments = *arguments;
    request->tag = 1;
    request->was_freed = false;
    request->is_under_way = false;
    request->stage = MCA_COLL_TOPO_WAITS;
    request->rc = OMPI_SUCCESS;
    OBJ_RETAIN(topo->comm);
    return request;
}

static void mca_coll_topo_return(mca_coll_topo_request_t *request)
{
    OMPI_REQUEST_FINI(&request->super.super);
    mca_coll_topo_keep_idle(request);
}

/* Nobody wants it any more, and it is not under way. */
static void mca_coll_topo_discard(mca_coll_topo_request_t *request)
{
    ompi_communicator_t *comm = request->comm;

    mca_coll_topo_let_go(request);
    mca_coll_topo_return(request);
    OBJ_RELEASE(comm);
}

/* MPI forbids it for requests under way; they end all the same, and then go. */
static int mca_coll_topo_request_free(ompi_request_t **handle)
{
    mca_coll_topo_request_t *request = (mca_coll_topo_request_t *) *handle;
    const bool later = mca_coll_topo_free_later(request);

    *handle = MPI_REQUEST_NULL;
    if (later) {
        return OMPI_SUCCESS;
    }
    if (request->super.super.req_persistent) {
        mca_coll_topo_discard(request);
    } else {
        mca_coll_topo_return(request);
    }
    return OMPI_SUCCESS;
}

/* The request is in no list. */
void mca_coll_topo_complete(mca_coll_topo_request_t *request)
{
    const bool persistent = request->super.super.req_persistent;
    ompi_communicator_t *comm = request->comm;
    int rc = request->rc;
    bool was_freed;

    if (MCA_COLL_TOPO_RUNS == request->stage) {
        rc = mca_coll_topo_end(request);
    } else if (MCA_COLL_TOPO_PASSED == request->stage) {
        rc = request->passed->req_status.MPI_ERROR;
        (void) ompi_request_free(&request->passed);
    }
    request->super.super.req_status.MPI_ERROR = rc;
    if (!persistent) {
        mca_coll_topo_let_go(request);
    }
    was_freed = mca_coll_topo_is_back(request);
    (void) ompi_request_complete(&request->super.super, true); /* after this it may be gone */
    if (persistent) {
        if (was_freed) {
            mca_coll_topo_discard(request);
        }
        return;
    }
    if (was_freed) {
        mca_coll_topo_return(request);
    }
    OBJ_RELEASE(comm);
}

/* Whether the request is over. */
bool mca_coll_topo_move_on(mca_coll_topo_request_t *request)
{
    if (MCA_COLL_TOPO_WAITS == request->stage) {
        colltopo_move_turns(request->topo->collectives);
    }
    switch (request->stage) {
    case MCA_COLL_TOPO_RUNS:
        opal_atomic_rmb();
        return 0 != colltopo_progress(request->operation);
    case MCA_COLL_TOPO_PASSED:
        opal_atomic_rmb();
        return REQUEST_COMPLETE(request->passed);
    default:
        return MCA_COLL_TOPO_OVER == request->stage;
    }
}

/* Reserved once by every call that is not declined at once; those the former function reserves one for. */
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
        rc = mca_coll_topo_begin(request);
        if (OMPI_SUCCESS == rc) {
            mca_coll_topo_set_stage(request, MCA_COLL_TOPO_RUNS);
            return;
        }
    }
    request->rc = rc;
    mca_coll_topo_set_stage(request, MCA_COLL_TOPO_OVER);
}

static void mca_coll_topo_queue(mca_coll_topo_request_t *request)
{
    request->turn = (colltopo_turn){.body = mca_coll_topo_take_turn, .context = request, .tag = request->tag};
    colltopo_take_turn(request->topo->collectives, &request->turn);
    colltopo_move_turns(request->topo->collectives);
}

/* Local, and once. */
static int mca_coll_topo_get_ready(mca_coll_topo_module_t *topo)
{
    return OPAL_LIKELY(NULL != topo->collectives) ? OMPI_SUCCESS : mca_coll_topo_module_start(topo);
}

/* Describes the call and makes an operation for it, unless that takes a turn (COLLTOPO_UNKNOWN). */
static int mca_coll_topo_look_up(mca_coll_topo_request_t *request)
{
    int rc = mca_coll_topo_describe(request);

    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc || 0 == request->asked.bytes)) {
        return rc;
    }
    mca_coll_topo_keep(request);
    return mca_coll_topo_prepare(request, false);
}

/* Begins with an operation at hand. */
static inline void mca_coll_topo_run_off(mca_coll_topo_request_t *request)
{
    const int rc = mca_coll_topo_begin(request);

    request->rc = rc;
    request->stage = OMPI_SUCCESS == rc ? MCA_COLL_TOPO_RUNS : MCA_COLL_TOPO_OVER;
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc) || 0 != colltopo_progress(request->operation)) {
        mca_coll_topo_complete(request);
    } else {
        mca_coll_topo_send_off(request);
    }
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
    request = mca_coll_topo_new_request(topo, kind, arguments, false);
    if (OPAL_UNLIKELY(NULL == request)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = mca_coll_topo_look_up(request);
    if (OPAL_UNLIKELY(OMPI_SUCCESS == rc && 0 == request->asked.bytes)) {
        mca_coll_topo_reserve_tag(request);
        mca_coll_topo_discard(request);
        *handle = &ompi_request_empty;
        return OMPI_SUCCESS;
    }
    if (OMPI_SUCCESS != rc && COLLTOPO_UNKNOWN != rc) {
        mca_coll_topo_discard(request);
        return COLLTOPO_DECLINED == rc ? kind->pass_on(topo, arguments, topo->comm, handle) : rc;
    }
    mca_coll_topo_reserve_tag(request);
    request->super.super.req_state = OMPI_REQUEST_ACTIVE;
    request->is_under_way = true;
    *handle = &request->super.super;
    if (COLLTOPO_UNKNOWN == rc) {
        mca_coll_topo_queue(request);
        mca_coll_topo_send_off(request);
    } else {
        mca_coll_topo_run_off(request);
    }
    return OMPI_SUCCESS;
}

/* MPI lets initialisation wait for the other ranks. */
static int mca_coll_topo_wait_for_turn(mca_coll_topo_request_t *request)
{
    mca_coll_topo_queue(request);
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
    mca_coll_topo_reserve_tag(request); /* whatever becomes of it */
    rc = mca_coll_topo_look_up(request);
    if (COLLTOPO_UNKNOWN == rc) {
        rc = mca_coll_topo_wait_for_turn(request);
    }
    if (OMPI_SUCCESS != rc) {
        mca_coll_topo_discard(request);
        return COLLTOPO_DECLINED == rc ? kind->pass_on_init(topo, arguments, topo->comm, info, handle) : rc;
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

        super->req_complete = REQUEST_PENDING;
        super->req_state = OMPI_REQUEST_ACTIVE;
        super->req_status.MPI_ERROR = MPI_SUCCESS;
        request->is_under_way = true;
        mca_coll_topo_run_off(request);
    }
    return OMPI_SUCCESS;
}
