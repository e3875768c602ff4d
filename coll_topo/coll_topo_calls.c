/* The collectives as MPI calls them: what they ask for is put into a colltopo_call, and what colltopo declines goes to
 * the function that the communicator had before.
 *
 * These run in every call, so contiguous data takes the short way: no allocation, no lock, no string. */
#include "ompi_config.h"

#include "coll_topo_calls.h"

#include <limits.h>
#include <stdlib.h>

__attribute__((cold)) int mca_coll_topo_look_at(mca_coll_topo_module_t *topo, int collective,
                                                const mca_coll_topo_declined_t *call, int rc)
{
    if (COLLTOPO_DECLINED != rc) {
        return topo->failed = mca_coll_topo_error(rc);
    }
    if (!mca_coll_topo_is_left(topo, collective)) {
        mca_coll_topo_declined_t *all = topo->declined[collective];
        memmove(all + 1, all, (MCA_COLL_TOPO_DECLINED - 1) * sizeof(*all));
        all[0] = *call;
    }
    return rc;
}

/* Bytes without gaps that begin where the buffer begins. */
static inline bool mca_coll_topo_is_plain(const ompi_datatype_t *dtype)
{
    return 0 != (dtype->super.flags & OPAL_DATATYPE_FLAG_NO_GAPS) && 0 == dtype->super.true_lb;
}

/* alltoall and allgather differ in how many blocks are sent, and which blocks of the output hold input in place. */
static inline int mca_coll_topo_exchange(mca_coll_topo_module_t *topo, mca_coll_topo_run_fn_t run, int collective,
                                         bool one_block_in, const void *sbuf, size_t scount, ompi_datatype_t *sdtype,
                                         void *rbuf, size_t rcount, ompi_datatype_t *rdtype)
{
    const size_t bytes = mca_coll_topo_bytes(rdtype, rcount);
    const int in_place = MPI_IN_PLACE == sbuf;
    int rc;

    /* Wrong by the standard. What becomes of it is for the previous module to say, as without this one. */
    if (OPAL_UNLIKELY(!in_place && mca_coll_topo_bytes(sdtype, scount) != bytes)) {
        return mca_coll_topo_decline_alone(topo, collective);
    }
    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    rc = mca_coll_topo_ready(topo);
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        return rc;
    }
    if (OPAL_LIKELY((in_place || mca_coll_topo_is_plain(sdtype)) && mca_coll_topo_is_plain(rdtype))) {
        const colltopo_call call = {.input = sbuf, .output = rbuf, .in_place = in_place, MCA_COLL_TOPO_GRANULES(bytes)};
        rc = run(topo->collectives, &call);
    } else {
        const size_t ranks = (size_t) topo->ranks;
        colltopo_call call = {.in_place = in_place, MCA_COLL_TOPO_GRANULES(bytes)};
        const mca_coll_topo_move_t move = {.collective = collective,
                                           .input = {sbuf,
                                                     in_place       ? 0
                                                     : one_block_in ? 1
                                                                    : ranks,
                                                     scount, sdtype},
                                           .output = {rbuf, ranks, rcount, rdtype},
                                           .first_held = one_block_in ? (size_t) topo->rank : 0,
                                           .blocks_held = !in_place      ? 0
                                                          : one_block_in ? 1
                                                                         : ranks,
                                           .output_changes = true};
        rc = mca_coll_topo_move(topo, &move, &call);
    }
    return mca_coll_topo_remember(topo, collective, bytes, 0, 0, 0, sbuf, rc);
}

/* A send count that the standard says to ignore is not ignored by all: tuned of 4.1 decides by it, and ranks that give
 * different ones hang. In place it is the receive count that is handed on. */
#define MCA_COLL_TOPO_EXCHANGE_BY(pass, name)                                      \
    (MPI_IN_PLACE == sbuf ? pass(name, sbuf, rcount, rdtype, rbuf, rcount, rdtype) \
                          : pass(name, sbuf, scount, sdtype, rbuf, rcount, rdtype))

static inline int mca_coll_topo_leave_alltoall(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype,
                                               void *rbuf, mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype,
                                               ompi_communicator_t *comm, mca_coll_topo_module_t *topo)
{
    const size_t bytes = mca_coll_topo_bytes(rdtype, (size_t) rcount);

    if (OPAL_UNLIKELY(mca_coll_topo_must_mend(topo, bytes)) && MPI_IN_PLACE != sbuf
        && (sdtype != rdtype || scount != rcount) && !(mca_coll_topo_is_plain(sdtype) && mca_coll_topo_is_plain(rdtype))
        && mca_coll_topo_bytes(sdtype, (size_t) scount) == bytes) {
        return mca_coll_topo_mend_alltoall(topo, sbuf, scount, sdtype, rbuf, rcount, rdtype, comm);
    }
    return MCA_COLL_TOPO_EXCHANGE_BY(MCA_COLL_TOPO_PASS_ON, alltoall);
}

/* What serves a call is not inlined: a call that is passed on at once saves no registers. */
#define MCA_COLL_TOPO_SERVE static __attribute__((noinline)) int

MCA_COLL_TOPO_SERVE mca_coll_topo_serve_alltoall(const void *sbuf, mca_coll_topo_count_t scount,
                                                 ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_count_t rcount,
                                                 ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                                                 mca_coll_topo_module_t *topo)
{
    const int rc = mca_coll_topo_exchange(topo, colltopo_alltoall, COLLTOPO_ALLTOALL, false, sbuf, (size_t) scount,
                                          sdtype, rbuf, (size_t) rcount, rdtype);

    if (OPAL_LIKELY(COLLTOPO_DECLINED != rc)) {
        return rc;
    }
    return mca_coll_topo_came_back(
        topo, COLLTOPO_ALLTOALL, mca_coll_topo_leave_alltoall(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, topo));
}

int mca_coll_topo_alltoall(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                           mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                           mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;

    if (mca_coll_topo_was_declined(topo, COLLTOPO_ALLTOALL, mca_coll_topo_bytes(rdtype, (size_t) rcount), 0, 0, 0,
                                   sbuf)) {
        return mca_coll_topo_leave_alltoall(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, topo);
    }
    return mca_coll_topo_serve_alltoall(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, topo);
}

MCA_COLL_TOPO_SERVE mca_coll_topo_serve_allgather(const void *sbuf, mca_coll_topo_count_t scount,
                                                  ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_count_t rcount,
                                                  ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                                                  mca_coll_topo_module_t *topo)
{
    const int rc = mca_coll_topo_exchange(topo, colltopo_allgather, COLLTOPO_ALLGATHER, true, sbuf, (size_t) scount,
                                          sdtype, rbuf, (size_t) rcount, rdtype);

    return COLLTOPO_DECLINED == rc ? MCA_COLL_TOPO_EXCHANGE_BY(MCA_COLL_TOPO_FALL_BACK, allgather) : rc;
}

int mca_coll_topo_allgather(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                            mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                            mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;

    if (mca_coll_topo_was_declined(topo, COLLTOPO_ALLGATHER, mca_coll_topo_bytes(rdtype, (size_t) rcount), 0, 0, 0,
                                   sbuf)) {
        return MCA_COLL_TOPO_EXCHANGE_BY(MCA_COLL_TOPO_PASS_ON, allgather);
    }
    return mca_coll_topo_serve_allgather(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, topo);
}

MCA_COLL_TOPO_SERVE mca_coll_topo_serve_bcast(void *buf, mca_coll_topo_count_t count, ompi_datatype_t *dtype, int root,
                                              ompi_communicator_t *comm, mca_coll_topo_module_t *topo)
{
    const size_t bytes = mca_coll_topo_bytes(dtype, (size_t) count);
    int rc;

    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    rc = mca_coll_topo_ready(topo);
    if (OPAL_LIKELY(OMPI_SUCCESS == rc)) {
        colltopo_call call = {.output = buf, .root = root, MCA_COLL_TOPO_GRANULES(bytes)};
        if (OPAL_LIKELY(mca_coll_topo_is_plain(dtype))) {
            rc = colltopo_bcast(topo->collectives, &call);
        } else {
            const bool is_root = root == topo->rank;
            const mca_coll_topo_move_t move = {.collective = COLLTOPO_BCAST,
                                               .output = {buf, 1, (size_t) count, dtype},
                                               .blocks_held = is_root ? 1 : 0,
                                               .output_changes = !is_root};
            rc = mca_coll_topo_move(topo, &move, &call);
        }
        rc = mca_coll_topo_remember(topo, COLLTOPO_BCAST, bytes, 0, root, 0, NULL, rc);
    }
    return COLLTOPO_DECLINED == rc ? MCA_COLL_TOPO_FALL_BACK(bcast, buf, count, dtype, root) : rc;
}

int mca_coll_topo_bcast(void *buf, mca_coll_topo_count_t count, ompi_datatype_t *dtype, int root,
                        ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;

    if (mca_coll_topo_was_declined(topo, COLLTOPO_BCAST, mca_coll_topo_bytes(dtype, (size_t) count), 0, root, 0,
                                   NULL)) {
        return MCA_COLL_TOPO_PASS_ON(bcast, buf, count, dtype, root);
    }
    return mca_coll_topo_serve_bcast(buf, count, dtype, root, comm, topo);
}

static inline int mca_coll_topo_hand_out(mca_coll_topo_module_t *topo, mca_coll_topo_run_fn_t run, int collective,
                                         mca_coll_topo_span_t input, mca_coll_topo_span_t output, bool in_place,
                                         int root)
{
    const size_t bytes = mca_coll_topo_bytes(output.dtype, output.count);
    if (mca_coll_topo_was_declined(topo, collective, bytes, 0, root, 0, NULL)) {
        return COLLTOPO_DECLINED;
    }
    int rc;

    /* Wrong by the standard, as in an exchange. */
    if (OPAL_UNLIKELY(mca_coll_topo_bytes(input.dtype, input.count) != bytes)) {
        return mca_coll_topo_decline_alone(topo, collective);
    }
    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    rc = mca_coll_topo_ready(topo);
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        return rc;
    }
    colltopo_call call = {.input = input.buf,
                          .output = (void *) output.buf,
                          .in_place = in_place,
                          .root = root,
                          MCA_COLL_TOPO_GRANULES(bytes)};
    if (OPAL_LIKELY((0 == input.blocks || mca_coll_topo_is_plain(input.dtype))
                    && (0 == output.blocks || mca_coll_topo_is_plain(output.dtype)))) {
        rc = run(topo->collectives, &call);
    } else {
        const mca_coll_topo_move_t move = {.collective = collective,
                                           .input = input,
                                           .output = output,
                                           .first_held = (size_t) root,
                                           .blocks_held = in_place && 0 != output.blocks ? 1 : 0,
                                           .output_changes = 0 != output.blocks};
        rc = mca_coll_topo_move(topo, &move, &call);
    }
    return mca_coll_topo_remember(topo, collective, bytes, 0, root, 0, NULL, rc);
}

int mca_coll_topo_gather(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                         mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, int root, ompi_communicator_t *comm,
                         mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    const bool is_root = root == topo->rank, in_place = is_root && MPI_IN_PLACE == sbuf;
    const mca_coll_topo_span_t block = {sbuf, 1, (size_t) scount, sdtype};
    const mca_coll_topo_span_t blocks = {rbuf, (size_t) topo->ranks, (size_t) rcount, rdtype};
    const int rc = mca_coll_topo_hand_out(topo, colltopo_gather, COLLTOPO_GATHER,
                                          in_place ? mca_coll_topo_no_span(&blocks) : block,
                                          is_root ? blocks : mca_coll_topo_no_span(&block), in_place, root);

    if (OPAL_LIKELY(COLLTOPO_DECLINED != rc)) {
        return rc;
    }
    if (!is_root && OPAL_UNLIKELY(mca_coll_topo_may_overlap(sdtype))
        && mca_coll_topo_bytes(sdtype, (size_t) scount) <= INT_MAX) {
        return mca_coll_topo_came_back(
            topo, COLLTOPO_GATHER,
            mca_coll_topo_mend_gather(topo, sbuf, scount, sdtype, rbuf, rcount, rdtype, root, comm));
    }
    return MCA_COLL_TOPO_FALL_BACK(gather, sbuf, scount, sdtype, rbuf, rcount, rdtype, root);
}

int mca_coll_topo_scatter(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                          mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, int root, ompi_communicator_t *comm,
                          mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    const bool is_root = root == topo->rank, in_place = is_root && MPI_IN_PLACE == rbuf;
    const mca_coll_topo_span_t blocks = {sbuf, (size_t) topo->ranks, (size_t) scount, sdtype};
    const mca_coll_topo_span_t block = {rbuf, 1, (size_t) rcount, rdtype};
    const int rc = mca_coll_topo_hand_out(topo, colltopo_scatter, COLLTOPO_SCATTER,
                                          is_root ? blocks : mca_coll_topo_no_span(&block),
                                          in_place ? mca_coll_topo_no_span(&blocks) : block, in_place, root);

    return COLLTOPO_DECLINED == rc ? MCA_COLL_TOPO_FALL_BACK(scatter, sbuf, scount, sdtype, rbuf, rcount, rdtype, root)
                                   : rc;
}

/* Of a reduction to a root only that is in place. */
static inline const void *mca_coll_topo_input_of_all(int collective, const void *input)
{
    return COLLTOPO_REDUCE == collective ? NULL : input;
}

/* A reduction whose datatype has gaps, or begins elsewhere than its buffer. */
MCA_COLL_TOPO_SERVE mca_coll_topo_reduce_derived(mca_coll_topo_module_t *topo,
                                                 const mca_coll_topo_reduction_t *reduction, colltopo_call *call)
{
    const ompi_datatype_t *dtype = reduction->operation.dtype;
    const int rc = mca_coll_topo_reduction(topo, reduction, call);

    if (NULL != call->counts || 0 == call->element_size) {
        /* Shards of several sizes, or a datatype that colltopo was not asked about. */
        return COLLTOPO_SUCCESS == rc || COLLTOPO_DECLINED == rc ? rc : mca_coll_topo_error(rc);
    }
    return mca_coll_topo_remember(topo, reduction->collective, mca_coll_topo_bytes(dtype, call->count),
                                  call->element_size, call->root, call->op_properties,
                                  mca_coll_topo_input_of_all(reduction->collective, reduction->input), rc);
}

static inline bool mca_coll_topo_reduction_was_declined(mca_coll_topo_module_t *topo, int collective, const void *input,
                                                        size_t count, int root, ompi_op_t *op,
                                                        const ompi_datatype_t *dtype)
{
    return mca_coll_topo_was_declined(
        topo, collective, mca_coll_topo_bytes(dtype, count), (size_t) (dtype->super.ub - dtype->super.lb), root,
        mca_coll_topo_op_properties(op, dtype), mca_coll_topo_input_of_all(collective, input));
}

/* `count` elements, or `counts` of them on each rank. Arguments and no structure: what only derived datatypes need is
 * then written to memory for them alone. */
static inline int mca_coll_topo_reduce_by(mca_coll_topo_module_t *topo, mca_coll_topo_run_fn_t run, int collective,
                                          const void *input, size_t input_count, void *output, size_t output_count,
                                          size_t count, const size_t *counts, int root, ompi_op_t *op,
                                          ompi_datatype_t *dtype)
{
    const size_t bytes = mca_coll_topo_bytes(dtype, count);
    const int op_properties = mca_coll_topo_op_properties(op, dtype);
    const size_t extent = (size_t) (dtype->super.ub - dtype->super.lb);
    int rc;

    if (NULL == counts && 0 == bytes) {
        return OMPI_SUCCESS;
    }
    rc = mca_coll_topo_ready(topo);
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        return rc;
    }
    const bool receives = COLLTOPO_REDUCE != collective || root == topo->rank;
    if (OPAL_UNLIKELY(!mca_coll_topo_is_basic(dtype))) {
        const mca_coll_topo_reduction_t reduction = {.collective = collective,
                                                     .operation = {op, dtype},
                                                     .input = input,
                                                     .output = output,
                                                     .receives = receives,
                                                     .input_count = input_count,
                                                     .output_count = receives ? output_count : 0};
        colltopo_call derived = {.count = count, .counts = counts, .root = root, .op_properties = op_properties};
        return mca_coll_topo_reduce_derived(topo, &reduction, &derived);
    }
    mca_coll_topo_operation_t operation = {op, dtype};
    const colltopo_call call = {.input = input,
                                .output = receives ? output : NULL,
                                .in_place = MPI_IN_PLACE == input,
                                .count = count,
                                .counts = counts,
                                .element_size = extent,
                                .root = root,
                                .op_properties = op_properties,
                                .reduce = mca_coll_topo_apply_basic,
                                .reduce_context = &operation};
    rc = run(topo->collectives, &call);
    if (NULL != counts) {
        return OPAL_LIKELY(0 >= rc && COLLTOPO_INVALID != rc) ? rc : mca_coll_topo_error(rc);
    }
    return mca_coll_topo_remember(topo, collective, bytes, extent, root, op_properties,
                                  mca_coll_topo_input_of_all(collective, input), rc);
}

static inline int mca_coll_topo_leave_allreduce(const void *sbuf, void *rbuf, mca_coll_topo_count_t count,
                                                ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                                                mca_coll_topo_module_t *topo)
{
    return OPAL_UNLIKELY(0 != dtype->super.true_lb)
               ? mca_coll_topo_mend_allreduce(topo, sbuf, rbuf, count, dtype, op, comm)
               : MCA_COLL_TOPO_PASS_ON(allreduce, sbuf, rbuf, count, dtype, op);
}

MCA_COLL_TOPO_SERVE mca_coll_topo_serve_allreduce(const void *sbuf, void *rbuf, mca_coll_topo_count_t count,
                                                  ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                                                  mca_coll_topo_module_t *topo)
{
    const int rc = mca_coll_topo_reduce_by(topo, colltopo_allreduce, COLLTOPO_ALLREDUCE, sbuf, (size_t) count, rbuf,
                                           (size_t) count, (size_t) count, NULL, 0, op, dtype);

    if (OPAL_LIKELY(COLLTOPO_DECLINED != rc)) {
        return rc;
    }
    return mca_coll_topo_came_back(topo, COLLTOPO_ALLREDUCE,
                                   mca_coll_topo_leave_allreduce(sbuf, rbuf, count, dtype, op, comm, topo));
}

int mca_coll_topo_allreduce(const void *sbuf, void *rbuf, mca_coll_topo_count_t count, ompi_datatype_t *dtype,
                            ompi_op_t *op, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;

    if (mca_coll_topo_reduction_was_declined(topo, COLLTOPO_ALLREDUCE, sbuf, (size_t) count, 0, op, dtype)) {
        return mca_coll_topo_leave_allreduce(sbuf, rbuf, count, dtype, op, comm, topo);
    }
    return mca_coll_topo_serve_allreduce(sbuf, rbuf, count, dtype, op, comm, topo);
}

MCA_COLL_TOPO_SERVE mca_coll_topo_serve_reduce(const void *sbuf, void *rbuf, mca_coll_topo_count_t count,
                                               ompi_datatype_t *dtype, ompi_op_t *op, int root,
                                               ompi_communicator_t *comm, mca_coll_topo_module_t *topo)
{
    const int rc = mca_coll_topo_reduce_by(topo, colltopo_reduce, COLLTOPO_REDUCE, sbuf, (size_t) count, rbuf,
                                           (size_t) count, (size_t) count, NULL, root, op, dtype);

    return COLLTOPO_DECLINED == rc ? MCA_COLL_TOPO_FALL_BACK(reduce, sbuf, rbuf, count, dtype, op, root) : rc;
}

int mca_coll_topo_reduce(const void *sbuf, void *rbuf, mca_coll_topo_count_t count, ompi_datatype_t *dtype,
                         ompi_op_t *op, int root, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;

    if (mca_coll_topo_reduction_was_declined(topo, COLLTOPO_REDUCE, sbuf, (size_t) count, root, op, dtype)) {
        return MCA_COLL_TOPO_PASS_ON(reduce, sbuf, rbuf, count, dtype, op, root);
    }
    return mca_coll_topo_serve_reduce(sbuf, rbuf, count, dtype, op, root, comm, topo);
}

MCA_COLL_TOPO_SERVE mca_coll_topo_serve_reduce_scatter_block(const void *sbuf, void *rbuf, mca_coll_topo_count_t rcount,
                                                             ompi_datatype_t *dtype, ompi_op_t *op,
                                                             ompi_communicator_t *comm, mca_coll_topo_module_t *topo)
{
    const int rc = mca_coll_topo_reduce_by(topo, colltopo_reduce_scatter, COLLTOPO_REDUCE_SCATTER, sbuf,
                                           (size_t) rcount * (size_t) topo->ranks, rbuf, (size_t) rcount,
                                           (size_t) rcount, NULL, 0, op, dtype);

    return COLLTOPO_DECLINED == rc ? MCA_COLL_TOPO_FALL_BACK(reduce_scatter_block, sbuf, rbuf, rcount, dtype, op) : rc;
}

int mca_coll_topo_reduce_scatter_block(const void *sbuf, void *rbuf, mca_coll_topo_count_t rcount,
                                       ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                                       mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;

    if (mca_coll_topo_reduction_was_declined(topo, COLLTOPO_REDUCE_SCATTER, sbuf, (size_t) rcount, 0, op, dtype)) {
        return MCA_COLL_TOPO_PASS_ON(reduce_scatter_block, sbuf, rbuf, rcount, dtype, op);
    }
    return mca_coll_topo_serve_reduce_scatter_block(sbuf, rbuf, rcount, dtype, op, comm, topo);
}

int mca_coll_topo_reduce_scatter(const void *sbuf, void *rbuf, mca_coll_topo_counts_t rcounts, ompi_datatype_t *dtype,
                                 ompi_op_t *op, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    size_t total = 0;
    int rc;

    /* Before the counts are filled in: agreement in a first call may come here again. */
    rc = mca_coll_topo_ready(topo);
    if (COLLTOPO_DECLINED == rc) {
        return MCA_COLL_TOPO_FALL_BACK(reduce_scatter, sbuf, rbuf, rcounts, dtype, op);
    }
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        return rc;
    }
    if (OPAL_UNLIKELY(NULL == topo->counts)) {
        topo->counts = malloc((size_t) topo->ranks * sizeof(*topo->counts));
        if (NULL == topo->counts) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
    }
    for (int rank = 0; rank < topo->ranks; ++rank) {
        topo->counts[rank] = (size_t) mca_coll_topo_count_at(rcounts, rank);
        total += topo->counts[rank];
    }
    if (0 == mca_coll_topo_bytes(dtype, total)) {
        return OMPI_SUCCESS;
    }
    rc = mca_coll_topo_reduce_by(topo, colltopo_reduce_scatter, COLLTOPO_REDUCE_SCATTER, sbuf, total, rbuf,
                                 topo->counts[topo->rank], 0, topo->counts, 0, op, dtype);
    return COLLTOPO_DECLINED == rc ? MCA_COLL_TOPO_FALL_BACK(reduce_scatter, sbuf, rbuf, rcounts, dtype, op) : rc;
}
