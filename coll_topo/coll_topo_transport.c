/* What a module lends to colltopo: messages over the PML, agreement over the communicator's former functions, and a
 * voice.
 *
 * Every collective has the tag that Open MPI gives its blocking form. Messages of one pair and tag keep their order, so
 * calls that follow each other, whether served here or by the former functions, cannot take each other's messages;
 * lanes share it. Nothing but users' data has these tags: a rank that has no coll/topo would take it for data. Open
 * MPI's tags for neighbours are too far down: UCX keeps 24 bits of a tag, of which the lowest are those of calls that
 * do not block. */
#include "ompi_config.h"

#include "coll_topo.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ompi/errhandler/errcode-internal.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/arch.h"
#include "opal/util/output.h"

/* Of what ranks agree on. Between MPI_ANY_TAG and the first tag of Open MPI's collectives nobody has one. */
#define MCA_COLL_TOPO_TAG_AGREEMENT (MCA_COLL_BASE_TAG_ALLGATHER + 1)

static const int mca_coll_topo_tags[COLLTOPO_AGREEMENT + 1] = {
    [COLLTOPO_AGREEMENT] = MCA_COLL_TOPO_TAG_AGREEMENT,    [COLLTOPO_ALLTOALL] = MCA_COLL_BASE_TAG_ALLTOALL,
    [COLLTOPO_ALLGATHER] = MCA_COLL_BASE_TAG_ALLGATHER,    [COLLTOPO_REDUCE_SCATTER] = MCA_COLL_BASE_TAG_REDUCE_SCATTER,
    [COLLTOPO_ALLREDUCE] = MCA_COLL_BASE_TAG_ALLREDUCE,    [COLLTOPO_BCAST] = MCA_COLL_BASE_TAG_BCAST,
    [COLLTOPO_REDUCE] = MCA_COLL_BASE_TAG_REDUCE,          [COLLTOPO_GATHER] = MCA_COLL_BASE_TAG_GATHER,
    [COLLTOPO_SCATTER] = MCA_COLL_BASE_TAG_SCATTER,        [COLLTOPO_ALLGATHERV] = MCA_COLL_BASE_TAG_ALLGATHERV,
    [COLLTOPO_GATHERV] = MCA_COLL_BASE_TAG_GATHERV,        [COLLTOPO_SCATTERV] = MCA_COLL_BASE_TAG_SCATTERV,
    [COLLTOPO_ALLTOALLV] = MCA_COLL_BASE_TAG_ALLTOALLV,    [COLLTOPO_ALLTOALLW] = MCA_COLL_BASE_TAG_ALLTOALLW,
    [COLLTOPO_NEIGHBORHOOD] = MCA_COLL_BASE_TAG_ALLTOALLW,
};

/* That of a call that blocks by its collective; a call that does not brings its own, which is negative as all are that
 * Open MPI keeps for itself. */
static inline int mca_coll_topo_tag(int collective)
{
    return OPAL_LIKELY(0 <= collective) ? mca_coll_topo_tags[collective] : collective;
}

/* What is rare stays out of the functions that every message runs through: it would cost them registers. */
#define MCA_COLL_TOPO_RARE __attribute__((noinline, cold))

static MCA_COLL_TOPO_RARE int mca_coll_topo_mpi_code_of(int rc)
{
    return ompi_errcode_get_mpi_code(rc);
}

/* Open MPI's own codes are negative, as COLLTOPO_DECLINED is; MPI's are not. */
static inline int mca_coll_topo_mpi_code(int rc)
{
    return OPAL_LIKELY(OMPI_SUCCESS == rc) ? COLLTOPO_SUCCESS : mca_coll_topo_mpi_code_of(rc);
}

/* The request is complete: gives it back. */
static inline int mca_coll_topo_completed(ompi_request_t *pending, void **request)
{
    const int rc = mca_coll_topo_mpi_code(pending->req_status.MPI_ERROR);

    (void) ompi_request_free(&pending);
    *request = NULL;
    return rc;
}

static int mca_coll_topo_test(void *context, void **request)
{
    ompi_request_t *pending = (ompi_request_t *) *request;

    (void) context;
    if (!REQUEST_COMPLETE(pending)) {
        return COLLTOPO_SUCCESS;
    }
    opal_atomic_rmb(); /* the status and the data were written before the request was completed */
    return mca_coll_topo_completed(pending, request);
}

static __attribute__((noinline)) void mca_coll_topo_wait_among_threads(ompi_request_t *pending)
{
    ompi_request_wait_completion(pending);
}

/* As Open MPI's own collectives wait. */
static int mca_coll_topo_wait(void *context, void **request)
{
    ompi_request_t *pending = (ompi_request_t *) *request;

    (void) context;
    if (opal_using_threads()) {
        mca_coll_topo_wait_among_threads(pending);
    } else {
        ompi_request_wait_completion(pending);
    }
    return mca_coll_topo_completed(pending, request);
}

static int mca_coll_topo_send(void *context, const void *data, size_t bytes, int peer, int lane, int collective,
                              void **request)
{
    mca_coll_topo_module_t *module = (mca_coll_topo_module_t *) context;
    ompi_request_t *pending = NULL;
    const int rc = MCA_PML_CALL(isend(data, bytes, MPI_BYTE, peer, mca_coll_topo_tag(collective),
                                      MCA_PML_BASE_SEND_STANDARD, module->comm, &pending));

    (void) lane;
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        *request = NULL;
        return mca_coll_topo_mpi_code(rc);
    }
    *request = &ompi_request_empty == pending ? NULL : pending; /* gone already, as small messages are */
    return COLLTOPO_SUCCESS;
}

static int mca_coll_topo_recv(void *context, void *data, size_t bytes, int peer, int lane, int collective,
                              void **request)
{
    mca_coll_topo_module_t *module = (mca_coll_topo_module_t *) context;
    ompi_request_t *pending = NULL;
    const int rc =
        MCA_PML_CALL(irecv(data, bytes, MPI_BYTE, peer, mca_coll_topo_tag(collective), module->comm, &pending));

    (void) lane;
    *request = OPAL_LIKELY(OMPI_SUCCESS == rc) ? pending : NULL;
    return mca_coll_topo_mpi_code(rc);
}

/* A receive that no message has met yet is taken back; whatever else is under way finishes unseen. */
static void mca_coll_topo_abandon(void *context, void **request)
{
    mca_coll_topo_module_t *module = (mca_coll_topo_module_t *) context;
    ompi_request_t *pending = (ompi_request_t *) *request;

    if (NULL == pending) {
        return;
    }
    if (!REQUEST_COMPLETE(pending)) {
        (void) ompi_request_cancel(pending);
        module->abandoned = module->abandoned || !REQUEST_COMPLETE(pending);
    }
    (void) ompi_request_free(&pending);
    *request = NULL;
}

static void mca_coll_topo_progress(void *context)
{
    (void) context;
    opal_progress();
}

/* Of those that Open MPI has selected for the communicator; NULL: none of them. */
const char *mca_coll_topo_component_of(const ompi_communicator_t *comm, const mca_coll_base_module_t *module)
{
    mca_coll_base_avail_coll_t *selected;

    if (NULL == module || NULL == comm->c_coll->module_list) {
        return NULL;
    }
    OPAL_LIST_FOREACH(selected, comm->c_coll->module_list, mca_coll_base_avail_coll_t)
    {
        if (module == selected->ac_module) {
            return selected->ac_component_name;
        }
    }
    return NULL;
}

static const char *mca_coll_topo_previous_component(void *context, int collective)
{
    const mca_coll_topo_module_t *module = (const mca_coll_topo_module_t *) context;
    const mca_coll_base_module_t *const modules[COLLTOPO_COLLECTIVES] = {
        [COLLTOPO_ALLTOALL] = module->previous.alltoall_module,
        [COLLTOPO_ALLGATHER] = module->previous.allgather_module,
        [COLLTOPO_REDUCE_SCATTER] = module->previous.reduce_scatter_module,
        [COLLTOPO_ALLREDUCE] = module->previous.allreduce_module,
        [COLLTOPO_BCAST] = module->previous.bcast_module,
        [COLLTOPO_REDUCE] = module->previous.reduce_module,
        [COLLTOPO_GATHER] = module->previous.gather_module,
        [COLLTOPO_SCATTER] = module->previous.scatter_module,
        [COLLTOPO_ALLGATHERV] = module->previous.allgatherv_module,
        [COLLTOPO_GATHERV] = module->previous.gatherv_module,
        [COLLTOPO_SCATTERV] = module->previous.scatterv_module,
        [COLLTOPO_ALLTOALLV] = module->previous.alltoallv_module,
        [COLLTOPO_ALLTOALLW] = module->previous.alltoallw_module,
        [COLLTOPO_NEIGHBORHOOD] = module->previous.neighbor_alltoall_module,
    };

    return mca_coll_topo_component_of(module->comm, modules[collective]);
}

void mca_coll_topo_note_previous(mca_coll_topo_module_t *module)
{
    char *all = NULL;

    for (int collective = 0; collective < COLLTOPO_COLLECTIVES; ++collective) {
        const char *component = mca_coll_topo_previous_component(module, collective);
        char *more = NULL;
        if (NULL == component
            || 0 > asprintf(&more, "%s%s%s=%s", NULL == all ? "" : all, NULL == all ? "" : " ",
                            colltopo_collective_name(collective), component)) {
            continue;
        }
        free(all);
        all = more;
    }
    if (NULL != all) {
        free(mca_coll_topo_component.previous);
        mca_coll_topo_component.previous = all;
    }
}

static void mca_coll_topo_replaced(void *context)
{
    mca_coll_topo_forget_declined((mca_coll_topo_module_t *) context);
}

static void mca_coll_topo_say(void *context, int level, const char *line)
{
    mca_coll_topo_module_t *module = (mca_coll_topo_module_t *) context;

    if (0 == level) {
        mca_coll_topo_warn(line);
    } else if (level <= module->verbose) {
        opal_output(0, "coll/topo: %s", line);
    }
}

void mca_coll_topo_callbacks(mca_coll_topo_module_t *module, colltopo_callbacks *callbacks)
{
    *callbacks = (colltopo_callbacks){
        .context = module,
        .send = mca_coll_topo_send,
        .recv = mca_coll_topo_recv,
        .test = mca_coll_topo_test,
        .wait = mca_coll_topo_wait,
        .abandon = mca_coll_topo_abandon,
        .progress = mca_coll_topo_progress,
        .locality = mca_coll_topo_locality,
        .host_names = mca_coll_topo_host_names,
        .say = mca_coll_topo_say,
        .peer = mca_coll_topo_peer,
        .has_settings = mca_coll_topo_has_info(module->comm, "coll_topo_"),
        .places_are_local = 1,
        .previous_component = mca_coll_topo_previous_component,
        .previous_of_operations = "libnbc",
        .library = shell_library(PMPI_Get_library_version),
        .previous = "the next component",
        .transport_error = MPI_ERR_OTHER,
        .truncation_error = MPI_ERR_TRUNCATE,
        .architecture = (unsigned long long) opal_local_arch ^ shell_architecture(),
        .replaced = mca_coll_topo_replaced,
        /* Calls that do not block have the upper half of the negative tags, HCOLL counts down in the other. */
        .other_tags = INT_MAX == mca_pml.pml_max_tag ? -INT_MAX : 0,
    };
}
