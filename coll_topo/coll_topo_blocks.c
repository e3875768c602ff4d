/* Blocks of sizes of their own: from MPI's lists to numbers, and into a row and back. */
#include "ompi_config.h"

#include "coll_topo_blocks.h"

#include <stdlib.h>

/* A block's items. */
typedef struct mca_coll_topo_range_t {
    const size_t *listed; /* NULL: the one item `begin` */
    size_t begin, end;
} mca_coll_topo_range_t;

static inline mca_coll_topo_range_t mca_coll_topo_items_in(const mca_coll_topo_edges_t *edges, size_t block)
{
    if (OPAL_LIKELY(NULL == edges)) {
        return (mca_coll_topo_range_t){NULL, block, block + 1};
    }
    return (mca_coll_topo_range_t){edges->items, edges->first[block], edges->first[block + 1]};
}

static inline size_t mca_coll_topo_item(const mca_coll_topo_range_t *range, size_t i)
{
    return NULL == range->listed ? i : range->listed[i];
}

static inline ompi_datatype_t *mca_coll_topo_dtype_at(const mca_coll_topo_blocks_t *blocks, size_t item)
{
    return NULL == blocks->dtypes ? blocks->dtype : blocks->dtypes[item];
}

static int mca_coll_topo_convert_block(const struct shell_blocks *side, size_t block, char *packed, bool packing)
{
    const mca_coll_topo_blocks_t *blocks = (const mca_coll_topo_blocks_t *) side->known;
    const mca_coll_topo_range_t range = mca_coll_topo_items_in(blocks->edges, block);
    int rc = OMPI_SUCCESS;

    for (size_t i = range.begin; i < range.end && OMPI_SUCCESS == rc; ++i) {
        const size_t item = mca_coll_topo_item(&range, i), bytes = blocks->bytes[item];
        const ompi_datatype_t *dtype = mca_coll_topo_dtype_at(blocks, item);
        if (0 != bytes) {
            rc = mca_coll_topo_convert(dtype, bytes / dtype->super.size, shell_at(blocks->buf, blocks->displs[item]),
                                       packed, packing);
            packed += bytes;
        }
    }
    return rc;
}

int mca_coll_topo_pack_block(void *owner, const struct shell_blocks *side, size_t block, char *packed)
{
    (void) owner;
    return mca_coll_topo_convert_block(side, block, packed, true);
}

int mca_coll_topo_unpack_block(void *owner, const struct shell_blocks *side, size_t block, char *packed)
{
    (void) owner;
    return mca_coll_topo_convert_block(side, block, packed, false);
}

size_t *mca_coll_topo_place_numbers(mca_coll_topo_blocks_t *blocks, const mca_coll_topo_edges_t *edges, size_t ranks,
                                    size_t *numbers)
{
    const size_t items = mca_coll_topo_items_of(edges, ranks);

    blocks->block_bytes = numbers;
    blocks->block_at = numbers + ranks;
    blocks->displs = (ptrdiff_t *) (numbers + 2 * ranks);
    blocks->bytes = NULL == edges ? blocks->block_bytes : numbers + 2 * ranks + items;
    return numbers + mca_coll_topo_numbers(edges, ranks);
}

static inline size_t mca_coll_topo_elements_at(const mca_coll_topo_vector_t *vector, size_t item)
{
    return MCA_COLL_TOPO_LISTED == vector->kind ? (size_t) mca_coll_topo_count_at(vector->counts, item) : vector->count;
}

/* From the buffer to the item's first element. */
static inline ptrdiff_t mca_coll_topo_displacement(const mca_coll_topo_vector_t *vector, size_t item)
{
    if (MCA_COLL_TOPO_LISTED != vector->kind) {
        const ptrdiff_t extent = vector->dtype->super.ub - vector->dtype->super.lb;
        return MCA_COLL_TOPO_IN_A_ROW == vector->kind ? (ptrdiff_t) (item * vector->count) * extent : 0;
    }
    if (NULL == vector->dtypes) {
        return (ptrdiff_t) mca_coll_topo_displ_at(vector->displs, item)
               * (vector->dtype->super.ub - vector->dtype->super.lb);
    }
    return NULL == vector->edges ? (ptrdiff_t) mca_coll_topo_displ_at(vector->displs, item)
                                 : (ptrdiff_t) mca_coll_topo_byte_displ_at(vector->byte_displs, item);
}

void mca_coll_topo_measure(const mca_coll_topo_vector_t *vector, size_t ranks, mca_coll_topo_blocks_t *blocks,
                           struct shell_blocks *side)
{
    const size_t count = MCA_COLL_TOPO_SINGLE == vector->kind ? 1 : ranks;
    bool dense = true;

    blocks->buf = vector->buf;
    blocks->edges = vector->edges;
    blocks->dtype = vector->dtype;
    blocks->dtypes = vector->dtypes;
    for (size_t block = 0; block < count; ++block) {
        const mca_coll_topo_range_t range = mca_coll_topo_items_in(vector->edges, block);
        size_t all = 0, filled = 0;
        ptrdiff_t at = 0;
        for (size_t i = range.begin; i < range.end; ++i) {
            const size_t item = mca_coll_topo_item(&range, i), elements = mca_coll_topo_elements_at(vector, item);
            const ompi_datatype_t *dtype = mca_coll_topo_dtype_at(blocks, item);
            const size_t bytes = elements * dtype->super.size;
            blocks->displs[item] = mca_coll_topo_displacement(vector, item);
            blocks->bytes[item] = bytes;
            if (0 != bytes) {
                all += bytes;
                at = blocks->displs[item] + dtype->super.true_lb;
                dense = dense && 1 == ++filled
                        && 0 != ompi_datatype_is_contiguous_memory_layout(dtype, 1 == elements ? 1 : 2);
            }
        }
        blocks->block_bytes[block] = all;
        blocks->block_at[block] = (size_t) at;
    }
    *side = (struct shell_blocks){vector->buf, count, blocks->block_bytes, blocks->block_at, dense, blocks};
}

/* For both sides, made once for the v and w calls and once more for the first neighbourhood call. */
static size_t *mca_coll_topo_sizes(mca_coll_topo_module_t *topo, const mca_coll_topo_edges_t *from,
                                   const mca_coll_topo_edges_t *to)
{
    const size_t ranks = (size_t) topo->ranks;
    const size_t numbers = mca_coll_topo_numbers(from, ranks) + mca_coll_topo_numbers(to, ranks);

    if (OPAL_UNLIKELY(topo->numbers < numbers)) {
        size_t *const sizes = realloc(topo->sizes, numbers * sizeof(*sizes));
        if (NULL == sizes) {
            return NULL;
        }
        topo->sizes = sizes;
        topo->numbers = numbers;
    }
    return topo->sizes;
}

static int mca_coll_topo_run_uneven(mca_coll_topo_module_t *topo, int collective, const mca_coll_topo_vector_t *input,
                                    const mca_coll_topo_vector_t *output, bool in_place, int root)
{
    const size_t ranks = (size_t) topo->ranks;
    const mca_coll_topo_edges_t *const to = NULL == input ? NULL : input->edges;
    const mca_coll_topo_edges_t *const from = NULL == output ? NULL : output->edges;
    size_t *sizes = mca_coll_topo_sizes(topo, from, to);
    struct shell_uneven move = {.collective = collective,
                                .in_place = in_place,
                                .own = (size_t) topo->rank,
                                .pack = mca_coll_topo_pack_block,
                                .unpack = mca_coll_topo_unpack_block};
    mca_coll_topo_blocks_t sent, received;
    colltopo_call call = {.root = root};
    colltopo_blocks places;

    if (NULL == sizes) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    sizes = mca_coll_topo_place_numbers(&sent, to, ranks, sizes);
    (void) mca_coll_topo_place_numbers(&received, from, ranks, sizes);
    if (NULL != input) {
        mca_coll_topo_measure(input, ranks, &sent, &move.input);
    }
    if (NULL != output) {
        mca_coll_topo_measure(output, ranks, &received, &move.output);
    }
    if (OPAL_LIKELY(shell_uneven_begins(&move, &places, &call))) {
        return mca_coll_topo_run(topo, collective, &call);
    }
    const int serves = colltopo_serves(topo->collectives, collective, &call);
    if (1 != serves) {
        return 0 == serves ? COLLTOPO_DECLINED : serves;
    }
    const struct shell_side side = mca_coll_topo_side(topo);
    return shell_uneven_packed(&side, &move, &call);
}

int mca_coll_topo_serve_uneven(mca_coll_topo_module_t *topo, int collective, const mca_coll_topo_vector_t *input,
                               const mca_coll_topo_vector_t *output, bool in_place, int root, size_t bytes)
{
    int rc = mca_coll_topo_ready(topo);

    if (OPAL_LIKELY(OMPI_SUCCESS == rc)) {
        rc = mca_coll_topo_run_uneven(topo, collective, input, output, in_place, root);
        const bool all_in_place = in_place && COLLTOPO_GATHERV != collective && COLLTOPO_SCATTERV != collective;
        rc = mca_coll_topo_remember(topo, collective, bytes, 0, root, 0, all_in_place ? MPI_IN_PLACE : NULL, rc);
    }
    return rc;
}
