/* MPI's v and w calls that do not block: what they say of sizes, places and datatypes is noted when they are made, and
 * nothing of it is looked at in the user's arrays again. */
#include "ompi_config.h"

#include "coll_topo_functions.h"
#include "coll_topo_uneven_requests.h"

#include <stdlib.h>

struct mca_coll_topo_uneven_t {
    struct shell_uneven move;
    struct shell_packing packing;
    colltopo_blocks places;
    mca_coll_topo_blocks_t input, output;
};

/* All arrays in one piece of memory. */
static mca_coll_topo_uneven_t *mca_coll_topo_new_uneven(size_t ranks, const mca_coll_topo_edges_t *to,
                                                        const mca_coll_topo_edges_t *from)
{
    const size_t numbers = mca_coll_topo_numbers(to, ranks) + mca_coll_topo_numbers(from, ranks);
    mca_coll_topo_uneven_t *const uneven = malloc(sizeof(*uneven) + numbers * sizeof(size_t));
    size_t *number;

    if (NULL == uneven) {
        return NULL;
    }
    memset(uneven, 0, sizeof(*uneven));
    number = mca_coll_topo_place_numbers(&uneven->input, to, ranks, (size_t *) (uneven + 1));
    (void) mca_coll_topo_place_numbers(&uneven->output, from, ranks, number);
    return uneven;
}

void mca_coll_topo_drop_uneven(mca_coll_topo_request_t *request)
{
    free(request->uneven);
    request->uneven = NULL;
}

int mca_coll_topo_describe_uneven(mca_coll_topo_request_t *request, const mca_coll_topo_vector_t *input,
                                  const mca_coll_topo_vector_t *output, bool in_place, int root, size_t bytes)
{
    const size_t ranks = (size_t) request->topo->ranks;
    const mca_coll_topo_edges_t *const to = NULL == input ? NULL : input->edges;
    const mca_coll_topo_edges_t *const from = NULL == output ? NULL : output->edges;
    mca_coll_topo_asked_t *asked = &request->asked;
    mca_coll_topo_uneven_t *uneven;

    asked->is_reduction = false;
    asked->declines_alone = false;
    asked->bytes = bytes;
    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    request->uneven = uneven = mca_coll_topo_new_uneven(ranks, to, from);
    if (NULL == uneven) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    uneven->move = (struct shell_uneven){.collective = request->kind->collective,
                                         .in_place = in_place,
                                         .own = (size_t) request->topo->rank,
                                         .pack = mca_coll_topo_pack_block,
                                         .unpack = mca_coll_topo_unpack_block};
    if (NULL != input) {
        mca_coll_topo_measure(input, ranks, &uneven->input, &uneven->move.input);
    }
    if (NULL != output) {
        mca_coll_topo_measure(output, ranks, &uneven->output, &uneven->move.output);
    }
    asked->call = (colltopo_call){.root = root};
    if (!shell_uneven_begins(&uneven->move, &uneven->places, &asked->call)) {
        /* Where blocks lie in the user's buffers matters to packing alone, which has noted that. */
        shell_uneven_lays_out(&uneven->move, uneven->input.block_at, uneven->output.block_at, &uneven->packing,
                              &uneven->places);
    }
    return OMPI_SUCCESS;
}

int mca_coll_topo_pack_uneven(mca_coll_topo_request_t *request, const struct shell_side *side)
{
    mca_coll_topo_uneven_t *const uneven = request->uneven;
    char *packed;

    request->is_packed = uneven->packing.input || uneven->packing.output;
    if (!request->is_packed) {
        return OMPI_SUCCESS;
    }
    packed = shell_lend(side->memory, uneven->packing.bytes);
    return NULL == packed ? side->no_memory
                          : shell_uneven_packs(side, &uneven->move, &uneven->packing, packed, &request->asked.call);
}

int mca_coll_topo_unpack_uneven(mca_coll_topo_request_t *request, const struct shell_side *side)
{
    return shell_uneven_unpacks(side, &request->uneven->move, &request->uneven->packing, (char *) side->memory->bytes);
}

static mca_coll_topo_vector_t mca_coll_topo_own_block(const void *buf, size_t count, ompi_datatype_t *dtype)
{
    return (mca_coll_topo_vector_t){.buf = buf, .kind = MCA_COLL_TOPO_SINGLE, .count = count, .dtype = dtype};
}

static int mca_coll_topo_describe_alltoallv(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    const bool in_place = MPI_IN_PLACE == a->sbuf;
    const mca_coll_topo_vector_t input = {
        .buf = a->sbuf, .counts = a->scounts, .displs = a->sdispls, .dtype = a->sdtype, .dtypes = a->sdtypes};
    const mca_coll_topo_vector_t output = {
        .buf = a->rbuf, .counts = a->rcounts, .displs = a->rdispls, .dtype = a->rdtype, .dtypes = a->rdtypes};
    const int rc = mca_coll_topo_describe_uneven(request, in_place ? NULL : &input, &output, in_place, 0, 1);

    request->asked.call.previous_is_wrong = in_place; /* libnbc's exchange in place, which all ranks ask for */
    return rc;
}

/* With datatypes in place of one. */
static int mca_coll_topo_describe_alltoallw(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_alltoallv(request, a);
}

static int mca_coll_topo_describe_allgatherv(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    const bool in_place = MPI_IN_PLACE == a->sbuf;
    const mca_coll_topo_vector_t input = mca_coll_topo_own_block(a->sbuf, a->scount, a->sdtype);
    const mca_coll_topo_vector_t output = {
        .buf = a->rbuf, .counts = a->rcounts, .displs = a->rdispls, .dtype = a->rdtype};
    size_t elements = 0;
    int rc;

    for (int rank = 0; rank < request->topo->ranks; ++rank) {
        elements += (size_t) mca_coll_topo_count_at(a->rcounts, rank);
    }
    rc = mca_coll_topo_describe_uneven(request, in_place ? NULL : &input, &output, in_place, 0,
                                       mca_coll_topo_bytes(a->rdtype, elements));
    /* Wrong by the standard, as in an exchange. */
    request->asked.declines_alone =
        !in_place
        && mca_coll_topo_bytes(a->sdtype, a->scount)
               != mca_coll_topo_bytes(a->rdtype, (size_t) mca_coll_topo_count_at(a->rcounts, request->topo->rank));
    return rc;
}

static int mca_coll_topo_describe_gatherv(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    const bool is_root = a->root == request->topo->rank, in_place = is_root && MPI_IN_PLACE == a->sbuf;
    const mca_coll_topo_vector_t block = mca_coll_topo_own_block(a->sbuf, a->scount, a->sdtype);
    const mca_coll_topo_vector_t blocks = {
        .buf = a->rbuf, .counts = a->rcounts, .displs = a->rdispls, .dtype = a->rdtype};

    return mca_coll_topo_describe_uneven(request, in_place ? NULL : &block, is_root ? &blocks : NULL, in_place, a->root,
                                         1);
}

static int mca_coll_topo_describe_scatterv(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    const bool is_root = a->root == request->topo->rank, in_place = is_root && MPI_IN_PLACE == a->rbuf;
    const mca_coll_topo_vector_t blocks = {
        .buf = a->sbuf, .counts = a->scounts, .displs = a->sdispls, .dtype = a->sdtype};
    const mca_coll_topo_vector_t block = mca_coll_topo_own_block(a->rbuf, a->rcount, a->rdtype);

    return mca_coll_topo_describe_uneven(request, is_root ? &blocks : NULL, in_place ? NULL : &block, in_place, a->root,
                                         1);
}

MCA_COLL_TOPO_SPREAD(allgatherv, COLLTOPO_ALLGATHERV)
MCA_COLL_TOPO_EXCHANGE_V(alltoallv, COLLTOPO_ALLTOALLV)
MCA_COLL_TOPO_FUNCTION(gatherv, COLLTOPO_GATHERV,
                       (.sbuf = sbuf, .scount = (size_t) scount, .sdtype = sdtype, .rbuf = rbuf, .rcounts = rcounts,
                        .rdispls = displs, .rdtype = rdtype, .root = root),
                       (const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                        mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs, ompi_datatype_t *rdtype,
                        int root),
                       (a->sbuf, (mca_coll_topo_count_t) a->scount, a->sdtype, a->rbuf, a->rcounts, a->rdispls,
                        a->rdtype, a->root))
MCA_COLL_TOPO_FUNCTION(scatterv, COLLTOPO_SCATTERV,
                       (.sbuf = sbuf, .scounts = scounts, .sdispls = displs, .sdtype = sdtype, .rbuf = rbuf,
                        .rcount = (size_t) rcount, .rdtype = rdtype, .root = root),
                       (const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t displs,
                        ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype,
                        int root),
                       (a->sbuf, a->scounts, a->sdispls, a->sdtype, a->rbuf, (mca_coll_topo_count_t) a->rcount,
                        a->rdtype, a->root))
MCA_COLL_TOPO_FUNCTION(alltoallw, COLLTOPO_ALLTOALLW,
                       (.sbuf = sbuf, .scounts = scounts, .sdispls = sdispls, .sdtypes = sdtypes, .rbuf = rbuf,
                        .rcounts = rcounts, .rdispls = rdispls, .rdtypes = rdtypes),
                       (const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t sdispls,
                        struct ompi_datatype_t *const *sdtypes, void *rbuf, mca_coll_topo_counts_t rcounts,
                        mca_coll_topo_displs_t rdispls, struct ompi_datatype_t *const *rdtypes),
                       (a->sbuf, a->scounts, a->sdispls, a->sdtypes, a->rbuf, a->rcounts, a->rdispls, a->rdtypes))

/* With an accelerator they stay with the former functions, as the blocking ones do. */
void mca_coll_topo_offer_uneven_requests(mca_coll_base_module_t *module)
{
    if (NULL != mca_coll_topo_device()) {
        return;
    }
#define MCA_COLL_TOPO_OFFER(name) module->coll_##name = mca_coll_topo_##name;
    MCA_COLL_TOPO_EACH_UNEVEN_REQUEST(MCA_COLL_TOPO_OFFER)
#undef MCA_COLL_TOPO_OFFER
    mca_coll_topo_offer_neighbor_requests(module);
}
