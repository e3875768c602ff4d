/* MPI's v and w calls: blocks of sizes of their own.
 *
 * Sizes that only two ranks know decide nothing, so a collective that was declined on a communicator stays declined,
 * and a rank that has nothing to send takes part like any other. */
#include "ompi_config.h"

#include "coll_topo_calls.h"

#include <limits.h>
#include <stdlib.h>

#include "uneven.h"

/* What MPI says of a side: one datatype, or one for each block. */
typedef struct mca_coll_topo_vector_t {
    const void *buf;
    mca_coll_topo_counts_t counts;
    mca_coll_topo_displs_t displs; /* in extents; in bytes with `dtypes` */
    ompi_datatype_t *dtype;
    ompi_datatype_t *const *dtypes;
    bool single; /* the rank's own block alone: `count` elements at `buf` */
    size_t count;
} mca_coll_topo_vector_t;

static inline ompi_datatype_t *mca_coll_topo_dtype_at(const mca_coll_topo_vector_t *vector, size_t block)
{
    return NULL == vector->dtypes ? vector->dtype : vector->dtypes[block];
}

static inline size_t mca_coll_topo_elements_at(const mca_coll_topo_vector_t *vector, size_t block)
{
    return vector->single ? vector->count : (size_t) mca_coll_topo_count_at(vector->counts, block);
}

/* From the buffer to the block's first element. */
static inline ptrdiff_t mca_coll_topo_displacement(const mca_coll_topo_vector_t *vector, size_t block)
{
    if (vector->single) {
        return 0;
    }
    const ptrdiff_t displ = (ptrdiff_t) mca_coll_topo_displ_at(vector->displs, block);
    return NULL == vector->dtypes ? displ * (vector->dtype->super.ub - vector->dtype->super.lb) : displ;
}

static int mca_coll_topo_convert_block(const struct shell_blocks *side, size_t block, char *packed, bool packing)
{
    const mca_coll_topo_vector_t *vector = (const mca_coll_topo_vector_t *) side->known;

    return mca_coll_topo_convert(mca_coll_topo_dtype_at(vector, block), mca_coll_topo_elements_at(vector, block),
                                 (const char *) vector->buf + mca_coll_topo_displacement(vector, block), packed,
                                 packing);
}

static int mca_coll_topo_pack_block(void *module, const struct shell_blocks *side, size_t block, char *packed)
{
    (void) module;
    return mca_coll_topo_convert_block(side, block, packed, true);
}

static int mca_coll_topo_unpack_block(void *module, const struct shell_blocks *side, size_t block, char *packed)
{
    (void) module;
    return mca_coll_topo_convert_block(side, block, packed, false);
}

/* Bytes and places of `blocks` blocks, into two of the module's arrays. */
static void mca_coll_topo_measure_blocks(const mca_coll_topo_vector_t *vector, size_t blocks, size_t *bytes, size_t *at,
                                         struct shell_blocks *side)
{
    bool dense = true;

    for (size_t i = 0; i < blocks; ++i) {
        const ompi_datatype_t *dtype = mca_coll_topo_dtype_at(vector, i);
        const size_t elements = mca_coll_topo_elements_at(vector, i);
        bytes[i] = elements * dtype->super.size;
        at[i] = (size_t) (mca_coll_topo_displacement(vector, i) + dtype->super.true_lb);
        dense =
            dense && (0 == bytes[i] || 0 != ompi_datatype_is_contiguous_memory_layout(dtype, 1 == elements ? 1 : 2));
    }
    *side = (struct shell_blocks){vector->buf, blocks, bytes, at, dense, vector};
}

/* Four arrays of a number per rank, made once; NULL: there is no memory. */
static size_t *mca_coll_topo_sizes(mca_coll_topo_module_t *topo)
{
    if (OPAL_UNLIKELY(NULL == topo->sizes)) {
        topo->sizes = malloc(4 * (size_t) topo->ranks * sizeof(*topo->sizes));
    }
    return topo->sizes;
}

/* `input` or `output` NULL: this rank does not have the side, or gave MPI_IN_PLACE for it. */
static int mca_coll_topo_run_uneven(mca_coll_topo_module_t *topo, int collective, const mca_coll_topo_vector_t *input,
                                    const mca_coll_topo_vector_t *output, bool in_place, int root)
{
    const size_t ranks = (size_t) topo->ranks;
    size_t *sizes = mca_coll_topo_sizes(topo);
    struct shell_uneven move = {.collective = collective,
                                .in_place = in_place,
                                .own = (size_t) topo->rank,
                                .pack = mca_coll_topo_pack_block,
                                .unpack = mca_coll_topo_unpack_block};
    colltopo_call call = {.root = root};
    colltopo_blocks places;

    if (NULL == sizes) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (NULL != input) {
        mca_coll_topo_measure_blocks(input, input->single ? 1 : ranks, sizes, sizes + ranks, &move.input);
    }
    if (NULL != output) {
        mca_coll_topo_measure_blocks(output, output->single ? 1 : ranks, sizes + 2 * ranks, sizes + 3 * ranks,
                                     &move.output);
    }
    if (OPAL_LIKELY(shell_uneven_begins(&move, &places, &call))) {
        return mca_coll_topo_run(topo, collective, &call);
    }
    if (!colltopo_serves(topo->collectives, collective, &call)) {
        return COLLTOPO_DECLINED;
    }
    const struct shell_side side = mca_coll_topo_side(topo);
    return shell_uneven_packed(&side, &move, &call);
}

/* What is declined once is for ever, by what is known to all: `bytes`, for an allgatherv, and the root. */
static inline int mca_coll_topo_serve_uneven(mca_coll_topo_module_t *topo, int collective,
                                             const mca_coll_topo_vector_t *input, const mca_coll_topo_vector_t *output,
                                             bool in_place, int root, size_t bytes)
{
    int rc = mca_coll_topo_ready(topo);

    if (OPAL_LIKELY(OMPI_SUCCESS == rc)) {
        rc = mca_coll_topo_run_uneven(topo, collective, input, output, in_place, root);
        rc = mca_coll_topo_remember(topo, collective, bytes, 0, root, 0, rc);
    }
    return rc;
}

int mca_coll_topo_allgatherv(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                             mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs, ompi_datatype_t *rdtype,
                             ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    const bool in_place = MPI_IN_PLACE == sbuf;
    const mca_coll_topo_vector_t input = {
        .buf = sbuf, .dtype = sdtype, .single = true, .count = in_place ? 0 : (size_t) scount};
    const mca_coll_topo_vector_t output = {.buf = rbuf, .counts = rcounts, .displs = displs, .dtype = rdtype};
    size_t bytes = 0;
    int rc = COLLTOPO_DECLINED;

    for (int rank = 0; rank < topo->ranks; ++rank) {
        bytes += (size_t) mca_coll_topo_count_at(rcounts, rank) * rdtype->super.size;
    }
    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    /* A rank that sends more or less than the others expect is wrong by the standard, as in an exchange. */
    if (!mca_coll_topo_was_declined(topo, COLLTOPO_ALLGATHERV, bytes, 0, 0, 0)
        && (in_place
            || (size_t) scount * sdtype->super.size
                   == (size_t) mca_coll_topo_count_at(rcounts, topo->rank) * rdtype->super.size)) {
        rc = mca_coll_topo_serve_uneven(topo, COLLTOPO_ALLGATHERV, in_place ? NULL : &input, &output, in_place, 0,
                                        bytes);
    }
    return COLLTOPO_DECLINED == rc
               ? MCA_COLL_TOPO_FALL_BACK(allgatherv, sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype)
               : rc;
}

int mca_coll_topo_gatherv(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                          mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs, ompi_datatype_t *rdtype,
                          int root, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    const bool is_root = root == topo->rank, in_place = is_root && MPI_IN_PLACE == sbuf;
    const mca_coll_topo_vector_t block = {.buf = sbuf, .dtype = sdtype, .single = true, .count = (size_t) scount};
    const mca_coll_topo_vector_t blocks = {.buf = rbuf, .counts = rcounts, .displs = displs, .dtype = rdtype};
    int rc = COLLTOPO_DECLINED;

    if (!mca_coll_topo_was_declined(topo, COLLTOPO_GATHERV, 1, 0, root, 0)) {
        rc = mca_coll_topo_serve_uneven(topo, COLLTOPO_GATHERV, in_place ? NULL : &block, is_root ? &blocks : NULL,
                                        in_place, root, 1);
    }
    return COLLTOPO_DECLINED == rc
               ? MCA_COLL_TOPO_FALL_BACK(gatherv, sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype, root)
               : rc;
}

int mca_coll_topo_scatterv(const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t displs,
                           ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype,
                           int root, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    const bool is_root = root == topo->rank, in_place = is_root && MPI_IN_PLACE == rbuf;
    const mca_coll_topo_vector_t blocks = {.buf = sbuf, .counts = scounts, .displs = displs, .dtype = sdtype};
    const mca_coll_topo_vector_t block = {.buf = rbuf, .dtype = rdtype, .single = true, .count = (size_t) rcount};
    int rc = COLLTOPO_DECLINED;

    if (!mca_coll_topo_was_declined(topo, COLLTOPO_SCATTERV, 1, 0, root, 0)) {
        rc = mca_coll_topo_serve_uneven(topo, COLLTOPO_SCATTERV, is_root ? &blocks : NULL, in_place ? NULL : &block,
                                        in_place, root, 1);
    }
    return COLLTOPO_DECLINED == rc
               ? MCA_COLL_TOPO_FALL_BACK(scatterv, sbuf, scounts, displs, sdtype, rbuf, rcount, rdtype, root)
               : rc;
}

int mca_coll_topo_alltoallv(const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t sdispls,
                            ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_counts_t rcounts,
                            mca_coll_topo_displs_t rdispls, ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                            mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    const bool in_place = MPI_IN_PLACE == sbuf;
    const mca_coll_topo_vector_t input = {.buf = sbuf, .counts = scounts, .displs = sdispls, .dtype = sdtype};
    const mca_coll_topo_vector_t output = {.buf = rbuf, .counts = rcounts, .displs = rdispls, .dtype = rdtype};
    int rc = COLLTOPO_DECLINED;

    if (!mca_coll_topo_was_declined(topo, COLLTOPO_ALLTOALLV, 1, 0, 0, 0)) {
        rc = mca_coll_topo_serve_uneven(topo, COLLTOPO_ALLTOALLV, in_place ? NULL : &input, &output, in_place, 0, 1);
    }
    return COLLTOPO_DECLINED == rc
               ? MCA_COLL_TOPO_FALL_BACK(alltoallv, sbuf, scounts, sdispls, sdtype, rbuf, rcounts, rdispls, rdtype)
               : rc;
}

int mca_coll_topo_alltoallw(const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t sdispls,
                            struct ompi_datatype_t *const *sdtypes, void *rbuf, mca_coll_topo_counts_t rcounts,
                            mca_coll_topo_displs_t rdispls, struct ompi_datatype_t *const *rdtypes,
                            ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    const bool in_place = MPI_IN_PLACE == sbuf;
    const mca_coll_topo_vector_t input = {.buf = sbuf, .counts = scounts, .displs = sdispls, .dtypes = sdtypes};
    const mca_coll_topo_vector_t output = {.buf = rbuf, .counts = rcounts, .displs = rdispls, .dtypes = rdtypes};
    int rc = COLLTOPO_DECLINED;

    if (!mca_coll_topo_was_declined(topo, COLLTOPO_ALLTOALLW, 1, 0, 0, 0)) {
        rc = mca_coll_topo_serve_uneven(topo, COLLTOPO_ALLTOALLW, in_place ? NULL : &input, &output, in_place, 0, 1);
    }
    return COLLTOPO_DECLINED == rc
               ? MCA_COLL_TOPO_FALL_BACK(alltoallw, sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes)
               : rc;
}
