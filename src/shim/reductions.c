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
#include "defects.h"
#include "library.h"
#include "types.h"

struct reduction {
    struct shell_reduction shell;
    struct shim_operands operands;
};

/* colltopo's element is the bytes from the lower to the upper bound of MPI's. */
static int reduce_local(void *context, const void *source, void *target, size_t elements)
{
    const struct reduction *reduction = context;
    const struct shell_layout *layout = &reduction->shell.layout;
    const char *from = (const char *)source - layout->lower;
    char *to = (char *)target - layout->lower;
    int status = MPI_SUCCESS;

    while (elements > 0 && status == MPI_SUCCESS) {
        const int now = elements < INT_MAX ? (int)elements : INT_MAX;
        status = shim_mpi.Reduce_local(from, to, now, reduction->operands.type, reduction->operands.op);
        from += now * layout->extent;
        to += now * layout->extent;
        elements -= (size_t)now;
    }
    return status;
}

/* Copies elements without what lies between them, by a message to oneself. */
static int copy_elements(void *owner, const void *operation, const char *from, char *to, size_t elements)
{
    const struct shim_communicator *communicator = owner;
    const struct reduction *reduction = operation;
    const int me = communicator->rank, tag = COLLTOPO_COLLECTIVES;
    const MPI_Datatype type = reduction->operands.type;
    int status = MPI_SUCCESS;

    while (elements > 0 && status == MPI_SUCCESS) {
        const int now = elements < INT_MAX ? (int)elements : INT_MAX;
        status = shim_mpi.Sendrecv(from, now, type, me, tag, to, now, type, me, tag, communicator->messages,
                                   MPI_STATUS_IGNORE);
        from += now * reduction->shell.layout.extent;
        to += now * reduction->shell.layout.extent;
        elements -= (size_t)now;
    }
    return status;
}

static int run_reduction(struct shim_communicator *communicator, struct reduction *reduction, colltopo_call *call)
{
    const struct shim_operands *operands = &reduction->operands;
    struct shell_reduction *const shell = &reduction->shell;
    const struct shell_side side = shim_side(communicator);
    bool dense;
    int status;

    shell->layout = shim_layout_of(operands->type);
    shell->in_place = operands->input == MPI_IN_PLACE;
    shell->input = operands->input;
    shell->output = operands->output;
    shell->operation = reduction;
    shell->copy = copy_elements;
    call->op_properties = shim_op_properties(operands->op, operands->type);
    if (call->op_properties < 0 || shell->layout.size == 0 || shell->input_count == 0) {
        return COLLTOPO_DECLINED;
    }
    if (!shell_can_reduce(&shell->layout)) {
        return shim_decline_alone(communicator, shell->collective);
    }
    dense = shell_is_dense(&shell->layout);
    shell_reduction_begins(shell, call);
    call->reduce = reduce_local;
    call->reduce_context = reduction;
    if (!(dense && shim_has_served(communicator))) {
        status = shim_serves(communicator, shell->collective, call);
        if (status != COLLTOPO_SUCCESS) {
            return shim_answer(status, communicator->comm);
        }
    }
    status = dense ? shim_run(communicator, shell->collective, call) : shell_reduction_with_gaps(&side, shell, call);
    return shim_answer(status, communicator->comm);
}

/* NULL also where the operands are wrong, which others are not told. */
static struct shim_communicator *communicator_for(const struct shim_operands *operands, MPI_Comm comm)
{
    struct shim_communicator *communicator = shim_communicator_of(comm);

    if (communicator == NULL || operands->op == shim_mpi.op_null || shim_is_no_handle(operands->op) ||
        !shim_is_usable(operands->type)) {
        return NULL;
    }
    return communicator;
}

static struct shim_communicator *communicator_for_all(const struct shim_operands *operands, MPI_Comm comm)
{
    return operands->output == MPI_IN_PLACE ? NULL : communicator_for(operands, comm);
}

int shim_allreduce(struct shim_operands operands, long long count, MPI_Comm comm)
{
    struct shim_communicator *communicator = communicator_for_all(&operands, comm);
    struct reduction reduction = {.shell = {.collective = COLLTOPO_ALLREDUCE,
                                            .receives = true,
                                            .input_count = (size_t)count,
                                            .output_count = (size_t)count},
                                  .operands = operands};
    colltopo_call call = {.count = (size_t)count};
    int status;

    if (communicator == NULL || count < 0) {
        return COLLTOPO_DECLINED;
    }
    status = run_reduction(communicator, &reduction, &call);
    return status == COLLTOPO_DECLINED && call.op_properties >= 0 ? shim_mend_allreduce(communicator, &operands, count)
                                                                  : status;
}

int shim_reduce(struct shim_operands operands, long long count, int root, MPI_Comm comm)
{
    struct shim_communicator *communicator = communicator_for(&operands, comm);
    struct reduction reduction = {.shell = {.collective = COLLTOPO_REDUCE, .input_count = (size_t)count},
                                  .operands = operands};
    colltopo_call call = {.count = (size_t)count, .root = root};

    if (communicator == NULL || count < 0 || root < 0 || root >= communicator->ranks) {
        return COLLTOPO_DECLINED;
    }
    if (root != communicator->rank && operands.input == MPI_IN_PLACE) {
        return COLLTOPO_DECLINED;
    }
    if (root == communicator->rank) {
        if (operands.output == MPI_IN_PLACE) {
            return shim_decline_alone(communicator, COLLTOPO_REDUCE);
        }
        reduction.shell.receives = true;
        reduction.shell.output_count = (size_t)count;
    }
    return run_reduction(communicator, &reduction, &call);
}

int shim_reduce_scatter(struct shim_operands operands, struct shim_counts counts, MPI_Comm comm)
{
    struct shim_communicator *communicator = communicator_for_all(&operands, comm);
    struct reduction reduction = {.shell = {.collective = COLLTOPO_REDUCE_SCATTER, .receives = true},
                                  .operands = operands};
    colltopo_call call = {0};

    if (communicator == NULL || (counts.ints == NULL && counts.large == NULL)) {
        return COLLTOPO_DECLINED;
    }
    if (communicator->counts == NULL) {
        communicator->counts = malloc((size_t)communicator->ranks * sizeof(*communicator->counts));
        if (communicator->counts == NULL) {
            return shim_answer(MPI_ERR_NO_MEM, comm);
        }
    }
    for (int rank = 0; rank < communicator->ranks; ++rank) {
        const long long count = counts.ints != NULL ? counts.ints[rank] : counts.large[rank];
        if (count < 0) {
            return COLLTOPO_DECLINED;
        }
        communicator->counts[rank] = (size_t)count;
        reduction.shell.input_count += (size_t)count;
    }
    reduction.shell.output_count = communicator->counts[communicator->rank];
    call.counts = communicator->counts;
    return run_reduction(communicator, &reduction, &call);
}

int shim_reduce_scatter_block(struct shim_operands operands, long long count, MPI_Comm comm)
{
    struct shim_communicator *communicator = communicator_for_all(&operands, comm);
    struct reduction reduction = {
        .shell = {.collective = COLLTOPO_REDUCE_SCATTER, .receives = true, .output_count = (size_t)count},
        .operands = operands};
    colltopo_call call = {.count = (size_t)count};

    if (communicator == NULL || count < 0) {
        return COLLTOPO_DECLINED;
    }
    reduction.shell.input_count = (size_t)count * (size_t)communicator->ranks;
    return run_reduction(communicator, &reduction, &call);
}
