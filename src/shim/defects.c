/* Mending of calls that pass through: see defects.h. */
#include "defects.h"

#include <limits.h>
#include <stdlib.h>

#include "communicator.h"
#include "library.h"
#include "packing.h"
#include "release_defects.h"
#include "types.h"

static bool is_empty(MPI_Datatype type)
{
    return shim_layout_of(type).size == 0;
}

/* A count that says whether there is anything: some functions send where it is not 0, whatever the datatype. */
static int count_of(const struct shim_blocks *blocks)
{
    return is_empty(blocks->type) ? 0 : (int)blocks->count;
}

static bool writes_nothing_as_elements(const struct shim_blocks *blocks)
{
    return blocks->count > 0 && is_empty(blocks->type);
}

/* The library's answer, which may have been its turn in a trial. */
#define ASK(name, ...) shim_came_back(shim_take_left(), shim_mpi.name(__VA_ARGS__))

static size_t bytes_of(const struct shim_blocks *blocks)
{
    return shim_layout_of(blocks->type).size * (size_t)blocks->count;
}

/* `count` elements in a row, packed into memory of the communicator's or out of it. */
static int convert(struct shim_communicator *communicator, enum shim_direction direction, const void *buffer,
                   size_t count, MPI_Datatype type, char *packed)
{
    return shim_convert_block(communicator, direction, (char *)buffer, count, type, packed);
}

/* The modified Bruck algorithm packs what it has received by the send type, so both sides have one: bytes. */
static int alltoall_of_bytes(struct shim_communicator *communicator, const struct shim_blocks *input,
                             const struct shim_blocks *output)
{
    const size_t ranks = (size_t)communicator->ranks, bytes = bytes_of(output);
    char *packed = shell_lend(&communicator->memory, 2 * ranks * bytes);
    int status;

    if (packed == NULL) {
        return shim_answer(MPI_ERR_NO_MEM, communicator->comm);
    }
    status = convert(communicator, SHIM_PACKING, input->buffer, ranks * (size_t)input->count, input->type, packed);
    if (status == MPI_SUCCESS) {
        status = ASK(Alltoall, packed, (int)bytes, shim_mpi.byte, packed + ranks * bytes, (int)bytes, shim_mpi.byte,
                     communicator->comm);
    }
    if (status == MPI_SUCCESS) {
        status = convert(communicator, SHIM_UNPACKING, output->buffer, ranks * (size_t)output->count, output->type,
                         packed + ranks * bytes);
    }
    shell_take_back(&communicator->memory, false);
    return status;
}

static bool has_defect(const struct shim_communicator *communicator, size_t bytes)
{
    const struct shell_defect *defect =
        shell_alltoall_defect(shell_open_mpi_release(shim_library_name()), communicator->ranks);

    return defect != NULL && defect->bytes <= bytes && bytes <= defect->most_bytes;
}

int shim_mend_exchange(struct shim_communicator *communicator, int collective, const struct shim_blocks *input,
                       const struct shim_blocks *output)
{
    const bool in_place = input->buffer == MPI_IN_PLACE, is_alltoall = collective == COLLTOPO_ALLTOALL;
    const struct shim_blocks *sent = in_place ? output : input;

    if (input->count > INT_MAX || output->count > INT_MAX || bytes_of(sent) != bytes_of(output)) {
        return COLLTOPO_DECLINED;
    }
    /* Some decide by the send count that the standard says to ignore. */
    if (writes_nothing_as_elements(sent) || writes_nothing_as_elements(output) ||
        (in_place && (input->count != output->count || input->type != output->type))) {
        return is_alltoall ? ASK(Alltoall, input->buffer, count_of(sent), sent->type, (void *)output->buffer,
                                 count_of(output), output->type, communicator->comm)
                           : ASK(Allgather, input->buffer, count_of(sent), sent->type, (void *)output->buffer,
                                 count_of(output), output->type, communicator->comm);
    }
    if (is_alltoall && !in_place && shim_has_served(communicator) && has_defect(communicator, bytes_of(output)) &&
        !(shim_layout_of(input->type).in_order && shim_layout_of(output->type).in_order)) {
        return alltoall_of_bytes(communicator, input, output);
    }
    return COLLTOPO_DECLINED;
}

int shim_mend_bcast(struct shim_communicator *communicator, const struct shim_blocks *output, int root)
{
    return writes_nothing_as_elements(output)
               ? ASK(Bcast, (void *)output->buffer, 0, output->type, root, communicator->comm)
               : COLLTOPO_DECLINED;
}

/* The rings of Open MPI reduce in memory that begins at the first byte of an element, and use it as if it began at the
 * datatype's address. Datatype and operation are the same on all ranks, so all reduce to one and send the result. */
int shim_mend_allreduce(struct shim_communicator *communicator, const struct shim_operands *operands, long long count)
{
    const struct shell_layout layout = shim_layout_of(operands->type);
    const bool is_root = communicator->rank == 0, in_place = operands->input == MPI_IN_PLACE;
    struct shim_left left;
    int status;

    if (count <= 0 || count > INT_MAX || layout.size == 0 || layout.true_lower == 0 ||
        shell_open_mpi_release(shim_library_name()) == 0) {
        return COLLTOPO_DECLINED;
    }
    left = shim_take_left();
    status =
        shim_mpi.Reduce(in_place && !is_root ? operands->output : operands->input, is_root ? operands->output : NULL,
                        (int)count, operands->type, operands->op, 0, communicator->comm);
    if (status == MPI_SUCCESS) {
        status = shim_mpi.Bcast(operands->output, (int)count, operands->type, 0, communicator->comm);
    }
    return shim_came_back(left, status);
}

/* Whether elements that follow each other, or the parts of one, may lie on the same bytes. */
static bool may_overlap(const struct shell_layout *layout)
{
    return layout->extent < layout->true_extent || layout->true_extent < (ptrdiff_t)layout->size;
}

/* In a binomial tree an inner rank gathers its children's blocks behind its own by its own datatype. */
static int gather_of_bytes(struct shim_communicator *communicator, const struct shim_blocks *input,
                           const struct shim_blocks *output, int root)
{
    const size_t bytes = bytes_of(input);
    char *packed = shell_lend(&communicator->memory, bytes);
    int status;

    if (packed == NULL) {
        return shim_answer(MPI_ERR_NO_MEM, communicator->comm);
    }
    status = convert(communicator, SHIM_PACKING, input->buffer, (size_t)input->count, input->type, packed);
    if (status == MPI_SUCCESS) {
        status = ASK(Gather, packed, (int)bytes, shim_mpi.byte, (void *)output->buffer, (int)output->count,
                     output->type, root, communicator->comm);
    }
    shell_take_back(&communicator->memory, false);
    return status;
}

int shim_mend_gather(struct shim_communicator *communicator, const struct shim_blocks *input,
                     const struct shim_blocks *output, int root)
{
    const bool is_root = root == communicator->rank, in_place = is_root && input->buffer == MPI_IN_PLACE;
    struct shell_layout layout;

    if (input->count > INT_MAX || output->count > INT_MAX) {
        return COLLTOPO_DECLINED;
    }
    if ((!in_place && writes_nothing_as_elements(input)) || (is_root && writes_nothing_as_elements(output))) {
        return ASK(Gather, input->buffer, in_place ? 0 : count_of(input), input->type, (void *)output->buffer,
                   is_root ? count_of(output) : 0, output->type, root, communicator->comm);
    }
    if (is_root || !shim_has_served(communicator) || bytes_of(input) > INT_MAX) {
        return COLLTOPO_DECLINED;
    }
    layout = shim_layout_of(input->type);
    return may_overlap(&layout) ? gather_of_bytes(communicator, input, output, root) : COLLTOPO_DECLINED;
}

int shim_mend_scatter(struct shim_communicator *communicator, const struct shim_blocks *input,
                      const struct shim_blocks *output, int root)
{
    const bool is_root = root == communicator->rank, in_place = is_root && output->buffer == MPI_IN_PLACE;

    if (input->count > INT_MAX || output->count > INT_MAX ||
        !((!in_place && writes_nothing_as_elements(output)) || (is_root && writes_nothing_as_elements(input)))) {
        return COLLTOPO_DECLINED;
    }
    return ASK(Scatter, input->buffer, is_root ? count_of(input) : 0, input->type, (void *)output->buffer,
               in_place ? 0 : count_of(output), output->type, root, communicator->comm);
}

/* The side whose list of counts is of an empty datatype becomes one of zeros; NULL: no memory. */
static int *no_counts(const struct shim_communicator *communicator)
{
    return calloc((size_t)communicator->ranks, sizeof(int));
}

/* The decision multiplies the size of the send type with the receive counts: the own block goes to its place first, and
 * is sent from there. Not as MPI_IN_PLACE, for that some look where blocks would lie without gaps between them. */
static int allgatherv_from_place(struct shim_communicator *communicator, const struct shim_vector *input,
                                 const struct shim_vector *output)
{
    const size_t bytes = shim_layout_of(input->type).size * (size_t)input->count;
    const int received = output->counts[communicator->rank];
    char *own = shell_at(output->buffer, output->places[communicator->rank] * shim_layout_of(output->type).extent);
    char *packed = shell_lend(&communicator->memory, bytes);
    int status;

    if (packed == NULL) {
        return shim_answer(MPI_ERR_NO_MEM, communicator->comm);
    }
    status = convert(communicator, SHIM_PACKING, input->buffer, (size_t)input->count, input->type, packed);
    if (status == MPI_SUCCESS) {
        status = convert(communicator, SHIM_UNPACKING, own, (size_t)received, output->type, packed);
    }
    shell_take_back(&communicator->memory, false);
    return status != MPI_SUCCESS ? shim_answer(status, communicator->comm)
                                 : ASK(Allgatherv, own, received, output->type, (void *)output->buffer, output->counts,
                                       output->places, output->type, communicator->comm);
}

int shim_mend_allgatherv(struct shim_communicator *communicator, const struct shim_vector *input,
                         const struct shim_vector *output)
{
    const bool in_place = input->buffer == MPI_IN_PLACE;
    const size_t size = shim_layout_of(output->type).size;
    int *zeros, status;

    if (output->counts == NULL || output->places == NULL || (!in_place && input->count > INT_MAX)) {
        return COLLTOPO_DECLINED;
    }
    if (size == 0) {
        zeros = no_counts(communicator);
        status = zeros == NULL ? shim_answer(MPI_ERR_NO_MEM, communicator->comm)
                               : ASK(Allgatherv, input->buffer, 0, in_place ? output->type : input->type,
                                     (void *)output->buffer, zeros, output->places, output->type, communicator->comm);
        free(zeros);
        return status;
    }
    /* Open MPI's defect; MPICH takes no block of the output for the input. */
    if (in_place || !shim_has_served(communicator) || shell_open_mpi_release(shim_library_name()) == 0 ||
        shim_layout_of(input->type).size == size ||
        shim_layout_of(input->type).size * (size_t)input->count != size * (size_t)output->counts[communicator->rank]) {
        return COLLTOPO_DECLINED;
    }
    return allgatherv_from_place(communicator, input, output);
}

/* One block of a rank's own, and the root's list. */
static bool is_mended(const struct shim_vector *one, bool in_place, const struct shim_vector *list, bool is_root)
{
    return one->count <= INT_MAX && (!is_root || (list->counts != NULL && list->places != NULL)) &&
           ((!in_place && one->count > 0 && is_empty(one->type)) || (is_root && is_empty(list->type)));
}

int shim_mend_gatherv(struct shim_communicator *communicator, const struct shim_vector *input,
                      const struct shim_vector *output, int root)
{
    const bool is_root = root == communicator->rank, in_place = is_root && input->buffer == MPI_IN_PLACE;
    int *zeros = NULL, count, status;

    if (!is_mended(input, in_place, output, is_root)) {
        return COLLTOPO_DECLINED;
    }
    if (is_root && is_empty(output->type)) {
        zeros = no_counts(communicator);
        if (zeros == NULL) {
            return shim_answer(MPI_ERR_NO_MEM, communicator->comm);
        }
    }
    count = in_place || is_empty(input->type) ? 0 : (int)input->count;
    status = ASK(Gatherv, input->buffer, count, input->type, (void *)output->buffer,
                 zeros != NULL ? zeros : output->counts, output->places, output->type, root, communicator->comm);
    free(zeros);
    return status;
}

int shim_mend_scatterv(struct shim_communicator *communicator, const struct shim_vector *input,
                       const struct shim_vector *output, int root)
{
    const bool is_root = root == communicator->rank, in_place = is_root && output->buffer == MPI_IN_PLACE;
    int *zeros = NULL, count, status;

    if (!is_mended(output, in_place, input, is_root)) {
        return COLLTOPO_DECLINED;
    }
    if (is_root && is_empty(input->type)) {
        zeros = no_counts(communicator);
        if (zeros == NULL) {
            return shim_answer(MPI_ERR_NO_MEM, communicator->comm);
        }
    }
    count = in_place || is_empty(output->type) ? 0 : (int)output->count;
    status = ASK(Scatterv, input->buffer, zeros != NULL ? zeros : input->counts, input->places, input->type,
                 (void *)output->buffer, count, output->type, root, communicator->comm);
    free(zeros);
    return status;
}
