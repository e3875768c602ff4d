/* Data in blocks of sizes of their own, one per rank: what MPI says of them, and what brings them into a row and back.
 *
 * MPI lists items. In its v and w calls item i is rank i's block; in neighbourhood calls an item belongs to an edge of
 * the graph, and the items of all edges between two ranks are one block. */
#ifndef MCA_COLL_TOPO_BLOCKS_H
#define MCA_COLL_TOPO_BLOCKS_H

#include "coll_topo_calls.h"

#include "uneven.h"

BEGIN_C_DECLS

/* The edges of one direction, by the ranks at their other ends. */
typedef struct mca_coll_topo_edges_t {
    size_t edges;
    size_t *first; /* [rank], and the end: of its edges in `items` */
    size_t *items; /* those of a rank in the order in which both ends know them */
} mca_coll_topo_edges_t;

typedef enum {
    MCA_COLL_TOPO_LISTED, /* counts and displacements */
    MCA_COLL_TOPO_SINGLE, /* the rank's own block alone */
    MCA_COLL_TOPO_IN_A_ROW,
    MCA_COLL_TOPO_THE_SAME /* for everybody */
} mca_coll_topo_items_t;

/* What MPI says of a side. */
typedef struct mca_coll_topo_vector_t {
    const void *buf;
    mca_coll_topo_items_t kind;
    size_t count; /* elements of an item that is not listed */
    mca_coll_topo_counts_t counts;
    mca_coll_topo_displs_t displs;           /* in extents; in bytes with `dtypes` */
    mca_coll_topo_byte_displs_t byte_displs; /* with `dtypes` and `edges` */
    ompi_datatype_t *dtype;
    ompi_datatype_t *const *dtypes;     /* [item]; NULL: `dtype` */
    const mca_coll_topo_edges_t *edges; /* NULL: item i is block i */
} mca_coll_topo_vector_t;

/* The same as numbers, for as long as the call lives. */
typedef struct mca_coll_topo_blocks_t {
    const void *buf;
    const mca_coll_topo_edges_t *edges;
    size_t *block_bytes, *block_at; /* [block] for the shell */
    size_t *bytes;                  /* [item] */
    ptrdiff_t *displs;              /* [item] bytes from the buffer to the first element */
    ompi_datatype_t *dtype;
    ompi_datatype_t *const *dtypes; /* [item]; NULL: `dtype` */
} mca_coll_topo_blocks_t;

static inline size_t mca_coll_topo_items_of(const mca_coll_topo_edges_t *edges, size_t ranks)
{
    return NULL == edges ? ranks : edges->edges;
}

/* How many numbers a side of `ranks` blocks takes, and their places in `numbers`; returns what follows them. */
static inline size_t mca_coll_topo_numbers(const mca_coll_topo_edges_t *edges, size_t ranks)
{
    return NULL == edges ? 3 * ranks : 2 * ranks + 2 * edges->edges;
}
size_t *mca_coll_topo_place_numbers(mca_coll_topo_blocks_t *blocks, const mca_coll_topo_edges_t *edges, size_t ranks,
                                    size_t *numbers);

/* Fills in both; `ranks` blocks, or one of the rank's own. */
void mca_coll_topo_measure(const mca_coll_topo_vector_t *vector, size_t ranks, mca_coll_topo_blocks_t *blocks,
                           struct shell_blocks *side);

/* For struct shell_uneven, of sides that were measured. */
int mca_coll_topo_pack_block(void *owner, const struct shell_blocks *side, size_t block, char *packed);
int mca_coll_topo_unpack_block(void *owner, const struct shell_blocks *side, size_t block, char *packed);

/* Runs a blocking call with numbers of the module's; `input` or `output` NULL: this rank does not have the side, or
 * gave MPI_IN_PLACE for it. What is declined once is for ever, by what is known to all: `bytes`, for an allgatherv, and
 * the root. */
int mca_coll_topo_serve_uneven(mca_coll_topo_module_t *topo, int collective, const mca_coll_topo_vector_t *input,
                               const mca_coll_topo_vector_t *output, bool in_place, int root, size_t bytes);

/* The communicator's graph as this rank sees it; NULL: out of memory. */
typedef struct mca_coll_topo_neighbors_t {
    mca_coll_topo_edges_t from, to; /* sources, destinations */
    bool is_connected;              /* known to all ranks */
    bool crosses; /* a grid that has ranks whose neighbours on both sides are one: the same on all ranks */
} mca_coll_topo_neighbors_t;
const mca_coll_topo_neighbors_t *mca_coll_topo_neighbors(mca_coll_topo_module_t *topo);

END_C_DECLS

#endif
