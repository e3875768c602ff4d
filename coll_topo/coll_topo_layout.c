/* Datatypes. colltopo moves and reduces dense bytes; what is not dense is brought into that form and back.
 *
 * Moves are packed, so that ranks with different layouts of the same data agree. Reductions keep whole extents, because
 * a user's function is called on the user's datatype, and are copied back element by element so that the gaps in the
 * user's buffer stay as they were. A rank packs only after asking whether the call is served at all: its peers may have
 * dense data and be declined at once. */
#include "ompi_config.h"

#include "coll_topo.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "opal/datatype/opal_convertor.h"

/* Scratch memory up to this size stays for the next call. */
#define MCA_COLL_TOPO_SCRATCH_KEPT ((size_t) 1 << 20)

static void *mca_coll_topo_scratch(mca_coll_topo_module_t *module, size_t bytes)
{
    if (module->scratch_bytes < bytes) {
        free(module->scratch);
        module->scratch = malloc(bytes);
        module->scratch_bytes = NULL == module->scratch ? 0 : bytes;
    }
    return module->scratch;
}

static void mca_coll_topo_scratch_done(mca_coll_topo_module_t *module)
{
    if (MCA_COLL_TOPO_SCRATCH_KEPT < module->scratch_bytes) {
        free(module->scratch);
        module->scratch = NULL;
        module->scratch_bytes = 0;
    }
}

/* Whether packing would copy the bytes in the order in which they lie. */
static inline bool mca_coll_topo_is_packed(const mca_coll_topo_span_t *span)
{
    return ompi_datatype_is_contiguous_memory_layout(span->dtype, 1 == span->count ? 1 : 2);
}

static inline char *mca_coll_topo_first_byte(const mca_coll_topo_span_t *span)
{
    return (char *) span->buf + span->dtype->super.true_lb;
}

static inline size_t mca_coll_topo_span_bytes(const mca_coll_topo_span_t *span)
{
    return 0 == span->count ? 0 : span->count * span->dtype->super.size;
}

/* Packs the span into `dense` or, the other way, unpacks it from there. */
static int mca_coll_topo_convert(const mca_coll_topo_span_t *span, char *dense, bool packing)
{
    opal_convertor_t convertor;
    size_t left = mca_coll_topo_span_bytes(span);
    int rc = 0;

    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    if (packing) {
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &span->dtype->super, span->count, span->buf,
                                                 0, &convertor);
    } else {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &span->dtype->super, span->count, span->buf,
                                                 0, &convertor);
    }
    while (0 < left) {
        struct iovec piece = {dense, left};
        uint32_t pieces = 1;
        size_t done = left;
        rc = packing ? opal_convertor_pack(&convertor, &piece, &pieces, &done)
                     : opal_convertor_unpack(&convertor, &piece, &pieces, &done);
        if (rc < 0 || 0 == done) {
            rc = OMPI_ERROR;
            break;
        }
        dense += done;
        left -= done;
        rc = 0;
    }
    OBJ_DESTRUCT(&convertor);
    return rc < 0 ? MPI_ERR_INTERN : OMPI_SUCCESS;
}

static int mca_coll_topo_move_packed(mca_coll_topo_module_t *module, const mca_coll_topo_move_t *move,
                                     colltopo_call *call, bool input_packed, bool output_packed)
{
    const size_t input_bytes = input_packed ? 0 : mca_coll_topo_span_bytes(&move->input);
    const size_t output_bytes = output_packed ? 0 : mca_coll_topo_span_bytes(&move->output);
    char *scratch;
    int rc = OMPI_SUCCESS;

    if (!colltopo_serves(module->collectives, move->collective, call)) {
        return COLLTOPO_DECLINED;
    }
    scratch = mca_coll_topo_scratch(module, input_bytes + output_bytes);
    if (NULL == scratch) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (!input_packed) {
        call->input = scratch;
        rc = mca_coll_topo_convert(&move->input, scratch, true);
    }
    if (!output_packed) {
        call->output = scratch + input_bytes;
        if (OMPI_SUCCESS == rc && move->output_holds_input) {
            rc = mca_coll_topo_convert(&move->output, call->output, true);
        }
    }
    if (OMPI_SUCCESS == rc) {
        rc = move->run(module->collectives, call);
    }
    if (COLLTOPO_SUCCESS == rc && !output_packed && move->output_changes) {
        rc = mca_coll_topo_convert(&move->output, call->output, false);
    }
    mca_coll_topo_scratch_done(module);
    return rc;
}

int mca_coll_topo_move(mca_coll_topo_module_t *module, const mca_coll_topo_move_t *move, colltopo_call *call)
{
    const bool input_packed = 0 == move->input.count || mca_coll_topo_is_packed(&move->input);
    const bool output_packed = mca_coll_topo_is_packed(&move->output);

    if (0 != move->input.count) {
        call->input = mca_coll_topo_first_byte(&move->input);
    }
    call->output = mca_coll_topo_first_byte(&move->output);
    if (OPAL_LIKELY(input_packed && output_packed)) {
        return move->run(module->collectives, call);
    }
    return mca_coll_topo_move_packed(module, move, call, input_packed, output_packed);
}

static inline size_t mca_coll_topo_extent(const ompi_datatype_t *dtype)
{
    return (size_t) (dtype->super.ub - dtype->super.lb);
}

int mca_coll_topo_apply_basic(void *operation, const void *source, void *target, size_t elements)
{
    const mca_coll_topo_operation_t *by = (const mca_coll_topo_operation_t *) operation;
    char *from = (char *) source, *to = (char *) target;

    while (OPAL_UNLIKELY(INT_MAX < elements)) {
        ompi_op_reduce(by->op, from, to, INT_MAX, by->dtype);
        from += INT_MAX * by->dtype->super.size;
        to += INT_MAX * by->dtype->super.size;
        elements -= INT_MAX;
    }
    ompi_op_reduce(by->op, from, to, (int) elements, by->dtype);
    return COLLTOPO_SUCCESS;
}

/* What colltopo calls an element lies at [lb, lb + extent) of the datatype's own address. */
static int mca_coll_topo_apply(void *operation, const void *source, void *target, size_t elements)
{
    const mca_coll_topo_operation_t *by = (const mca_coll_topo_operation_t *) operation;
    const ptrdiff_t lb = by->dtype->super.lb;
    const size_t extent = mca_coll_topo_extent(by->dtype);
    char *from = (char *) source - lb, *to = (char *) target - lb;

    while (0 < elements) {
        const size_t now = elements < INT_MAX ? elements : INT_MAX;
        ompi_op_reduce(by->op, from, to, now, by->dtype);
        from += now * extent;
        to += now * extent;
        elements -= now;
    }
    return COLLTOPO_SUCCESS;
}

/* Elements that reach beyond their extent, or lie in each other, cannot be cut into dense ones. The datatype of a
 * reduction is the same on all ranks, so all of them leave such a call to the previous module. */
static inline bool mca_coll_topo_keeps_to_its_extent(const ompi_datatype_t *dtype)
{
    const opal_datatype_t *layout = &dtype->super;

    return layout->lb < layout->ub && layout->lb <= layout->true_lb && layout->true_ub <= layout->ub
           && !opal_datatype_is_overlapped(layout);
}

static inline bool mca_coll_topo_is_dense(const ompi_datatype_t *dtype)
{
    return 0 != (dtype->super.flags & OPAL_DATATYPE_FLAG_NO_GAPS) && dtype->super.true_lb == dtype->super.lb;
}

/* Elements whole, gaps left alone. */
static int mca_coll_topo_copy(const ompi_datatype_t *dtype, size_t count, char *target, const char *source)
{
    return 0 == ompi_datatype_copy_content_same_ddt(dtype, count, target, (char *) source) ? COLLTOPO_SUCCESS
                                                                                           : MPI_ERR_INTERN;
}

/* One temporary serves as input and output, as MPI_IN_PLACE has it. Where nothing is received it is the input. */
static int mca_coll_topo_reduction_with_gaps(mca_coll_topo_module_t *module, mca_coll_topo_reduction_t *reduction,
                                             colltopo_call *call)
{
    const ompi_datatype_t *dtype = reduction->operation.dtype;
    const ptrdiff_t lb = dtype->super.lb;
    const void *from = MPI_IN_PLACE == reduction->input ? reduction->output : reduction->input;
    const bool receives = NULL != reduction->output;
    char *scratch;
    int rc;

    call->in_place = receives;
    if (!colltopo_serves(module->collectives, reduction->collective, call)) {
        return COLLTOPO_DECLINED;
    }
    scratch = mca_coll_topo_scratch(module, reduction->input_count * call->element_size);
    if (NULL == scratch) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (receives) {
        call->output = scratch;
    } else {
        call->input = scratch;
    }
    rc = mca_coll_topo_copy(dtype, reduction->input_count, scratch - lb, from);
    if (COLLTOPO_SUCCESS == rc) {
        rc = reduction->run(module->collectives, call);
    }
    if (COLLTOPO_SUCCESS == rc && 0 < reduction->output_count) {
        rc = mca_coll_topo_copy(dtype, reduction->output_count, reduction->output, scratch - lb);
    }
    mca_coll_topo_scratch_done(module);
    return rc;
}

int mca_coll_topo_reduction(mca_coll_topo_module_t *module, mca_coll_topo_reduction_t *reduction, colltopo_call *call)
{
    const ptrdiff_t lb = reduction->operation.dtype->super.lb;

    if (OPAL_UNLIKELY(!mca_coll_topo_keeps_to_its_extent(reduction->operation.dtype))) {
        return COLLTOPO_DECLINED;
    }
    call->element_size = mca_coll_topo_extent(reduction->operation.dtype);
    call->reduce = mca_coll_topo_apply;
    call->reduce_context = &reduction->operation;
    if (OPAL_UNLIKELY(!mca_coll_topo_is_dense(reduction->operation.dtype))) {
        return mca_coll_topo_reduction_with_gaps(module, reduction, call);
    }
    call->in_place = MPI_IN_PLACE == reduction->input;
    call->input = call->in_place ? NULL : (const char *) reduction->input + lb;
    call->output = NULL == reduction->output ? NULL : (char *) reduction->output + lb;
    return reduction->run(module->collectives, call);
}
