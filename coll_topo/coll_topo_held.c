/* What a request keeps of its call: references of its own to datatypes and the operation, and arrays of its own. Users
 * may free and overwrite theirs as soon as the call has returned. Its communicator a request holds from the beginning.
 */
#include "ompi_config.h"

#include "coll_topo_blocks.h"
#include "coll_topo_requests.h"

#include <stdlib.h>

/* Whether a call's side counts on this rank. MPI gives no meaning to the other one, which may be anything. */
static inline bool mca_coll_topo_sends(const mca_coll_topo_request_t *request)
{
    const int collective = request->kind->collective;

    return MPI_IN_PLACE != request->arguments.sbuf
           && ((COLLTOPO_SCATTER != collective && COLLTOPO_SCATTERV != collective)
               || request->arguments.root == request->topo->rank);
}

static inline bool mca_coll_topo_receives(const mca_coll_topo_request_t *request)
{
    const int collective = request->kind->collective;

    return MPI_IN_PLACE != request->arguments.rbuf
           && ((COLLTOPO_GATHER != collective && COLLTOPO_GATHERV != collective)
               || request->arguments.root == request->topo->rank);
}

/* How many items the arrays of each side list. */
typedef struct mca_coll_topo_listed_t {
    size_t sent, received;
} mca_coll_topo_listed_t;

static int mca_coll_topo_list(const mca_coll_topo_request_t *request, mca_coll_topo_listed_t *listed)
{
    listed->sent = listed->received = (size_t) request->topo->ranks;
    if (COLLTOPO_NEIGHBORHOOD == request->kind->collective) {
        const mca_coll_topo_neighbors_t *neighbors = mca_coll_topo_neighbors(request->topo);
        if (NULL == neighbors) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        listed->sent = neighbors->to.edges;
        listed->received = neighbors->from.edges;
    }
    return OMPI_SUCCESS;
}

static ompi_datatype_t *mca_coll_topo_held_type(ompi_datatype_t *dtype)
{
    if (NULL == dtype || ompi_datatype_is_predefined(dtype)) {
        return NULL;
    }
    OBJ_RETAIN(dtype);
    return dtype;
}

/* Of alltoallw and neighbor_alltoallw. */
struct mca_coll_topo_types_t {
    size_t number; /* of `types` */
    bool are_held; /* at least one is */
    ompi_datatype_t *types[];
};

/* Open MPI's functions release as many types as the communicator has neighbours, in MPI_Ialltoallw too. */
static int mca_coll_topo_least_types(const mca_coll_topo_request_t *request, size_t *least)
{
    *least = 0;
    if (OMPI_COMM_IS_TOPO(request->comm)) {
        const mca_coll_topo_neighbors_t *neighbors = mca_coll_topo_neighbors(request->topo);
        if (NULL == neighbors) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        *least = neighbors->to.edges < neighbors->from.edges ? neighbors->from.edges : neighbors->to.edges;
    }
    return OMPI_SUCCESS;
}

/* Copies a side's `items` types, and what is missing of `room` as bytes. */
static void mca_coll_topo_hold_side(mca_coll_topo_types_t *own, ompi_datatype_t *const **types, size_t items,
                                    size_t room)
{
    ompi_datatype_t **const first = own->types + own->number;

    for (size_t i = 0; i < room; ++i) {
        first[i] = i < items ? (*types)[i] : &ompi_mpi_byte.dt;
        own->are_held = NULL != mca_coll_topo_held_type(first[i]) || own->are_held;
    }
    own->number += room;
    *types = first;
}

static int mca_coll_topo_hold_types(mca_coll_topo_request_t *request)
{
    mca_coll_topo_arguments_t *a = &request->arguments;
    mca_coll_topo_listed_t listed;
    size_t least, sent, received;

    if (OMPI_SUCCESS != mca_coll_topo_list(request, &listed)
        || OMPI_SUCCESS != mca_coll_topo_least_types(request, &least)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    sent = listed.sent < least ? least : listed.sent;
    received = listed.received < least ? least : listed.received;
    request->types = malloc(sizeof(*request->types) + (sent + received) * sizeof(ompi_datatype_t *));
    if (NULL == request->types) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    *request->types = (mca_coll_topo_types_t){0};
    if (mca_coll_topo_sends(request)) {
        mca_coll_topo_hold_side(request->types, &a->sdtypes, listed.sent, sent);
    }
    if (mca_coll_topo_receives(request)) {
        mca_coll_topo_hold_side(request->types, &a->rdtypes, listed.received, received);
    }
    return OMPI_SUCCESS;
}

int mca_coll_topo_hold(mca_coll_topo_request_t *request)
{
    const mca_coll_topo_arguments_t *a = &request->arguments;

    if (OPAL_UNLIKELY(NULL != a->rdtypes)) {
        return mca_coll_topo_hold_types(request);
    }
    if (NULL != a->sdtype && mca_coll_topo_sends(request)) {
        request->kept_types[0] = mca_coll_topo_held_type(a->sdtype);
    }
    if (mca_coll_topo_receives(request)) {
        request->kept_types[1] = mca_coll_topo_held_type(a->rdtype);
    }
    if (NULL != a->op && !ompi_op_is_intrinsic(a->op)) {
        OBJ_RETAIN(a->op);
        request->kept_op = a->op;
    }
    return OMPI_SUCCESS;
}

bool mca_coll_topo_holds_listed_types(const mca_coll_topo_request_t *request)
{
    return NULL != request->types && request->types->are_held;
}

/* An array copied to `place`; returns what follows it there. */
#define MCA_COLL_TOPO_COPY(what, array, items, place) \
    (mca_coll_topo_is_given(array) ? mca_coll_topo_copy_##what(&(array), items, place) : (place))

int mca_coll_topo_copy_arrays(mca_coll_topo_request_t *request)
{
    mca_coll_topo_arguments_t *a = &request->arguments;
    mca_coll_topo_listed_t listed;
    size_t *place;
    const int rc = mca_coll_topo_list(request, &listed);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (!mca_coll_topo_is_given(a->scounts) && !mca_coll_topo_is_given(a->rcounts)) {
        return OMPI_SUCCESS;
    }
    request->arrays = place = malloc(2 * (listed.sent + listed.received + 1) * sizeof(*place));
    if (NULL == place) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (mca_coll_topo_sends(request)) {
        place = MCA_COLL_TOPO_COPY(counts, a->scounts, listed.sent, place);
        place = MCA_COLL_TOPO_COPY(displs, a->sdispls, listed.sent, place);
        place = MCA_COLL_TOPO_COPY(byte_displs, a->sbytes, listed.sent, place);
    }
    if (mca_coll_topo_receives(request)) {
        place = MCA_COLL_TOPO_COPY(counts, a->rcounts, listed.received, place);
        place = MCA_COLL_TOPO_COPY(displs, a->rdispls, listed.received, place);
        (void) MCA_COLL_TOPO_COPY(byte_displs, a->rbytes, listed.received, place);
    }
    return OMPI_SUCCESS;
}

/* Open MPI's function has counted the types once more after the call had returned, and notes the user's arrays in the
 * request, which it reads in the end. */
void mca_coll_topo_show_own_types(mca_coll_topo_request_t *request)
{
    if (NULL == request->types) {
        return;
    }
    if (NULL != MCA_COLL_TOPO_NOTED_TYPES(&request->super).stypes) {
        MCA_COLL_TOPO_NOTED_TYPES(&request->super).stypes = request->arguments.sdtypes;
    }
    if (NULL != MCA_COLL_TOPO_NOTED_TYPES(&request->super).rtypes) {
        MCA_COLL_TOPO_NOTED_TYPES(&request->super).rtypes = request->arguments.rdtypes;
    }
}

void mca_coll_topo_drop_held(mca_coll_topo_request_t *request)
{
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
    if (OPAL_UNLIKELY(NULL != request->types)) {
        for (size_t i = 0; i < request->types->number; ++i) {
            ompi_datatype_t *dtype = request->types->types[i];
            if (NULL != dtype && !ompi_datatype_is_predefined(dtype)) {
                OBJ_RELEASE(dtype);
            }
        }
        free(request->types);
        request->types = NULL;
    }
    if (OPAL_UNLIKELY(NULL != request->arrays)) {
        free(request->arrays);
        request->arrays = NULL;
    }
}
