/* Calls whose blocks have sizes of their own: MPI's v and w forms.
 *
 * Sizes that only two ranks know decide nothing, so a rank that has nothing to send or receive takes part like any
 * other. */
#include <stdbool.h>
#include <stdlib.h>

#include "collectives.h"
#include "communicator.h"
#include "defects.h"
#include "library.h"
#include "packing.h"
#include "types.h"
#include "uneven.h"

static MPI_Datatype type_at(const struct shim_vector *vector, size_t block)
{
    return vector->types != NULL ? vector->types[block] : vector->type;
}

static long long count_at(const struct shim_vector *vector, size_t block)
{
    return vector->single           ? vector->count
           : vector->counts != NULL ? vector->counts[block]
                                    : vector->large_counts[block];
}

/* From the buffer to the block's first element, in bytes. */
static MPI_Aint place_of(const struct shim_vector *vector, size_t block, MPI_Aint extent)
{
    if (vector->single) {
        return 0;
    }
    return (vector->places != NULL ? vector->places[block] : vector->large_places[block]) *
           (vector->types != NULL ? 1 : extent);
}

static int convert(struct shim_communicator *communicator, enum shim_direction direction,
                   const struct shell_blocks *side, size_t block, char *packed)
{
    const struct shim_vector *vector = side->known;
    const MPI_Datatype type = type_at(vector, block);
    const MPI_Aint place = place_of(vector, block, shim_layout_of(type).extent);

    return shim_convert_block(communicator, direction, shell_at(vector->buffer, place), (size_t)count_at(vector, block),
                              type, packed);
}

static int pack(void *communicator, const struct shell_blocks *side, size_t block, char *packed)
{
    return convert(communicator, SHIM_PACKING, side, block, packed);
}

static int unpack(void *communicator, const struct shell_blocks *side, size_t block, char *packed)
{
    return convert(communicator, SHIM_UNPACKING, side, block, packed);
}

/* Whether MPI lets a block of `count` elements have such a datatype. Open MPI wants one also where there are none. */
static bool may_have(MPI_Datatype type, long long count, bool (*is_usable)(MPI_Datatype))
{
#ifndef OPEN_MPI
    if (count == 0 && type == shim_mpi.datatype_null) {
        return true;
    }
#endif
    (void)count;
    return is_usable(type);
}

/* Whether the arrays of a list are there, and what they say can be; the library knows what to say to others. */
static bool is_right(const struct shim_vector *vector, size_t ranks, bool (*is_usable)(MPI_Datatype))
{
    const size_t blocks = vector->single ? 1 : ranks;
    long long count;

    if (vector->buffer == MPI_IN_PLACE ||
        (!vector->single && ((vector->counts == NULL && vector->large_counts == NULL) ||
                             (vector->places == NULL && vector->large_places == NULL)))) {
        return false;
    }
    for (size_t i = 0; i < blocks; ++i) {
        count = count_at(vector, i);
        if (count < 0 || ((i == 0 || vector->types != NULL) && !may_have(type_at(vector, i), count, is_usable))) {
            return false;
        }
    }
    return true;
}

/* Bytes and places of the blocks. */
static void measure(const struct shim_vector *vector, size_t blocks, size_t *bytes, size_t *at,
                    struct shell_blocks *side)
{
    struct shell_layout layout = {0};
    bool dense = true;

    for (size_t i = 0; i < blocks; ++i) {
        const MPI_Datatype type = type_at(vector, i);
        const long long count = count_at(vector, i);
        bytes[i] = at[i] = 0;
        if (count == 0) {
            continue;
        }
        if (i == 0 || vector->types != NULL || layout.size == 0) {
            layout = shim_layout_of(type);
        }
        bytes[i] = (size_t)count * layout.size;
        at[i] = (size_t)(place_of(vector, i, layout.extent));
        dense = dense && layout.in_order;
    }
    *side = (struct shell_blocks){vector->buffer, blocks, bytes, at, dense, vector};
}

/* A side that is NULL is one that the rank does not have, or for which it gave MPI_IN_PLACE. */
static int run_uneven(struct shim_communicator *communicator, int collective, const struct shim_vector *input,
                      const struct shim_vector *output, bool in_place, int root)
{
    const size_t ranks = (size_t)communicator->ranks;
    struct shell_uneven move = {.collective = collective,
                                .in_place = in_place,
                                .own = (size_t)communicator->rank,
                                .pack = pack,
                                .unpack = unpack};
    colltopo_call call = {.root = root};
    colltopo_blocks places;
    bool plain;
    int status;

    if (communicator->sizes == NULL) {
        communicator->sizes = malloc(4 * ranks * sizeof(*communicator->sizes));
        if (communicator->sizes == NULL) {
            return shim_answer(MPI_ERR_NO_MEM, communicator->comm);
        }
    }
    size_t *const sizes = communicator->sizes;
    if (input != NULL) {
        measure(input, input->single ? 1 : ranks, sizes, sizes + ranks, &move.input);
    }
    if (output != NULL) {
        measure(output, output->single ? 1 : ranks, sizes + 2 * ranks, sizes + 3 * ranks, &move.output);
    }
    plain = shell_uneven_begins(&move, &places, &call);
    if (!(plain && shim_has_served(communicator))) {
        status = shim_serves(communicator, collective, &call);
        if (status != COLLTOPO_SUCCESS) {
            return shim_answer(status, communicator->comm);
        }
    }
    if (plain) {
        status = shim_run(communicator, collective, &call);
    } else {
        const struct shell_side side = shim_side(communicator);
        status = shell_uneven_packed(&side, &move, &call);
    }
    return shim_answer(status, communicator->comm);
}

int shim_allgatherv(struct shim_vector input, struct shim_vector output, MPI_Comm comm)
{
    struct shim_communicator *communicator = shim_communicator_of(comm);
    const bool in_place = input.buffer == MPI_IN_PLACE;
    size_t bytes = 0, own, element;
    int status = COLLTOPO_DECLINED;

    if (communicator == NULL || !is_right(&output, (size_t)communicator->ranks, shim_may_receive) ||
        (!in_place && !is_right(&input, 1, shim_is_usable))) {
        return COLLTOPO_DECLINED;
    }
    element = shim_layout_of(output.type).size;
    for (int rank = 0; rank < communicator->ranks; ++rank) {
        bytes += (size_t)count_at(&output, (size_t)rank) * element;
    }
    own = (size_t)count_at(&output, (size_t)communicator->rank) * element;
    /* Wrong by the standard; or there may be nothing to move. */
    if (!in_place && (size_t)input.count * shim_layout_of(input.type).size != own) {
        status = shim_decline_alone(communicator, COLLTOPO_ALLGATHERV);
    } else if (bytes != 0) {
        status = run_uneven(communicator, COLLTOPO_ALLGATHERV, in_place ? NULL : &input, &output, in_place, 0);
    }
    return status == COLLTOPO_DECLINED ? shim_mend_allgatherv(communicator, &input, &output) : status;
}

int shim_gatherv(struct shim_vector input, struct shim_vector output, int root, MPI_Comm comm)
{
    struct shim_communicator *communicator = shim_communicator_of(comm);
    bool is_root, in_place;
    int status;

    if (communicator == NULL || root < 0 || root >= communicator->ranks) {
        return COLLTOPO_DECLINED;
    }
    is_root = root == communicator->rank;
    in_place = is_root && input.buffer == MPI_IN_PLACE;
    if (!in_place && !is_right(&input, 1, shim_is_usable)) {
        return COLLTOPO_DECLINED;
    }
    if (is_root && !is_right(&output, (size_t)communicator->ranks, shim_may_receive)) {
        return shim_decline_alone(communicator, COLLTOPO_GATHERV);
    }
    status =
        run_uneven(communicator, COLLTOPO_GATHERV, in_place ? NULL : &input, is_root ? &output : NULL, in_place, root);
    return status == COLLTOPO_DECLINED ? shim_mend_gatherv(communicator, &input, &output, root) : status;
}

int shim_scatterv(struct shim_vector input, struct shim_vector output, int root, MPI_Comm comm)
{
    struct shim_communicator *communicator = shim_communicator_of(comm);
    bool is_root, in_place;
    int status;

    if (communicator == NULL || root < 0 || root >= communicator->ranks) {
        return COLLTOPO_DECLINED;
    }
    is_root = root == communicator->rank;
    in_place = is_root && output.buffer == MPI_IN_PLACE;
    if (!is_root && output.buffer == MPI_IN_PLACE) {
        return shim_decline_alone(communicator, COLLTOPO_SCATTERV); /* as the root may write */
    }
    if ((!in_place && !is_right(&output, 1, shim_may_receive)) ||
        (is_root && !is_right(&input, (size_t)communicator->ranks, shim_is_usable))) {
        return COLLTOPO_DECLINED;
    }
    status =
        run_uneven(communicator, COLLTOPO_SCATTERV, is_root ? &input : NULL, in_place ? NULL : &output, in_place, root);
    return status == COLLTOPO_DECLINED ? shim_mend_scatterv(communicator, &input, &output, root) : status;
}

int shim_exchange(int collective, struct shim_vector input, struct shim_vector output, MPI_Comm comm)
{
    struct shim_communicator *communicator = shim_communicator_of(comm);
    const bool in_place = input.buffer == MPI_IN_PLACE;

    if (communicator == NULL ||
        (collective == COLLTOPO_ALLTOALLW && (output.types == NULL || (!in_place && input.types == NULL))) ||
        !is_right(&output, (size_t)communicator->ranks, shim_is_usable) ||
        (!in_place && !is_right(&input, (size_t)communicator->ranks, shim_is_usable))) {
        return COLLTOPO_DECLINED;
    }
    return run_uneven(communicator, collective, in_place ? NULL : &input, &output, in_place, 0);
}
