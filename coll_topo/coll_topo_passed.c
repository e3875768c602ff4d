/* Calls that are passed on to the function that the communicator had before, which is libnbc's.
 *
 * libnbc reads arrays and the handles in them while it is called, and uses datatypes, operations and the communicator
 * as long as its request lives. It holds none of them: Open MPI's functions hold datatypes and operations for it, but
 * not those of persistent requests, and of MPI_Ialltoallw they note the user's arrays. What they do not hold is held
 * here.
 */
#include "ompi_config.h"

#include "coll_topo_requests.h"

#include <stdlib.h>

/* A communicator that differs from the call's in the next tag to reserve. Ranks whose communicator has known for longer
 * that such calls are declined have let the former function reserve the tag that this rank has reserved itself, and
 * others may have been reserved since. It keeps the real one as long as requests use it. */
typedef struct mca_coll_topo_stand_in_t {
    ompi_communicator_t super;
    ompi_communicator_t *real;
} mca_coll_topo_stand_in_t;

static void mca_coll_topo_stand_in_destruct(mca_coll_topo_stand_in_t *stand_in)
{
    OBJ_RELEASE(stand_in->real);
}

static OBJ_CLASS_INSTANCE(mca_coll_topo_stand_in_t, opal_object_t, NULL, mca_coll_topo_stand_in_destruct);

/* libnbc's alltoallv sends and receives where a count is not 0, whatever the size of the datatype: the other end of a
 * pair may have written the same as 0. */
static int mca_coll_topo_write_nothing_as_0(const mca_coll_topo_request_t *request,
                                            mca_coll_topo_arguments_t *arguments, mca_coll_topo_no_counts_t *none)
{
    const bool is_alltoallv = COLLTOPO_ALLTOALLV == request->kind->collective;
    const bool sends = !is_alltoallv || MPI_IN_PLACE == arguments->sbuf || 0 != arguments->sdtype->super.size;
    const bool receives = !is_alltoallv || 0 != arguments->rdtype->super.size;
    int rc;

    none->memory = NULL;
    if (OPAL_LIKELY(sends && receives)) {
        return OMPI_SUCCESS;
    }
    rc = mca_coll_topo_no_counts(request->topo, none);
    arguments->scounts = sends ? arguments->scounts : none->counts;
    arguments->rcounts = receives ? arguments->rcounts : none->counts;
    return rc;
}

/* An operation that differs from the call's in that it does not commute. */
typedef struct mca_coll_topo_ordered_t {
    ompi_op_t super;
    ompi_op_t *real;
} mca_coll_topo_ordered_t;

static void mca_coll_topo_ordered_destruct(mca_coll_topo_ordered_t *ordered)
{
    OBJ_RELEASE(ordered->real);
}

static OBJ_CLASS_INSTANCE(mca_coll_topo_ordered_t, opal_object_t, NULL, mca_coll_topo_ordered_destruct);

/* libnbc's chain and halving reduce in memory that begins at the first byte of an element, and use it as if it began at
 * the datatype's address. Its binomial tree does not, which is what it takes where the order of ranks is to be kept. */
static int mca_coll_topo_keep_order(mca_coll_topo_request_t *request, mca_coll_topo_arguments_t *arguments)
{
    const size_t object = sizeof(opal_object_t);
    mca_coll_topo_ordered_t *ordered;

    if (OPAL_LIKELY(COLLTOPO_REDUCE != request->kind->collective || 0 == arguments->rdtype->super.true_lb
                    || !ompi_op_is_commute(arguments->op))) {
        return OMPI_SUCCESS;
    }
    ordered = OBJ_NEW(mca_coll_topo_ordered_t);
    if (NULL == ordered) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    memcpy((char *) ordered + object, (const char *) arguments->op + object, sizeof(ompi_op_t) - object);
    ordered->super.o_flags &= ~(uint32_t) OMPI_OP_FLAGS_COMMUTE;
    ordered->real = arguments->op;
    OBJ_RETAIN(ordered->real);
    request->ordered = ordered;
    arguments->op = &ordered->super;
    return OMPI_SUCCESS;
}

/* The former function, which has read the arrays when it returns. */
static int mca_coll_topo_ask_former(mca_coll_topo_request_t *request, ompi_communicator_t *comm,
                                    ompi_request_t **passed)
{
    mca_coll_topo_arguments_t arguments = request->arguments;
    mca_coll_topo_no_counts_t none;
    int rc = mca_coll_topo_write_nothing_as_0(request, &arguments, &none);

    rc = OMPI_SUCCESS == rc ? mca_coll_topo_keep_order(request, &arguments) : rc;
    rc = OMPI_SUCCESS == rc ? request->kind->pass_on(request->topo, &arguments, comm, passed) : rc;
    free(none.memory);
    return rc;
}

static int mca_coll_topo_ask_former_init(mca_coll_topo_request_t *request, struct ompi_info_t *info,
                                         ompi_request_t **passed)
{
    mca_coll_topo_arguments_t arguments = request->arguments;
    mca_coll_topo_no_counts_t none;
    int rc = mca_coll_topo_write_nothing_as_0(request, &arguments, &none);

    rc = OMPI_SUCCESS == rc ? mca_coll_topo_keep_order(request, &arguments) : rc;
    rc = OMPI_SUCCESS == rc ? request->kind->pass_on_init(request->topo, &arguments, request->comm, info, passed) : rc;
    free(none.memory);
    return rc;
}

int mca_coll_topo_pass_on_late(mca_coll_topo_request_t *request)
{
    mca_coll_topo_stand_in_t *stand_in = OBJ_NEW(mca_coll_topo_stand_in_t);
    const size_t object = sizeof(opal_object_t);
    int rc;

    if (NULL == stand_in) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    memcpy((char *) stand_in + object, (const char *) request->comm + object, sizeof(ompi_communicator_t) - object);
    stand_in->super.c_nbc_tag = request->tag;
    stand_in->real = request->comm;
    OBJ_RETAIN(request->comm);
    rc = mca_coll_topo_ask_former(request, &stand_in->super, &request->passed);
    request->stand_in = stand_in; /* libnbc keeps no hold on it between its messages */
    return rc;
}

/* How libnbc frees its requests; NULL: none was seen yet. */
static ompi_request_free_fn_t mca_coll_topo_former_free;

static int mca_coll_topo_free_with_communicator(ompi_request_t **handle)
{
    ompi_request_t *request = *handle;
    ompi_communicator_t *comm = request->req_mpi_object.comm;
    int rc;

    request->req_free = mca_coll_topo_former_free; /* libnbc uses it again */
    rc = request->req_free(handle);
    if (OMPI_SUCCESS != rc) {
        request->req_free = mca_coll_topo_free_with_communicator;
        return rc;
    }
    OBJ_RELEASE(comm);
    return OMPI_SUCCESS;
}

static void mca_coll_topo_hold_communicator(ompi_request_t *request, ompi_communicator_t *comm)
{
    if (OMPI_REQUEST_COLL != request->req_type || comm != request->req_mpi_object.comm) {
        return; /* nothing is under way */
    }
    if (OPAL_UNLIKELY(NULL == mca_coll_topo_former_free)) {
        mca_coll_topo_former_free = request->req_free;
    }
    if (OPAL_LIKELY(mca_coll_topo_former_free == request->req_free)) {
        request->req_free = mca_coll_topo_free_with_communicator;
        OBJ_RETAIN(comm);
    }
}

/* The user gets this request for the other one, unless that is none of libnbc's: without data there may be nothing to
 * watch. */
static void mca_coll_topo_watch(mca_coll_topo_request_t *request, ompi_request_t **handle)
{
    if (OMPI_REQUEST_COLL == request->passed->req_type) {
        request->stage = MCA_COLL_TOPO_PASSED;
        *handle = &request->super.super;
    } else {
        *handle = request->passed;
        request->passed = NULL;
    }
}

int mca_coll_topo_pass_on_at_once(mca_coll_topo_request_t *request, ompi_request_t **handle)
{
    mca_coll_topo_module_t *topo = request->topo;
    ompi_request_t *passed = NULL;
    const int rc = mca_coll_topo_ask_former(request, topo->comm, &passed);

    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        return rc;
    }
    if (OPAL_UNLIKELY(mca_coll_topo_holds_listed_types(request) || NULL != request->ordered)) {
        request->passed = passed;
        mca_coll_topo_watch(request, handle);
    } else {
        mca_coll_topo_hold_communicator(passed, topo->comm);
        *handle = passed;
    }
    return OMPI_SUCCESS;
}

int mca_coll_topo_pass_on_again(mca_coll_topo_module_t *topo, const mca_coll_topo_kind_t *kind,
                                const mca_coll_topo_arguments_t *arguments, ompi_request_t **handle)
{
    const int rc = kind->pass_on(topo, arguments, topo->comm, handle);

    mca_coll_topo_count_passed_on(topo);
    if (OPAL_LIKELY(OMPI_SUCCESS == rc)) {
        mca_coll_topo_hold_communicator(*handle, topo->comm);
    }
    return rc;
}

int mca_coll_topo_pass_on_init(mca_coll_topo_request_t *request, struct ompi_info_t *info, ompi_request_t **handle)
{
    ompi_request_t *passed = NULL;
    const int rc = mca_coll_topo_ask_former_init(request, info, &passed);

    if (OMPI_SUCCESS == rc) {
        request->passed = passed;
        mca_coll_topo_watch(request, handle);
    }
    return rc;
}

bool mca_coll_topo_start_passed(mca_coll_topo_request_t *request)
{
    request->rc = request->passed->req_start(1, &request->passed);
    request->stage = OMPI_SUCCESS == request->rc ? MCA_COLL_TOPO_PASSED : MCA_COLL_TOPO_OVER;
    return MCA_COLL_TOPO_OVER == request->stage || REQUEST_COMPLETE(request->passed);
}

int mca_coll_topo_end_passed(mca_coll_topo_request_t *request)
{
    const int rc = request->passed->req_status.MPI_ERROR;

    if (request->super.super.req_persistent) {
        request->passed->req_state = OMPI_REQUEST_INACTIVE;
    } else {
        (void) ompi_request_free(&request->passed);
        request->passed = NULL;
    }
    return rc;
}

void mca_coll_topo_drop_passed(mca_coll_topo_request_t *request)
{
    if (NULL != request->passed) {
        (void) ompi_request_free(&request->passed);
        request->passed = NULL;
    }
    if (NULL != request->stand_in) {
        OBJ_RELEASE(request->stand_in);
        request->stand_in = NULL;
    }
    if (NULL != request->ordered) {
        OBJ_RELEASE(request->ordered);
        request->ordered = NULL;
    }
}
