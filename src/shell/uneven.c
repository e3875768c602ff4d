/* Packed calls with blocks of sizes of their own, for both shells. */
#include "uneven.h"

#include <stddef.h>

static bool is_exchange(const struct shell_uneven *move)
{
    return move->collective >= COLLTOPO_ALLTOALLV && move->collective <= COLLTOPO_NEIGHBORHOOD;
}

/* A side of the rank's own block alone, of which the call's count says the bytes. */
static bool is_single(const struct shell_uneven *move, bool input)
{
    return input ? move->collective == COLLTOPO_ALLGATHERV || move->collective == COLLTOPO_GATHERV
                 : move->collective == COLLTOPO_SCATTERV;
}

/* Distances count from the lowest block from now on; the address of that. */
static void *lowest_of(struct shell_blocks *side)
{
    ptrdiff_t lowest = 0;
    bool found = false;

    for (size_t i = 0; i < side->blocks; ++i) {
        const ptrdiff_t at = (ptrdiff_t)side->at[i];
        if (side->bytes[i] > 0 && (!found || at < lowest)) {
            lowest = at;
            found = true;
        }
    }
    for (size_t i = 0; i < side->blocks; ++i) {
        side->at[i] = side->bytes[i] > 0 ? side->at[i] - (size_t)lowest : 0;
    }
    return shell_at(side->buffer, lowest);
}

bool shell_uneven_begins(struct shell_uneven *move, colltopo_blocks *places, colltopo_call *call)
{
    struct shell_blocks *const input = &move->input, *const output = &move->output;
    const bool held_by_input = move->collective == COLLTOPO_SCATTERV;

    call->element_size = 1;
    call->in_place = move->in_place && !is_exchange(move);
    call->input = lowest_of(input);
    call->output = lowest_of(output);
    call->count = is_single(move, true) && input->blocks > 0     ? input->bytes[0]
                  : is_single(move, false) && output->blocks > 0 ? output->bytes[0]
                  : is_exchange(move)                            ? 0
                  : held_by_input                                ? input->bytes[move->own]
                                                                 : output->bytes[move->own];
    call->count = move->collective == COLLTOPO_ALLGATHERV ? 0 : call->count;
    *places =
        (colltopo_blocks){is_single(move, true) ? NULL : input->bytes, is_single(move, true) ? NULL : input->at,
                          is_single(move, false) ? NULL : output->bytes, is_single(move, false) ? NULL : output->at};
    if (move->in_place && is_exchange(move)) {
        places->input_bytes = output->bytes;
        places->input_at = output->at;
    }
    call->blocks = places;
    /* An exchange in place sends what it has from a copy, for it may be overwritten before it has gone. */
    return (input->is_dense || input->blocks == 0) && (output->is_dense || output->blocks == 0) &&
           !(move->in_place && is_exchange(move));
}

static size_t sum_of(const struct shell_blocks *side)
{
    size_t sum = 0;

    for (size_t i = 0; i < side->blocks; ++i) {
        sum += side->bytes[i];
    }
    return sum;
}

/* Blocks in a row. */
static void follow_each_other(const struct shell_blocks *side, size_t *at)
{
    size_t end = 0;

    for (size_t i = 0; i < side->blocks; ++i) {
        at[i] = end;
        end += side->bytes[i];
    }
}

static int pack_all(const struct shell_side *side, const struct shell_uneven *move, const struct shell_blocks *from,
                    const size_t *at, char *packed)
{
    int status = COLLTOPO_SUCCESS;

    for (size_t i = 0; i < from->blocks && status == COLLTOPO_SUCCESS; ++i) {
        status = from->bytes[i] > 0 ? move->pack(side->owner, from, i, packed + at[i]) : COLLTOPO_SUCCESS;
    }
    return status;
}

static bool sends_its_output(const struct shell_uneven *move)
{
    return move->in_place && is_exchange(move);
}

static const struct shell_blocks *read_side(const struct shell_uneven *move)
{
    return sends_its_output(move) ? &move->output : &move->input;
}

void shell_uneven_lays_out(const struct shell_uneven *move, size_t *input_at, size_t *output_at,
                           struct shell_packing *packing, colltopo_blocks *places)
{
    const struct shell_blocks *const input = read_side(move), *const output = &move->output;

    *packing = (struct shell_packing){
        .input = input->blocks > 0 && (sends_its_output(move) || !input->is_dense),
        .output = output->blocks > 0 && !output->is_dense,
        .input_at = input_at,
        .output_at = output_at,
    };
    if (packing->input) {
        follow_each_other(input, input_at);
        packing->input_bytes = sum_of(input);
        places->input_at = places->input_bytes == NULL ? NULL : input_at;
    }
    if (packing->output) {
        follow_each_other(output, output_at);
        places->output_at = places->output_bytes == NULL ? NULL : output_at;
    }
    packing->bytes = packing->input_bytes + (packing->output ? sum_of(output) : 0);
}

int shell_uneven_packs(const struct shell_side *side, const struct shell_uneven *move,
                       const struct shell_packing *packing, char *packed, colltopo_call *call)
{
    const struct shell_blocks *const output = &move->output;
    int status = COLLTOPO_SUCCESS;

    if (packing->input) {
        status = pack_all(side, move, read_side(move), packing->input_at, packed);
        call->input = packed;
    }
    if (packing->output) {
        char *const packed_output = packed + packing->input_bytes;
        call->output = packed_output;
        if (status == COLLTOPO_SUCCESS && move->in_place && !is_exchange(move) && output->bytes[move->own] > 0) {
            status = move->pack(side->owner, output, move->own, packed_output + packing->output_at[move->own]);
        }
    }
    return status;
}

int shell_uneven_unpacks(const struct shell_side *side, const struct shell_uneven *move,
                         const struct shell_packing *packing, char *packed)
{
    const struct shell_blocks *const to = &move->output;
    const bool held = move->in_place && !is_exchange(move); /* the rank's own block is there already */
    int status = COLLTOPO_SUCCESS;

    if (!packing->output) {
        return COLLTOPO_SUCCESS;
    }
    for (size_t i = 0; i < to->blocks && status == COLLTOPO_SUCCESS; ++i) {
        const bool changes = to->bytes[i] > 0 && !(held && i == move->own);
        status = changes ? move->unpack(side->owner, to, i, packed + packing->input_bytes + packing->output_at[i])
                         : COLLTOPO_SUCCESS;
    }
    return status;
}

int shell_uneven_packed(const struct shell_side *side, const struct shell_uneven *move, colltopo_call *call)
{
    const struct shell_blocks *const input = read_side(move), *const output = &move->output;
    const size_t places = input->blocks + output->blocks;
    size_t *const at = shell_lend(side->memory, places * sizeof(*at) + sum_of(input) + sum_of(output));
    char *packed;
    colltopo_blocks blocks = *call->blocks;
    struct shell_packing packing;
    int status;

    if (at == NULL) {
        return side->no_memory;
    }
    packed = (char *)(at + places);
    call->blocks = &blocks;
    shell_uneven_lays_out(move, at, at + input->blocks, &packing, &blocks);
    status = shell_uneven_packs(side, move, &packing, packed, call);
    if (status == COLLTOPO_SUCCESS) {
        status = side->run(side->owner, move->collective, call);
    }
    if (status == COLLTOPO_SUCCESS) {
        status = shell_uneven_unpacks(side, move, &packing, packed);
    }
    shell_take_back(side->memory, *side->abandoned);
    return status;
}
