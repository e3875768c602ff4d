/* Buffers in an accelerator's memory, which no copy of the host may touch: colltopo gathers, scatters and reduces by
 * the processor.
 *
 * A process without an accelerator never comes here. In others the functions below stand before those of
 * coll_topo_calls.c. Whether a buffer is device memory is a rank's own affair, so the ranks agree once per communicator
 * and collective: if every rank has a device buffer, the former functions serve it for ever, which know the device;
 * otherwise it is served, and what a rank has on its device goes through memory of the host by Open MPI's copies. Its
 * peers need not know. */
#include "ompi_config.h"

#include "coll_topo_calls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "opal/runtime/opal_progress.h"
#include "opal/util/output.h"

static mca_coll_topo_device_t mca_coll_topo_the_device;

const mca_coll_topo_device_t *mca_coll_topo_device(void)
{
    return NULL == mca_coll_topo_the_device.holds ? NULL : &mca_coll_topo_the_device;
}

#if MCA_COLL_TOPO_ACCELERATOR
static bool mca_coll_topo_holds(const void *address)
{
    uint64_t flags = 0;
    int device = MCA_ACCELERATOR_NO_DEVICE_ID;

    /* Unified memory is the host's as well. */
    return 0 < opal_accelerator.check_addr(address, &device, &flags)
           && 0 == (flags & MCA_ACCELERATOR_FLAGS_UNIFIED_MEMORY);
}

static void mca_coll_topo_copy_memory(void *to, const void *from, size_t bytes)
{
    (void) opal_accelerator.mem_copy(MCA_ACCELERATOR_NO_DEVICE_ID, MCA_ACCELERATOR_NO_DEVICE_ID, to, from, bytes,
                                     MCA_ACCELERATOR_TRANSFER_UNSPEC);
}

static bool mca_coll_topo_has_accelerator(void)
{
    return 0 != strcmp("null", opal_accelerator_base_selected_component.base_version.mca_component_name);
}
#elif MCA_COLL_TOPO_CUDA
static bool mca_coll_topo_holds(const void *address)
{
    return opal_cuda_check_bufs((char *) address, NULL);
}

static void mca_coll_topo_copy_memory(void *to, const void *from, size_t bytes)
{
    (void) opal_cuda_memcpy_sync(to, (void *) from, bytes);
}

static bool mca_coll_topo_has_accelerator(void)
{
    return opal_cuda_support;
}
#endif

/* A test brings a device of its own: a program that has this variable. */
#define MCA_COLL_TOPO_TEST_DEVICE "coll_topo_test_device"

void mca_coll_topo_find_device(void)
{
    const mca_coll_topo_device_t *of_test = dlsym(RTLD_DEFAULT, MCA_COLL_TOPO_TEST_DEVICE);

    if (NULL != of_test) {
        mca_coll_topo_the_device = *of_test;
        return;
    }
#if MCA_COLL_TOPO_ACCELERATOR || MCA_COLL_TOPO_CUDA
    if (mca_coll_topo_has_accelerator()) {
        mca_coll_topo_the_device = (mca_coll_topo_device_t){mca_coll_topo_holds, mca_coll_topo_copy_memory};
    }
#endif
}

/* From the lowest byte of `count` elements to the highest, whichever way they go. */
static void mca_coll_topo_measure_buffer(mca_coll_topo_buffer_t *buffer)
{
    const opal_datatype_t *layout = &buffer->dtype->super;
    const ptrdiff_t last = (layout->ub - layout->lb) * (ptrdiff_t) (buffer->count - 1);

    buffer->first = shell_at(buffer->user, layout->true_lb + (last < 0 ? last : 0));
    buffer->bytes = (size_t) (layout->true_ub - layout->true_lb + (last < 0 ? -last : last));
}

bool mca_coll_topo_is_on_device(mca_coll_topo_buffer_t *buffer)
{
    buffer->staged = buffer->user;
    if (0 == buffer->count || MPI_IN_PLACE == buffer->user || 0 == buffer->dtype->super.size) {
        return false;
    }
    mca_coll_topo_measure_buffer(buffer);
    return mca_coll_topo_the_device.holds(buffer->first);
}

/* Copied in even if it is only written: what lies between elements must come back as it was. */
int mca_coll_topo_stage(mca_coll_topo_buffer_t *buffer)
{
    char *host;

    if (!mca_coll_topo_is_on_device(buffer)) {
        return OMPI_SUCCESS;
    }
    host = shell_lend(&buffer->memory, buffer->bytes);
    if (NULL == host) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (buffer->is_read || !ompi_datatype_is_contiguous_memory_layout(buffer->dtype, 1 == buffer->count ? 1 : 2)) {
        mca_coll_topo_the_device.copy(host, buffer->first, buffer->bytes);
    }
    buffer->staged = host + ((const char *) buffer->user - buffer->first);
    return OMPI_SUCCESS;
}

void mca_coll_topo_unstage(mca_coll_topo_buffer_t *buffer, int rc)
{
    if (OMPI_SUCCESS == rc && buffer->is_written && NULL != buffer->memory.bytes) {
        mca_coll_topo_the_device.copy(buffer->first, buffer->memory.bytes, buffer->bytes);
    }
}

static void mca_coll_topo_finish(const mca_coll_topo_module_t *topo, mca_coll_topo_buffer_t *buffer, int rc)
{
    mca_coll_topo_unstage(buffer, rc);
    shell_take_back(&buffer->memory, OMPI_SUCCESS != rc && topo->abandoned);
    shell_free(&buffer->memory);
}

static void mca_coll_topo_know_device(mca_coll_topo_module_t *topo, int collective, bool everywhere)
{
    static const char *const names[COLLTOPO_COLLECTIVES] = {[COLLTOPO_ALLTOALL] = "alltoall",
                                                            [COLLTOPO_ALLGATHER] = "allgather",
                                                            [COLLTOPO_REDUCE_SCATTER] = "reduce_scatter",
                                                            [COLLTOPO_ALLREDUCE] = "allreduce",
                                                            [COLLTOPO_BCAST] = "bcast",
                                                            [COLLTOPO_REDUCE] = "reduce",
                                                            [COLLTOPO_GATHER] = "gather",
                                                            [COLLTOPO_SCATTER] = "scatter"};

    topo->staging[collective] = everywhere ? MCA_COLL_TOPO_LEAVES : MCA_COLL_TOPO_STAGES;
    if (everywhere && 0 == topo->rank && 0 < topo->verbose) {
        opal_output(0, "coll/topo: %s on %d ranks: all of them have their data on a device; using the next component",
                    names[collective], topo->ranks);
    }
}

int mca_coll_topo_agree_on_device(mca_coll_topo_module_t *topo, int collective, bool on_device)
{
    long long everywhere = on_device ? 1 : 0;
    const int rc = colltopo_least(topo->collectives, &everywhere);

    if (COLLTOPO_SUCCESS != rc) {
        return COLLTOPO_DECLINED == rc ? rc : mca_coll_topo_error(rc);
    }
    mca_coll_topo_know_device(topo, collective, 0 != everywhere);
    return OMPI_SUCCESS;
}

/* Readies the buffers of a call. COLLTOPO_DECLINED: the former function has to take them as they are. */
static int mca_coll_topo_ready_buffers(mca_coll_topo_module_t *topo, int collective, mca_coll_topo_buffer_t *input,
                                       mca_coll_topo_buffer_t *output)
{
    int rc = mca_coll_topo_ready(topo);

    /* A non-blocking call before this one may be about to find out. */
    while (OMPI_SUCCESS == rc && colltopo_turns_to_come(topo->collectives)) {
        opal_progress();
    }
    if (OMPI_SUCCESS == rc && MCA_COLL_TOPO_UNKNOWN == topo->staging[collective]) {
        const bool input_on_device = mca_coll_topo_is_on_device(input);
        const bool output_on_device = mca_coll_topo_is_on_device(output);
        rc = mca_coll_topo_agree_on_device(topo, collective, input_on_device || output_on_device);
    }
    if (OMPI_SUCCESS == rc && MCA_COLL_TOPO_LEAVES == topo->staging[collective]) {
        mca_coll_topo_count_passed_on(topo);
        return COLLTOPO_DECLINED;
    }
    rc = OMPI_SUCCESS == rc ? mca_coll_topo_stage(input) : rc;
    return OMPI_SUCCESS == rc ? mca_coll_topo_stage(output) : rc;
}

/* Runs the function of coll_topo_calls.c on host memory. Nothing to move needs no agreement: ranks may say so in
 * different ways. */
#define MCA_COLL_TOPO_STAGED(name, COLLECTIVE, is_empty, call, unstaged)                           \
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;                              \
    int rc = (is_empty) ? OMPI_SUCCESS : mca_coll_topo_ready_buffers(topo, COLLECTIVE, &in, &out); \
    if (COLLTOPO_DECLINED == rc) {                                                                 \
        return topo->previous.name unstaged;                                                       \
    }                                                                                              \
    if (OMPI_SUCCESS == rc && !(is_empty)) {                                                       \
        rc = mca_coll_topo_##name call;                                                            \
    }                                                                                              \
    mca_coll_topo_finish(topo, &in, rc);                                                           \
    mca_coll_topo_finish(topo, &out, rc);                                                          \
    return rc

static int mca_coll_topo_staged_alltoall(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype,
                                         void *rbuf, mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype,
                                         ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    const bool in_place = MPI_IN_PLACE == sbuf;
    const size_t ranks = (size_t) ompi_comm_size(comm);
    mca_coll_topo_buffer_t in = {sbuf, in_place ? 0 : ranks * (size_t) scount, sdtype, true, false, NULL, {0}, 0, NULL};
    mca_coll_topo_buffer_t out = {rbuf, ranks * (size_t) rcount, rdtype, in_place, true, NULL, {0}, 0, NULL};

    MCA_COLL_TOPO_STAGED(alltoall, COLLTOPO_ALLTOALL, 0 == (size_t) rcount * rdtype->super.size,
                         (in.staged, scount, sdtype, (void *) out.staged, rcount, rdtype, comm, module),
                         (sbuf, in_place ? rcount : scount, in_place ? rdtype : sdtype, rbuf, rcount, rdtype, comm,
                          topo->previous.alltoall_module));
}

static int mca_coll_topo_staged_allgather(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype,
                                          void *rbuf, mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype,
                                          ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    const bool in_place = MPI_IN_PLACE == sbuf;
    const size_t ranks = (size_t) ompi_comm_size(comm);
    mca_coll_topo_buffer_t in = {sbuf, in_place ? 0 : (size_t) scount, sdtype, true, false, NULL, {0}, 0, NULL};
    mca_coll_topo_buffer_t out = {rbuf, ranks * (size_t) rcount, rdtype, in_place, true, NULL, {0}, 0, NULL};

    MCA_COLL_TOPO_STAGED(allgather, COLLTOPO_ALLGATHER, 0 == (size_t) rcount * rdtype->super.size,
                         (in.staged, scount, sdtype, (void *) out.staged, rcount, rdtype, comm, module),
                         (sbuf, in_place ? rcount : scount, in_place ? rdtype : sdtype, rbuf, rcount, rdtype, comm,
                          topo->previous.allgather_module));
}

static int mca_coll_topo_staged_bcast(void *buf, mca_coll_topo_count_t count, ompi_datatype_t *dtype, int root,
                                      ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    const bool is_root = root == ompi_comm_rank(comm);
    mca_coll_topo_buffer_t in = {NULL, 0, dtype, false, false, NULL, {0}, 0, NULL};
    mca_coll_topo_buffer_t out = {buf, (size_t) count, dtype, is_root, !is_root, NULL, {0}, 0, NULL};

    MCA_COLL_TOPO_STAGED(bcast, COLLTOPO_BCAST, 0 == (size_t) count * dtype->super.size,
                         ((void *) out.staged, count, dtype, root, comm, module),
                         (buf, count, dtype, root, comm, topo->previous.bcast_module));
}

static int mca_coll_topo_staged_allreduce(const void *sbuf, void *rbuf, mca_coll_topo_count_t count,
                                          ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                                          mca_coll_base_module_t *module)
{
    const bool in_place = MPI_IN_PLACE == sbuf;
    mca_coll_topo_buffer_t in = {sbuf, (size_t) count, dtype, true, false, NULL, {0}, 0, NULL};
    mca_coll_topo_buffer_t out = {rbuf, (size_t) count, dtype, in_place, true, NULL, {0}, 0, NULL};

    MCA_COLL_TOPO_STAGED(allreduce, COLLTOPO_ALLREDUCE, 0 == (size_t) count * dtype->super.size,
                         (in.staged, (void *) out.staged, count, dtype, op, comm, module),
                         (sbuf, rbuf, count, dtype, op, comm, topo->previous.allreduce_module));
}

static int mca_coll_topo_staged_reduce(const void *sbuf, void *rbuf, mca_coll_topo_count_t count,
                                       ompi_datatype_t *dtype, ompi_op_t *op, int root, ompi_communicator_t *comm,
                                       mca_coll_base_module_t *module)
{
    const bool in_place = MPI_IN_PLACE == sbuf;
    const size_t received = root == ompi_comm_rank(comm) ? (size_t) count : 0;
    mca_coll_topo_buffer_t in = {sbuf, (size_t) count, dtype, true, false, NULL, {0}, 0, NULL};
    mca_coll_topo_buffer_t out = {rbuf, received, dtype, in_place, true, NULL, {0}, 0, NULL};

    MCA_COLL_TOPO_STAGED(reduce, COLLTOPO_REDUCE, 0 == (size_t) count * dtype->super.size,
                         (in.staged, (void *) out.staged, count, dtype, op, root, comm, module),
                         (sbuf, rbuf, count, dtype, op, root, comm, topo->previous.reduce_module));
}

static int mca_coll_topo_staged_reduce_scatter(const void *sbuf, void *rbuf, mca_coll_topo_counts_t rcounts,
                                               ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                                               mca_coll_base_module_t *module)
{
    const bool in_place = MPI_IN_PLACE == sbuf;
    const int rank = ompi_comm_rank(comm), ranks = ompi_comm_size(comm);
    size_t total = 0;

    for (int i = 0; i < ranks; ++i) {
        total += (size_t) mca_coll_topo_count_at(rcounts, i);
    }
    /* In place the output holds the whole input, of which only this rank's part is written. */
    const size_t received = in_place ? total : (size_t) mca_coll_topo_count_at(rcounts, rank);
    mca_coll_topo_buffer_t in = {sbuf, total, dtype, true, false, NULL, {0}, 0, NULL};
    mca_coll_topo_buffer_t out = {rbuf, received, dtype, in_place, true, NULL, {0}, 0, NULL};

    MCA_COLL_TOPO_STAGED(reduce_scatter, COLLTOPO_REDUCE_SCATTER, 0 == total * dtype->super.size,
                         (in.staged, (void *) out.staged, rcounts, dtype, op, comm, module),
                         (sbuf, rbuf, rcounts, dtype, op, comm, topo->previous.reduce_scatter_module));
}

static int mca_coll_topo_staged_reduce_scatter_block(const void *sbuf, void *rbuf, mca_coll_topo_count_t rcount,
                                                     ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                                                     mca_coll_base_module_t *module)
{
    const bool in_place = MPI_IN_PLACE == sbuf;
    const size_t total = (size_t) rcount * (size_t) ompi_comm_size(comm);
    mca_coll_topo_buffer_t in = {sbuf, total, dtype, true, false, NULL, {0}, 0, NULL};
    mca_coll_topo_buffer_t out = {rbuf, in_place ? total : (size_t) rcount, dtype, in_place, true, NULL, {0}, 0, NULL};

    MCA_COLL_TOPO_STAGED(reduce_scatter_block, COLLTOPO_REDUCE_SCATTER, 0 == total * dtype->super.size,
                         (in.staged, (void *) out.staged, rcount, dtype, op, comm, module),
                         (sbuf, rbuf, rcount, dtype, op, comm, topo->previous.reduce_scatter_block_module));
}

static int mca_coll_topo_staged_gather(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype,
                                       void *rbuf, mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, int root,
                                       ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    const bool is_root = root == ompi_comm_rank(comm), in_place = is_root && MPI_IN_PLACE == sbuf;
    const size_t received = is_root ? (size_t) ompi_comm_size(comm) * (size_t) rcount : 0;
    mca_coll_topo_buffer_t in = {sbuf, in_place ? 0 : (size_t) scount, sdtype, true, false, NULL, {0}, 0, NULL};
    mca_coll_topo_buffer_t out = {rbuf, received, rdtype, in_place, true, NULL, {0}, 0, NULL};

    MCA_COLL_TOPO_STAGED(gather, COLLTOPO_GATHER,
                         0 == (in_place ? (size_t) rcount * rdtype->super.size : (size_t) scount * sdtype->super.size),
                         (in.staged, scount, sdtype, (void *) out.staged, rcount, rdtype, root, comm, module),
                         (sbuf, scount, sdtype, rbuf, rcount, rdtype, root, comm, topo->previous.gather_module));
}

static int mca_coll_topo_staged_scatter(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype,
                                        void *rbuf, mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, int root,
                                        ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    const bool is_root = root == ompi_comm_rank(comm), in_place = is_root && MPI_IN_PLACE == rbuf;
    const size_t sent = is_root ? (size_t) ompi_comm_size(comm) * (size_t) scount : 0;
    mca_coll_topo_buffer_t in = {sbuf, sent, sdtype, true, false, NULL, {0}, 0, NULL};
    mca_coll_topo_buffer_t out = {rbuf, in_place ? 0 : (size_t) rcount, rdtype, false, true, NULL, {0}, 0, NULL};

    MCA_COLL_TOPO_STAGED(scatter, COLLTOPO_SCATTER,
                         0 == (in_place ? (size_t) scount * sdtype->super.size : (size_t) rcount * rdtype->super.size),
                         (in.staged, scount, sdtype, (void *) out.staged, rcount, rdtype, root, comm, module),
                         (sbuf, scount, sdtype, rbuf, rcount, rdtype, root, comm, topo->previous.scatter_module));
}

void mca_coll_topo_stage_devices(mca_coll_topo_module_t *module)
{
#define MCA_COLL_TOPO_OFFER(name) module->super.coll_##name = mca_coll_topo_staged_##name;
    MCA_COLL_TOPO_EACH_STAGED(MCA_COLL_TOPO_OFFER)
#undef MCA_COLL_TOPO_OFFER
    /* Blocks of sizes of their own stay with the former functions: nothing agrees on where they lie. */
    module->super.coll_allgatherv = NULL;
    module->super.coll_gatherv = NULL;
    module->super.coll_scatterv = NULL;
    module->super.coll_alltoallv = NULL;
    module->super.coll_alltoallw = NULL;
#define MCA_COLL_TOPO_LEAVE(name) module->super.coll_##name = NULL;
    MCA_COLL_TOPO_EACH_NEIGHBOR(MCA_COLL_TOPO_LEAVE)
#undef MCA_COLL_TOPO_LEAVE
}
