/* The non-blocking and persistent calls as MPI makes them: their arguments, what colltopo is asked by them, and the
 * functions that the communicator had before. */
#include "ompi_config.h"

#include "coll_topo_functions.h"
#include "coll_topo_requests.h"

#include <stdlib.h>

static int mca_coll_topo_describe_move(mca_coll_topo_request_t *request, int collective, mca_coll_topo_span_t input,
                                       mca_coll_topo_span_t output, bool in_place, int root)
{
    const size_t bytes = mca_coll_topo_bytes(output.dtype, output.count);
    mca_coll_topo_asked_t *asked = &request->asked;

    asked->is_reduction = false;
    asked->bytes = bytes;
    asked->move = (mca_coll_topo_move_t){
        .collective = collective, .input = input, .output = output, .output_changes = 0 != output.blocks};
    asked->declines_alone = mca_coll_topo_bytes(input.dtype, input.count) != bytes; /* wrong by the standard */
    if (0 != bytes) {
        asked->call = (colltopo_call){.in_place = in_place, .root = root, MCA_COLL_TOPO_GRANULES(bytes)};
    }
    return OMPI_SUCCESS;
}

static int mca_coll_topo_describe_exchange(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a,
                                           int collective, bool one_block_in)
{
    const size_t ranks = (size_t) request->topo->ranks;
    const bool in_place = MPI_IN_PLACE == a->sbuf;
    const mca_coll_topo_span_t output = {a->rbuf, ranks, a->rcount, a->rdtype};
    const mca_coll_topo_span_t input = {a->sbuf, one_block_in ? 1 : ranks, a->scount, a->sdtype};
    mca_coll_topo_move_t *move = &request->asked.move;
    const int rc = mca_coll_topo_describe_move(request, collective, in_place ? mca_coll_topo_no_span(&output) : input,
                                               output, in_place, 0);

    if (in_place) {
        move->first_held = one_block_in ? (size_t) request->topo->rank : 0;
        move->blocks_held = one_block_in ? 1 : ranks;
    }
    return rc;
}

static int mca_coll_topo_describe_alltoall(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_exchange(request, a, COLLTOPO_ALLTOALL, false);
}

static int mca_coll_topo_describe_allgather(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_exchange(request, a, COLLTOPO_ALLGATHER, true);
}

static int mca_coll_topo_describe_bcast(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    const mca_coll_topo_span_t output = {a->rbuf, 1, a->rcount, a->rdtype};
    mca_coll_topo_move_t *move = &request->asked.move;
    const bool is_root = a->root == request->topo->rank;
    const int rc =
        mca_coll_topo_describe_move(request, COLLTOPO_BCAST, mca_coll_topo_no_span(&output), output, false, a->root);

    move->blocks_held = is_root ? 1 : 0;
    move->output_changes = !is_root;
    return rc;
}

static int mca_coll_topo_describe_gather(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    const bool is_root = a->root == request->topo->rank, in_place = is_root && MPI_IN_PLACE == a->sbuf;
    const mca_coll_topo_span_t block = {a->sbuf, 1, a->scount, a->sdtype};
    const mca_coll_topo_span_t blocks = {a->rbuf, (size_t) request->topo->ranks, a->rcount, a->rdtype};
    const int rc =
        mca_coll_topo_describe_move(request, COLLTOPO_GATHER, in_place ? mca_coll_topo_no_span(&blocks) : block,
                                    is_root ? blocks : mca_coll_topo_no_span(&block), in_place, a->root);

    request->asked.move.first_held = (size_t) a->root;
    request->asked.move.blocks_held = in_place ? 1 : 0;
    return rc;
}

static int mca_coll_topo_describe_scatter(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    const bool is_root = a->root == request->topo->rank, in_place = is_root && MPI_IN_PLACE == a->rbuf;
    const mca_coll_topo_span_t blocks = {a->sbuf, (size_t) request->topo->ranks, a->scount, a->sdtype};
    const mca_coll_topo_span_t block = {a->rbuf, 1, a->rcount, a->rdtype};

    return mca_coll_topo_describe_move(request, COLLTOPO_SCATTER, is_root ? blocks : mca_coll_topo_no_span(&block),
                                       in_place ? mca_coll_topo_no_span(&blocks) : block, in_place, a->root);
}

/* `count` elements of the vector or of each shard, unless the request has counts. */
static int mca_coll_topo_describe_reduction(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a,
                                            int collective, size_t count, size_t input_count, size_t output_count)
{
    mca_coll_topo_asked_t *asked = &request->asked;
    const bool receives = COLLTOPO_REDUCE != collective || a->root == request->topo->rank;
    struct shell_reduction reduction;

    asked->is_reduction = true;
    asked->bytes = mca_coll_topo_bytes(a->rdtype, input_count);
    asked->reduction = (mca_coll_topo_reduction_t){.collective = collective,
                                                   .operation = {a->op, a->rdtype},
                                                   .input = a->sbuf,
                                                   .output = a->rbuf,
                                                   .receives = receives,
                                                   .input_count = input_count,
                                                   .output_count = receives ? output_count : 0};
    asked->call = (colltopo_call){.count = count,
                                  .counts = request->counts,
                                  .root = a->root,
                                  .op_properties = mca_coll_topo_op_properties(a->op, a->rdtype)};
    asked->declines_alone =
        0 != asked->bytes && !mca_coll_topo_shell_reduction(&asked->reduction, &reduction, &asked->call);
    return OMPI_SUCCESS;
}

static int mca_coll_topo_describe_allreduce(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_reduction(request, a, COLLTOPO_ALLREDUCE, a->rcount, a->rcount, a->rcount);
}

static int mca_coll_topo_describe_reduce(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_reduction(request, a, COLLTOPO_REDUCE, a->rcount, a->rcount, a->rcount);
}

static int mca_coll_topo_describe_reduce_scatter_block(mca_coll_topo_request_t *request,
                                                       const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_reduction(request, a, COLLTOPO_REDUCE_SCATTER, a->rcount,
                                            a->rcount * (size_t) request->topo->ranks, a->rcount);
}

static int mca_coll_topo_describe_reduce_scatter(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    size_t total = 0;

    request->counts = malloc((size_t) request->topo->ranks * sizeof(*request->counts));
    if (NULL == request->counts) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int rank = 0; rank < request->topo->ranks; ++rank) {
        request->counts[rank] = (size_t) mca_coll_topo_count_at(a->rcounts, rank);
        total += request->counts[rank];
    }
    return mca_coll_topo_describe_reduction(request, a, COLLTOPO_REDUCE_SCATTER, 0, total,
                                            request->counts[request->topo->rank]);
}

MCA_COLL_TOPO_EXCHANGE(alltoall, COLLTOPO_ALLTOALL)
MCA_COLL_TOPO_EXCHANGE(allgather, COLLTOPO_ALLGATHER)

#define MCA_COLL_TOPO_HAND_OUT(name, COLLECTIVE)                                                                 \
    MCA_COLL_TOPO_FUNCTION(name, COLLECTIVE,                                                                     \
                           (.sbuf = sbuf, .scount = (size_t) scount, .sdtype = sdtype, .rbuf = rbuf,             \
                            .rcount = (size_t) rcount, .rdtype = rdtype, .root = root),                          \
                           (const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf, \
                            mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, int root),                    \
                           (a->sbuf, (mca_coll_topo_count_t) a->scount, a->sdtype, a->rbuf,                      \
                            (mca_coll_topo_count_t) a->rcount, a->rdtype, a->root))
MCA_COLL_TOPO_HAND_OUT(gather, COLLTOPO_GATHER)
MCA_COLL_TOPO_HAND_OUT(scatter, COLLTOPO_SCATTER)

MCA_COLL_TOPO_FUNCTION(bcast, COLLTOPO_BCAST, (.rbuf = buf, .rcount = (size_t) count, .rdtype = dtype, .root = root),
                       (void *buf, mca_coll_topo_count_t count, ompi_datatype_t *dtype, int root),
                       (a->rbuf, (mca_coll_topo_count_t) a->rcount, a->rdtype, a->root))

#define MCA_COLL_TOPO_ALL_REDUCTION(name, COLLECTIVE)                                                        \
    MCA_COLL_TOPO_FUNCTION(                                                                                  \
        name, COLLECTIVE, (.sbuf = sbuf, .rbuf = rbuf, .rcount = (size_t) count, .rdtype = dtype, .op = op), \
        (const void *sbuf, void *rbuf, mca_coll_topo_count_t count, ompi_datatype_t *dtype, ompi_op_t *op),  \
        (a->sbuf, a->rbuf, (mca_coll_topo_count_t) a->rcount, a->rdtype, a->op))
MCA_COLL_TOPO_ALL_REDUCTION(allreduce, COLLTOPO_ALLREDUCE)
MCA_COLL_TOPO_ALL_REDUCTION(reduce_scatter_block, COLLTOPO_REDUCE_SCATTER)

MCA_COLL_TOPO_FUNCTION(reduce, COLLTOPO_REDUCE,
                       (.sbuf = sbuf, .rbuf = rbuf, .rcount = (size_t) count, .rdtype = dtype, .op = op, .root = root),
                       (const void *sbuf, void *rbuf, mca_coll_topo_count_t count, ompi_datatype_t *dtype,
                        ompi_op_t *op, int root),
                       (a->sbuf, a->rbuf, (mca_coll_topo_count_t) a->rcount, a->rdtype, a->op, a->root))

MCA_COLL_TOPO_FUNCTION(reduce_scatter, COLLTOPO_REDUCE_SCATTER,
                       (.sbuf = sbuf, .rbuf = rbuf, .rcounts = rcounts, .rdtype = dtype, .op = op),
                       (const void *sbuf, void *rbuf, mca_coll_topo_counts_t rcounts, ompi_datatype_t *dtype,
                        ompi_op_t *op),
                       (a->sbuf, a->rbuf, a->rcounts, a->rdtype, a->op))

void mca_coll_topo_offer_requests(mca_coll_base_module_t *module)
{
#define MCA_COLL_TOPO_OFFER(name) module->coll_##name = mca_coll_topo_##name;
    MCA_COLL_TOPO_EACH_EVEN_REQUEST(MCA_COLL_TOPO_OFFER)
#undef MCA_COLL_TOPO_OFFER
    mca_coll_topo_offer_uneven_requests(module);
}
