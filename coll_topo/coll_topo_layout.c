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

struct shell_side mca_coll_topo_side(mca_coll_topo_module_t *module)
{
    return (struct shell_side){.owner = module,
                               .memory = &module->memory,
                               .abandoned = &module->abandoned,
                               .no_memory = MPI_ERR_NO_MEM,
                               .run = mca_coll_topo_run};
}

/* Whether packing would copy the bytes in the order in which they lie. */
static inline bool mca_coll_topo_is_packed(const mca_coll_topo_span_t *span)
{
    return ompi_datatype_is_contiguous_memory_layout(span->dtype, 1 == span->blocks * span->count ? 1 : 2);
}

static inline char *mca_coll_topo_first_byte(const mca_coll_topo_span_t *span)
{
    return shell_at(span->buf, span->dtype->super.true_lb);
}

int mca_coll_topo_convert(const ompi_datatype_t *dtype, size_t count, const void *buf, char *dense, bool packing)
{
    opal_convertor_t convertor;
    size_t left = count * dtype->super.size;
    int rc = 0;

    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    if (packing) {
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &dtype->super, count, buf, 0, &convertor);
    } else {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &dtype->super, count, buf, 0, &convertor);
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

static int mca_coll_topo_convert_blocks(const mca_coll_topo_span_t *span, size_t first, size_t blocks, char *packed,
                                        bool packing)
{
    const ptrdiff_t block = (span->dtype->super.ub - span->dtype->super.lb) * (ptrdiff_t) span->count;

    return mca_coll_topo_convert(span->dtype, blocks * span->count, shell_at(span->buf, (ptrdiff_t) first * block),
                                 packed, packing);
}

static int mca_coll_topo_pack(void *module, const void *span, size_t first, size_t blocks, char *packed)
{
    (void) module;
    return mca_coll_topo_convert_blocks((const mca_coll_topo_span_t *) span, first, blocks, packed, true);
}

static int mca_coll_topo_unpack(void *module, const void *span, size_t first, size_t blocks, char *packed)
{
    (void) module;
    return mca_coll_topo_convert_blocks((const mca_coll_topo_span_t *) span, first, blocks, packed, false);
}

void mca_coll_topo_shell_move(const mca_coll_topo_move_t *move, struct shell_move *packed, colltopo_call *call)
{
    const bool has_input = 0 != move->input.blocks, has_output = 0 != move->output.blocks;

    *packed = (struct shell_move){.collective = move->collective,
                                  .input_is_dense = !has_input || mca_coll_topo_is_packed(&move->input),
                                  .output_is_dense = !has_output || mca_coll_topo_is_packed(&move->output),
                                  .block_bytes = move->output.count * move->output.dtype->super.size,
                                  .input_blocks = move->input.blocks,
                                  .output_blocks = move->output.blocks,
                                  .first_held = move->first_held,
                                  .blocks_held = move->blocks_held,
                                  .output_changes = move->output_changes,
                                  .input = &move->input,
                                  .output = &move->output,
                                  .pack = mca_coll_topo_pack,
                                  .unpack = mca_coll_topo_unpack};
    if (has_input) {
        call->input = mca_coll_topo_first_byte(&move->input);
    }
    if (has_output) {
        call->output = mca_coll_topo_first_byte(&move->output);
    }
}

int mca_coll_topo_move(mca_coll_topo_module_t *module, const mca_coll_topo_move_t *move, colltopo_call *call)
{
    const struct shell_side side = mca_coll_topo_side(module);
    struct shell_move packed;

    mca_coll_topo_shell_move(move, &packed, call);
    if (OPAL_LIKELY(packed.input_is_dense && packed.output_is_dense)) {
        return mca_coll_topo_run(module, move->collective, call);
    }
    const int serves = colltopo_serves(module->collectives, move->collective, call);
    if (1 != serves) {
        return 0 == serves ? COLLTOPO_DECLINED : serves;
    }
    return shell_move_packed(&side, &packed, call);
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
    const size_t extent = (size_t) (by->dtype->super.ub - lb);
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

/* Elements whole, gaps left alone. */
static int mca_coll_topo_copy(void *module, const void *operation, const char *from, char *to, size_t elements)
{
    const mca_coll_topo_operation_t *by = (const mca_coll_topo_operation_t *) operation;

    (void) module;
    return 0 == ompi_datatype_copy_content_same_ddt(by->dtype, elements, to, (char *) from) ? COLLTOPO_SUCCESS
                                                                                            : MPI_ERR_INTERN;
}

static struct shell_layout mca_coll_topo_layout_of(const ompi_datatype_t *dtype)
{
    const opal_datatype_t *layout = &dtype->super;

    return (struct shell_layout){.size = layout->size,
                                 .lower = layout->lb,
                                 .extent = layout->ub - layout->lb,
                                 .true_lower = layout->true_lb,
                                 .true_extent = layout->true_ub - layout->true_lb};
}

bool mca_coll_topo_shell_reduction(const mca_coll_topo_reduction_t *asked, struct shell_reduction *reduction,
                                   colltopo_call *call)
{
    *reduction = (struct shell_reduction){.collective = asked->collective,
                                          .layout = mca_coll_topo_layout_of(asked->operation.dtype),
                                          .in_place = MPI_IN_PLACE == asked->input,
                                          .receives = asked->receives,
                                          .input = asked->input,
                                          .output = asked->output,
                                          .input_count = asked->input_count,
                                          .output_count = asked->output_count,
                                          .operation = &asked->operation,
                                          .copy = mca_coll_topo_copy};
    if (!shell_can_reduce(&reduction->layout) || opal_datatype_is_overlapped(&asked->operation.dtype->super)) {
        return false;
    }
    shell_reduction_begins(reduction, call);
    call->reduce = mca_coll_topo_is_basic(asked->operation.dtype) ? mca_coll_topo_apply_basic : mca_coll_topo_apply;
    call->reduce_context = (void *) &asked->operation;
    return true;
}

int mca_coll_topo_reduction(mca_coll_topo_module_t *module, const mca_coll_topo_reduction_t *asked, colltopo_call *call)
{
    const struct shell_side side = mca_coll_topo_side(module);
    struct shell_reduction reduction;

    if (!mca_coll_topo_shell_reduction(asked, &reduction, call)) {
        mca_coll_topo_count_passed_on(module);
        return mca_coll_topo_decline_alone(module, asked->collective);
    }
    if (OPAL_LIKELY(shell_is_dense(&reduction.layout))) {
        return mca_coll_topo_run(module, asked->collective, call);
    }
    const int serves = colltopo_serves(module->collectives, asked->collective, call);
    if (1 != serves) {
        return 0 == serves ? COLLTOPO_DECLINED : serves;
    }
    return shell_reduction_with_gaps(&side, &reduction, call);
}
