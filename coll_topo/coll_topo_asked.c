/* The data of calls that do not block: where it lies, packed or not, on a device or not, and what brings it home. */
#include "ompi_config.h"

#include "coll_topo_requests.h"

#include <stdlib.h>

int mca_coll_topo_describe(mca_coll_topo_request_t *request)
{
    return request->kind->describe(request, &request->arguments);
}

/* The two buffers of a call, as a device's copies need them. */
static void mca_coll_topo_find_buffers(mca_coll_topo_request_t *request)
{
    const mca_coll_topo_asked_t *asked = &request->asked;
    const bool in_place = MPI_IN_PLACE == request->arguments.sbuf;

    if (asked->is_reduction) {
        const mca_coll_topo_reduction_t *reduction = &asked->reduction;
        /* In place the output holds the whole input, of which a part may be written. */
        const size_t received = in_place ? reduction->input_count : reduction->output_count;
        request->input = (mca_coll_topo_buffer_t){.user = reduction->input,
                                                  .count = in_place ? 0 : reduction->input_count,
                                                  .dtype = reduction->operation.dtype,
                                                  .is_read = true};
        request->output = (mca_coll_topo_buffer_t){.user = reduction->output,
                                                   .count = reduction->receives ? received : 0,
                                                   .dtype = reduction->operation.dtype,
                                                   .is_read = in_place,
                                                   .is_written = true};
        return;
    }
    request->input = (mca_coll_topo_buffer_t){.user = asked->move.input.buf,
                                              .count = asked->move.input.blocks * asked->move.input.count,
                                              .dtype = asked->move.input.dtype,
                                              .is_read = true};
    request->output = (mca_coll_topo_buffer_t){.user = asked->move.output.buf,
                                               .count = asked->move.output.blocks * asked->move.output.count,
                                               .dtype = asked->move.output.dtype,
                                               .is_read = 0 != asked->move.blocks_held,
                                               .is_written = asked->move.output_changes};
}

/* As for blocking calls, but in a turn. */
static int mca_coll_topo_agree_in_turn(mca_coll_topo_request_t *request)
{
    const bool input_on_device = mca_coll_topo_is_on_device(&request->input);
    const bool output_on_device = mca_coll_topo_is_on_device(&request->output);

    return mca_coll_topo_agree_on_device(request->topo, request->kind->collective, input_on_device || output_on_device);
}

static int mca_coll_topo_look_at_devices(mca_coll_topo_request_t *request, bool in_turn)
{
    mca_coll_topo_module_t *topo = request->topo;
    const mca_coll_topo_staging_t *staging = &topo->staging[request->kind->collective];
    int rc;

    mca_coll_topo_find_buffers(request);
    if (MCA_COLL_TOPO_UNKNOWN == *staging || (!in_turn && colltopo_turns_to_come(topo->collectives))) {
        if (!in_turn) {
            return COLLTOPO_UNKNOWN;
        }
        rc = mca_coll_topo_agree_in_turn(request);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    if (MCA_COLL_TOPO_LEAVES == *staging) {
        mca_coll_topo_count_passed_on(topo);
        return COLLTOPO_DECLINED;
    }
    return OMPI_SUCCESS;
}

/* In a communicator's first call the others wait for this rank; in later ones nobody does. */
static int mca_coll_topo_leave_to_former(mca_coll_topo_request_t *request, bool in_turn)
{
    mca_coll_topo_module_t *topo = request->topo;
    const int rc = colltopo_leave(
        topo->collectives, request->kind->collective,
        (in_turn ? COLLTOPO_IN_TURN : COLLTOPO_AT_ONCE) | (request->super.super.req_persistent ? COLLTOPO_AGAIN : 0));

    if (COLLTOPO_UNKNOWN == rc) {
        return rc;
    }
    mca_coll_topo_count_passed_on(topo);
    return COLLTOPO_SUCCESS == rc || COLLTOPO_DECLINED == rc ? COLLTOPO_DECLINED : mca_coll_topo_error(rc);
}

int mca_coll_topo_prepare(mca_coll_topo_request_t *request, bool in_turn)
{
    colltopo_comm *collectives = request->topo->collectives;
    int rc;

    if (OPAL_UNLIKELY(request->asked.declines_alone)) {
        return mca_coll_topo_leave_to_former(request, in_turn);
    }
    rc = NULL == mca_coll_topo_device() ? OMPI_SUCCESS : mca_coll_topo_look_at_devices(request, in_turn);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    rc = colltopo_make(collectives, request->kind->collective, &request->asked.call,
                       (in_turn ? COLLTOPO_IN_TURN : 0) | (request->super.super.req_persistent ? COLLTOPO_AGAIN : 0),
                       &request->operation);
    if (COLLTOPO_INVALID == rc) {
        return mca_coll_topo_error(rc);
    }
    return rc;
}

static struct shell_side mca_coll_topo_side_of(mca_coll_topo_request_t *request)
{
    return (struct shell_side){.owner = request->topo, .memory = &request->memory, .no_memory = MPI_ERR_NO_MEM};
}

/* Where the operation finds its data, which is dense there. */
static int mca_coll_topo_lay_out(mca_coll_topo_request_t *request)
{
    mca_coll_topo_asked_t *asked = &request->asked;
    const struct shell_side side = mca_coll_topo_side_of(request);

    if (NULL != request->uneven) {
        return mca_coll_topo_pack_uneven(request, &side);
    }
    if (asked->is_reduction) {
        struct shell_reduction reduction;
        (void) mca_coll_topo_shell_reduction(&asked->reduction, &reduction, &asked->call);
        request->is_packed = !shell_is_dense(&reduction.layout);
        return request->is_packed ? shell_reduction_packs(&side, &reduction, &asked->call) : OMPI_SUCCESS;
    }
    struct shell_move move;
    mca_coll_topo_shell_move(&asked->move, &move, &asked->call);
    request->is_packed = !move.input_is_dense || !move.output_is_dense;
    return request->is_packed ? shell_move_packs(&side, &move, &asked->call) : OMPI_SUCCESS;
}

static int mca_coll_topo_bring_home(mca_coll_topo_request_t *request)
{
    const mca_coll_topo_asked_t *asked = &request->asked;
    const struct shell_side side = mca_coll_topo_side_of(request);
    colltopo_call call = asked->call; /* of which nothing is wanted here */

    if (NULL != request->uneven) {
        return mca_coll_topo_unpack_uneven(request, &side);
    }
    if (asked->is_reduction) {
        struct shell_reduction reduction;
        (void) mca_coll_topo_shell_reduction(&asked->reduction, &reduction, &call);
        return shell_reduction_unpacks(&side, &reduction);
    }
    struct shell_move move;
    mca_coll_topo_shell_move(&asked->move, &move, &call);
    return shell_move_unpacks(&side, &move);
}

/* Data on a device goes through the host's memory, and the call is about that. */
static int mca_coll_topo_stage_data(mca_coll_topo_request_t *request)
{
    mca_coll_topo_asked_t *asked = &request->asked;
    int rc = mca_coll_topo_stage(&request->input);

    rc = OMPI_SUCCESS == rc ? mca_coll_topo_stage(&request->output) : rc;
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (asked->is_reduction) {
        asked->reduction.input = request->input.staged;
        asked->reduction.output = (void *) request->output.staged;
    } else {
        asked->move.input.buf = request->input.staged;
        asked->move.output.buf = request->output.staged;
    }
    return OMPI_SUCCESS;
}

int mca_coll_topo_begin(mca_coll_topo_request_t *request, bool *over)
{
    int rc = OMPI_SUCCESS;

    if (OPAL_UNLIKELY(!request->is_laid_out)) {
        const bool has_device = NULL != mca_coll_topo_device();
        rc = has_device ? mca_coll_topo_stage_data(request) : OMPI_SUCCESS;
        rc = OMPI_SUCCESS == rc ? mca_coll_topo_lay_out(request) : rc;
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        request->is_laid_out = !has_device && !request->is_packed; /* for all starts */
    }
    *over = mca_coll_topo_begin_again(request);
    return OMPI_SUCCESS;
}

/* Memory in which messages may still arrive is not used again. */
static void mca_coll_topo_set_aside(mca_coll_topo_request_t *request)
{
    shell_take_back(&request->memory, true);
    shell_take_back(&request->input.memory, true);
    shell_take_back(&request->output.memory, true);
}

int mca_coll_topo_end(mca_coll_topo_request_t *request)
{
    int rc = colltopo_status(request->operation);

    if (OPAL_UNLIKELY(COLLTOPO_SUCCESS != rc)) {
        if (colltopo_gave_up(request->operation)) {
            mca_coll_topo_set_aside(request);
        }
        return mca_coll_topo_error(rc);
    }
    if (OPAL_UNLIKELY(request->is_packed)) {
        rc = mca_coll_topo_bring_home(request);
    }
    if (OPAL_UNLIKELY(!request->is_laid_out && NULL != mca_coll_topo_device())) {
        mca_coll_topo_unstage(&request->input, rc);
        mca_coll_topo_unstage(&request->output, rc);
    }
    return rc;
}

void mca_coll_topo_drop_data(mca_coll_topo_request_t *request)
{
    shell_free(&request->memory);
    shell_free(&request->input.memory);
    shell_free(&request->output.memory);
    request->is_laid_out = request->is_packed = false;
}

void mca_coll_topo_let_go(mca_coll_topo_request_t *request)
{
    if (NULL != request->operation) {
        colltopo_release(request->operation);
        request->operation = NULL;
    }
    if (OPAL_UNLIKELY(NULL != request->passed || NULL != request->stand_in || NULL != request->ordered)) {
        mca_coll_topo_drop_passed(request);
    }
    mca_coll_topo_drop_data(request);
    if (NULL != request->counts) {
        free(request->counts);
        request->counts = NULL;
    }
    if (NULL != request->uneven) {
        mca_coll_topo_drop_uneven(request);
    }
    mca_coll_topo_drop_held(request);
}
