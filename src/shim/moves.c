/* Alltoall, allgather, bcast, gather and scatter: data that moves as it is.
 *
 * Ranks may describe the same data by different datatypes, so the algorithm follows from the bytes of a block alone,
 * and what is not plain bytes is packed. A rank packs only after asking whether the call is served: elsewhere the data
 * may need no packing. */
#include <stdbool.h>
#include <stdlib.h>

#include "collectives.h"
#include "communicator.h"
#include "defects.h"
#include "library.h"
#include "packing.h"
#include "types.h"

struct move {
    int collective;
    struct shim_blocks input; /* no blocks: the input lies in the output */
    struct shim_blocks output;
    size_t first_held; /* of the blocks of output that hold input */
    size_t blocks_held;
    bool output_changes;
};

static int convert(struct shim_communicator *communicator, enum shim_direction direction,
                   const struct shim_blocks *blocks, size_t first, size_t number, char *packed)
{
    const struct shell_layout layout = shim_layout_of(blocks->type);
    const size_t bytes = layout.size * (size_t)blocks->count;
    const MPI_Aint stride = layout.extent * (MPI_Aint)blocks->count;
    int status = MPI_SUCCESS;

    for (size_t i = 0; i < number && status == MPI_SUCCESS; ++i) {
        status = shim_convert_block(communicator, direction, shell_at(blocks->buffer, (MPI_Aint)(first + i) * stride),
                                    (size_t)blocks->count, blocks->type, packed + i * bytes);
    }
    return status;
}

static int pack(void *communicator, const void *side, size_t first, size_t blocks, char *packed)
{
    return convert(communicator, SHIM_PACKING, side, first, blocks, packed);
}

static int unpack(void *communicator, const void *side, size_t first, size_t blocks, char *packed)
{
    return convert(communicator, SHIM_UNPACKING, side, first, blocks, packed);
}

static int run_packed(struct shim_communicator *communicator, const struct move *move, colltopo_call *call,
                      bool input_plain, bool output_plain)
{
    const struct shell_side side = shim_side(communicator);
    const struct shell_move packed = {.collective = move->collective,
                                      .input_is_dense = input_plain,
                                      .output_is_dense = output_plain,
                                      .block_bytes = call->count * call->element_size,
                                      .input_blocks = move->input.blocks,
                                      .output_blocks = move->output.blocks,
                                      .first_held = move->first_held,
                                      .blocks_held = move->blocks_held,
                                      .output_changes = move->output_changes,
                                      .input = &move->input,
                                      .output = &move->output,
                                      .pack = pack,
                                      .unpack = unpack};

    return shell_move_packed(&side, &packed, call);
}

static int run_move(struct shim_communicator *communicator, const struct move *move, colltopo_call *call)
{
    const bool has_input = move->input.blocks > 0, has_output = move->output.blocks > 0;
    const struct shell_layout output = shim_layout_of(move->output.type);
    const struct shell_layout input =
        has_input ? shim_layout_of(move->input.type) : (struct shell_layout){.in_order = true};
    const size_t bytes = output.size * (size_t)move->output.count;
    bool plain;
    int status;

    /* Wrong by the standard, or nothing to move: the library knows what to do then. */
    if (has_input && input.size * (size_t)move->input.count != bytes) {
        return shim_decline_alone(communicator, move->collective);
    }
    if (bytes == 0) {
        return COLLTOPO_DECLINED;
    }
    call->element_size = (size_t)1 << shell_granule(bytes);
    call->count = bytes >> shell_granule(bytes);
    call->input = has_input ? move->input.buffer : NULL;
    call->output = (void *)move->output.buffer;
    plain = (!has_output || output.in_order) && input.in_order;
    if (!(plain && shim_has_served(communicator))) {
        status = shim_serves(communicator, move->collective, call);
        if (status != COLLTOPO_SUCCESS) {
            return shim_answer(status, communicator->comm);
        }
    }
    status = plain ? shim_run(communicator, move->collective, call)
                   : run_packed(communicator, move, call, input.in_order, !has_output || output.in_order);
    return shim_answer(status, communicator->comm);
}

/* What is wrong the library has to see, which knows what to say. */
static bool is_wrong(const struct shim_blocks *blocks)
{
    return blocks->count < 0 || blocks->buffer == MPI_IN_PLACE || !shim_is_usable(blocks->type);
}

static bool is_wrong_to_receive(const struct shim_blocks *blocks)
{
    return blocks->count < 0 || blocks->buffer == MPI_IN_PLACE || !shim_may_receive(blocks->type);
}

/* Alltoall and allgather differ in the blocks that go in. */
static int exchange(struct move *move, MPI_Comm comm, bool one_block_in)
{
    struct shim_communicator *communicator = shim_communicator_of(comm);
    const bool in_place = move->input.buffer == MPI_IN_PLACE;
    colltopo_call call = {.in_place = in_place};

    int status;

    if (communicator == NULL || (one_block_in ? is_wrong_to_receive(&move->output) : is_wrong(&move->output)) ||
        (!in_place && is_wrong(&move->input))) {
        return COLLTOPO_DECLINED;
    }
    move->output.blocks = (size_t)communicator->ranks;
    move->output_changes = true;
    if (in_place) {
        move->first_held = one_block_in ? (size_t)communicator->rank : 0;
        move->blocks_held = one_block_in ? 1 : (size_t)communicator->ranks;
    } else {
        move->input.blocks = one_block_in ? 1 : (size_t)communicator->ranks;
    }
    status = run_move(communicator, move, &call);
    return status == COLLTOPO_DECLINED ? shim_mend_exchange(communicator, move->collective, &move->input, &move->output)
                                       : status;
}

int shim_alltoall(struct shim_blocks input, struct shim_blocks output, MPI_Comm comm)
{
    struct move move = {.collective = COLLTOPO_ALLTOALL, .input = input, .output = output};

    return exchange(&move, comm, false);
}

int shim_allgather(struct shim_blocks input, struct shim_blocks output, MPI_Comm comm)
{
    struct move move = {.collective = COLLTOPO_ALLGATHER, .input = input, .output = output};

    return exchange(&move, comm, true);
}

int shim_bcast(struct shim_blocks output, int root, MPI_Comm comm)
{
    struct shim_communicator *communicator = shim_communicator_of(comm);
    struct move move = {.collective = COLLTOPO_BCAST, .output = output};
    colltopo_call call = {.root = root};
    int status;

    if (communicator == NULL || is_wrong(&output) || root < 0 || root >= communicator->ranks) {
        return COLLTOPO_DECLINED;
    }
    move.output.blocks = 1;
    move.blocks_held = root == communicator->rank ? 1 : 0;
    move.output_changes = root != communicator->rank;
    status = run_move(communicator, &move, &call);
    return status == COLLTOPO_DECLINED ? shim_mend_bcast(communicator, &output, root) : status;
}

/* Gather and scatter. What only the root has, MPI does not look at elsewhere: a side without blocks has the count and
 * datatype of the other. In place the root gives one buffer, which holds its own block too. */
static int hand_out(struct shim_communicator *communicator, struct move *move, bool in_place, int root)
{
    colltopo_call call = {.in_place = in_place, .root = root};

    move->output_changes = move->output.blocks > 0;
    if (in_place && move->output_changes) {
        move->first_held = (size_t)root;
        move->blocks_held = 1;
    }
    return run_move(communicator, move, &call);
}

static struct shim_blocks none_like(struct shim_blocks other)
{
    return (struct shim_blocks){NULL, other.count, other.type, 0};
}

int shim_gather(struct shim_blocks input, struct shim_blocks output, int root, MPI_Comm comm)
{
    struct shim_communicator *communicator = shim_communicator_of(comm);
    struct move move = {.collective = COLLTOPO_GATHER};
    bool is_root, in_place;
    int status;

    if (communicator == NULL || root < 0 || root >= communicator->ranks) {
        return COLLTOPO_DECLINED;
    }
    is_root = root == communicator->rank;
    in_place = is_root && input.buffer == MPI_IN_PLACE;
    input.blocks = 1;
    output.blocks = (size_t)communicator->ranks;
    move.input = in_place ? none_like(output) : input;
    move.output = is_root ? output : none_like(input);
    if (!in_place && is_wrong(&input)) {
        return COLLTOPO_DECLINED;
    }
    if (is_root && is_wrong_to_receive(&output)) {
        return shim_decline_alone(communicator, move.collective);
    }
    status = hand_out(communicator, &move, in_place, root);
    return status == COLLTOPO_DECLINED ? shim_mend_gather(communicator, &input, &output, root) : status;
}

int shim_scatter(struct shim_blocks input, struct shim_blocks output, int root, MPI_Comm comm)
{
    struct shim_communicator *communicator = shim_communicator_of(comm);
    struct move move = {.collective = COLLTOPO_SCATTER};
    bool is_root, in_place;
    int status;

    if (communicator == NULL || root < 0 || root >= communicator->ranks) {
        return COLLTOPO_DECLINED;
    }
    is_root = root == communicator->rank;
    in_place = is_root && output.buffer == MPI_IN_PLACE;
    input.blocks = (size_t)communicator->ranks;
    output.blocks = 1;
    move.input = is_root ? input : none_like(output);
    move.output = in_place ? none_like(input) : output;
    if (!is_root && output.buffer == MPI_IN_PLACE) {
        return shim_decline_alone(communicator, move.collective); /* as the root may write */
    }
    if ((is_root && is_wrong(&input)) || (!in_place && is_wrong_to_receive(&output))) {
        return COLLTOPO_DECLINED;
    }
    status = hand_out(communicator, &move, in_place, root);
    return status == COLLTOPO_DECLINED ? shim_mend_scatter(communicator, &input, &output, root) : status;
}
