/* Allreduce, reduce and reduce_scatter.
 *
 * Op and datatype of a reduction are the same on all ranks, so they may decide whether it is served. MPI_Reduce_local
 * works on elements where they lie; elements with gaps are brought into a temporary whole and back without their gaps.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "collectives.h"
#include "communicator.h"
#include "library.h"
#include "types.h"

struct reduction {
    int collective;
    struct shim_operands operands;
    size_t input_count;  /* elements */
    size_t output_count; /* 0: nothing is received */
    struct shim_layout layout;
};

/* colltopo's element is the bytes from the lower to the upper bound of MPI's. */
static int reduce_local(void *context, const void *source, void *target, size_t elements)
{
    const struct reduction *reduction = context;
    const char *from = (const char *)source - reduction->layout.lower;
    char *to = (char *)target - reduction->layout.lower;
    int status = MPI_SUCCESS;

    while (elements > 0 && status == MPI_SUCCESS) {
        const int now = elements < INT_MAX ? (int)elements : INT_MAX;
        status = shim_mpi.Reduce_local(from, to, now, reduction->operands.type, reduction->operands.op);
        from += now * reduction->layout.extent;
        to += now * reduction->layout.extent;
        elements -= (size_t)now;
    }
    return status;
}

/* Copies elements without what lies between them, by a message to oneself. */
static int copy_elements(struct shim_communicator *communicator, const struct reduction *reduction, const char *from,
                         char *to, size_t elements)
{
    const int me = communicator->rank, tag = COLLTOPO_COLLECTIVES;
    const MPI_Datatype type = reduction->operands.type;
    int status = MPI_SUCCESS;

    while (elements > 0 && status == MPI_SUCCESS) {
        const int now = elements < INT_MAX ? (int)elements : INT_MAX;
        status = shim_mpi.Sendrecv(from, now, type, me, tag, to, now, type, me, tag, communicator->messages,
                                   MPI_STATUS_IGNORE);
        from += now * reduction->layout.extent;
        to += now * reduction->layout.extent;
        elements -= (size_t)now;
    }
    return status;
}

/* One temporary is input and output, as MPI_IN_PLACE has it. Where nothing is received it is the input. */
static int run_with_gaps(struct shim_communicator *communicator, const struct reduction *reduction, colltopo_call *call)
{
    const struct shim_operands *operands = &reduction->operands;
    const bool receives = reduction->output_count > 0 || reduction->collective == COLLTOPO_REDUCE_SCATTER;
    const bool takes_output = operands->input == MPI_IN_PLACE;
    /* Its gaps are sent along, so they must have a value. */
    char *whole = calloc(reduction->input_count, call->element_size);
    char *elements;
    int status;

    if (whole == NULL) {
        return MPI_ERR_NO_MEM;
    }
    elements = whole - reduction->layout.lower;
    status = copy_elements(communicator, reduction, takes_output ? operands->output : operands->input, elements,
                           reduction->input_count);
    call->in_place = call->in_place && receives;
    call->input = call->in_place ? NULL : whole;
    call->output = call->in_place ? whole : NULL;
    if (status == MPI_SUCCESS) {
        status = shim_run(communicator, reduction->collective, call);
    }
    if (status == COLLTOPO_SUCCESS) {
        status = copy_elements(communicator, reduction, elements, operands->output, reduction->output_count);
    }
    free(whole);
    return status;
}

static int run_reduction(struct shim_communicator *communicator, struct reduction *reduction, colltopo_call *call)
{
    const struct shim_operands *operands = &reduction->operands;
    const bool in_place = operands->input == MPI_IN_PLACE;
    bool dense;
    int status;

    reduction->layout = shim_layout_of(operands->type);
    call->op_properties = shim_op_properties(operands->op, operands->type);
    if (call->op_properties < 0 || reduction->layout.size == 0 || reduction->input_count == 0 ||
        !shim_keeps_to_its_extent(&reduction->layout)) {
        return COLLTOPO_DECLINED;
    }
    dense = shim_is_dense(&reduction->layout);
    call->in_place = dense ? in_place : 1;
    call->input = in_place ? NULL : (const char *)operands->input + reduction->layout.lower;
    call->output = operands->output == NULL ? NULL : (char *)operands->output + reduction->layout.lower;
    call->element_size = (size_t)reduction->layout.extent;
    call->reduce = reduce_local;
    call->reduce_context = reduction;
    if (!(dense && shim_has_served(communicator)) && !shim_serves(communicator, reduction->collective, call)) {
        return COLLTOPO_DECLINED;
    }
    status = dense ? shim_run(communicator, reduction->collective, call) : run_with_gaps(communicator, reduction, call);
    return shim_answer(status, communicator->comm);
}

static struct shim_communicator *communicator_for(const struct shim_operands *operands, MPI_Comm comm)
{
    if (operands->type == shim_mpi.datatype_null || operands->op == shim_mpi.op_null) {
        return NULL;
    }
    return shim_communicator_of(comm);
}

int shim_allreduce(struct shim_operands operands, int count, MPI_Comm comm)
{
    struct shim_communicator *communicator = communicator_for(&operands, comm);
    struct reduction reduction = {COLLTOPO_ALLREDUCE, operands, (size_t)count, (size_t)count, {0}};
    colltopo_call call = {.count = (size_t)count};

    return communicator == NULL || count < 0 ? COLLTOPO_DECLINED : run_reduction(communicator, &reduction, &call);
}

int shim_reduce(struct shim_operands operands, int count, int root, MPI_Comm comm)
{
    struct shim_communicator *communicator = communicator_for(&operands, comm);
    struct reduction reduction = {COLLTOPO_REDUCE, operands, (size_t)count, 0, {0}};
    colltopo_call call = {.count = (size_t)count, .root = root};

    if (communicator == NULL || count < 0 || root < 0 || root >= communicator->ranks) {
        return COLLTOPO_DECLINED;
    }
    if (root == communicator->rank) {
        reduction.output_count = (size_t)count;
    } else {
        reduction.operands.output = NULL; /* whatever the program gave there */
    }
    return run_reduction(communicator, &reduction, &call);
}

int shim_reduce_scatter(struct shim_operands operands, const int *counts, MPI_Comm comm)
{
    struct shim_communicator *communicator = communicator_for(&operands, comm);
    struct reduction reduction = {COLLTOPO_REDUCE_SCATTER, operands, 0, 0, {0}};
    colltopo_call call = {0};

    if (communicator == NULL || counts == NULL) {
        return COLLTOPO_DECLINED;
    }
    if (communicator->counts == NULL) {
        communicator->counts = malloc((size_t)communicator->ranks * sizeof(*communicator->counts));
        if (communicator->counts == NULL) {
            return shim_answer(MPI_ERR_NO_MEM, comm);
        }
    }
    for (int rank = 0; rank < communicator->ranks; ++rank) {
        if (counts[rank] < 0) {
            return COLLTOPO_DECLINED;
        }
        communicator->counts[rank] = (size_t)counts[rank];
        reduction.input_count += (size_t)counts[rank];
    }
    reduction.output_count = communicator->counts[communicator->rank];
    call.counts = communicator->counts;
    return run_reduction(communicator, &reduction, &call);
}

int shim_reduce_scatter_block(struct shim_operands operands, int count, MPI_Comm comm)
{
    struct shim_communicator *communicator = communicator_for(&operands, comm);
    struct reduction reduction = {COLLTOPO_REDUCE_SCATTER, operands, 0, (size_t)count, {0}};
    colltopo_call call = {.count = (size_t)count};

    if (communicator == NULL || count < 0) {
        return COLLTOPO_DECLINED;
    }
    reduction.input_count = (size_t)count * (size_t)communicator->ranks;
    return run_reduction(communicator, &reduction, &call);
}
