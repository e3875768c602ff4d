/* MPI's neighbourhood calls that block: an exchange of blocks between neighbours of the communicator's graph. */
#include "ompi_config.h"

#include "coll_topo_blocks.h"

#include <stdlib.h>

#include "ompi/mca/topo/topo.h"

/* The other ends of a direction's edges, by number; MPI_PROC_NULL where a grid ends. */
typedef struct mca_coll_topo_ends_t {
    size_t edges;
    int *ranks;
} mca_coll_topo_ends_t;

/* Sources and destinations of a grid's rank are the same, two for each dimension: the one before it and the one
 * behind. */
static int mca_coll_topo_ends_in_grid(ompi_communicator_t *comm, mca_coll_topo_ends_t *from, mca_coll_topo_ends_t *to)
{
    int rc = OMPI_SUCCESS;

    from->edges = to->edges = 2 * (size_t) comm->c_topo->mtc.cart->ndims;
    from->ranks = to->ranks = malloc((from->edges + 1) * sizeof(*from->ranks));
    if (NULL == from->ranks) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < from->edges && OMPI_SUCCESS == rc; i += 2) {
        rc = comm->c_topo->topo.cart.cart_shift(comm, (int) (i / 2), 1, &from->ranks[i], &from->ranks[i + 1]);
    }
    return rc;
}

static int mca_coll_topo_ends_in_graph(ompi_communicator_t *comm, mca_coll_topo_ends_t *from, mca_coll_topo_ends_t *to)
{
    const int rank = ompi_comm_rank(comm);
    int neighbors = 0;
    int rc = comm->c_topo->topo.graph.graph_neighbors_count(comm, rank, &neighbors);

    from->edges = to->edges = (size_t) neighbors;
    from->ranks = to->ranks = malloc((from->edges + 1) * sizeof(*from->ranks));
    if (NULL == from->ranks) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    return OMPI_SUCCESS == rc ? comm->c_topo->topo.graph.graph_neighbors(comm, rank, neighbors, from->ranks) : rc;
}

/* Edges by the ranks at their ends, and those of one rank in the order in which both ends see them: as they are listed,
 * but for what goes out into a grid. There a block that leaves backwards comes in from behind, which matters where both
 * neighbours are one rank. */
static size_t *mca_coll_topo_sort(const mca_coll_topo_ends_t *ends, size_t ranks, size_t crossed,
                                  mca_coll_topo_edges_t *edges, size_t *numbers)
{
    size_t *const first = numbers, *const items = numbers + ranks + 1;

    *edges = (mca_coll_topo_edges_t){ends->edges, first, items};
    memset(first, 0, (ranks + 1) * sizeof(*first));
    for (size_t i = 0; i < ends->edges; ++i) {
        if (0 <= ends->ranks[i]) {
            ++first[ends->ranks[i] + 1];
        }
    }
    for (size_t rank = 0; rank < ranks; ++rank) {
        first[rank + 1] += first[rank];
    }
    for (size_t i = 0; i < ends->edges; ++i) {
        const size_t item = i ^ crossed;
        if (0 <= ends->ranks[item]) {
            items[first[ends->ranks[item]]++] = item;
        }
    }
    for (size_t rank = ranks; rank > 0; --rank) {
        first[rank] = first[rank - 1]; /* they had moved to their ends */
    }
    first[0] = 0;
    return items + ends->edges;
}

/* Whether every rank knows that there is a way between any two along edges, whichever their directions. A graph is
 * known whole by all its ranks, a distributed one to each by its own edges. `root` has room for all ranks. */
static bool mca_coll_topo_is_connected(const ompi_communicator_t *comm, int ranks, int *root)
{
    const mca_topo_base_comm_graph_t *graph = comm->c_topo->mtc.graph;
    int parts = ranks;

    if (!OMPI_COMM_IS_GRAPH(comm)) {
        return OMPI_COMM_IS_CART(comm);
    }
    for (int rank = 0; rank < ranks; ++rank) {
        root[rank] = rank;
    }
    for (int rank = 0, edge = 0; rank < graph->nnodes; ++rank) {
        for (; edge < graph->index[rank]; ++edge) {
            int one = rank, other = graph->edges[edge];
            for (; one != root[one]; one = root[one]) {
                root[one] = root[root[one]];
            }
            for (; other != root[other]; other = root[other]) {
                root[other] = root[root[other]];
            }
            parts -= one != other ? 1 : 0;
            root[other] = one;
        }
    }
    return 1 == parts;
}

static bool mca_coll_topo_crosses(const ompi_communicator_t *comm)
{
    bool crosses = false;

    if (OMPI_COMM_IS_CART(comm)) {
        const mca_topo_base_comm_cart_t *grid = comm->c_topo->mtc.cart;
        for (int i = 0; i < grid->ndims; ++i) {
            crosses = crosses || (0 != grid->periods[i] && grid->dims[i] <= 2);
        }
    }
    return crosses;
}

const mca_coll_topo_neighbors_t *mca_coll_topo_neighbors(mca_coll_topo_module_t *topo)
{
    ompi_communicator_t *comm = topo->comm;
    const size_t ranks = (size_t) topo->ranks;
    mca_coll_topo_ends_t from = {0, NULL}, to = {0, NULL};
    mca_coll_topo_neighbors_t *made = NULL;
    int *room;
    int rc = OMPI_SUCCESS;

    if (OPAL_LIKELY(NULL != topo->neighbors)) {
        return topo->neighbors;
    }
    room = malloc(ranks * sizeof(*room));
    if (NULL == room) {
        return NULL;
    }
    if (OMPI_COMM_IS_DIST_GRAPH(comm)) {
        const mca_topo_base_comm_dist_graph_t *graph = comm->c_topo->mtc.dist_graph;
        from = (mca_coll_topo_ends_t){(size_t) graph->indegree, graph->in};
        to = (mca_coll_topo_ends_t){(size_t) graph->outdegree, graph->out};
    } else {
        rc = OMPI_COMM_IS_CART(comm) ? mca_coll_topo_ends_in_grid(comm, &from, &to)
                                     : mca_coll_topo_ends_in_graph(comm, &from, &to);
    }
    if (OMPI_SUCCESS == rc) {
        made = malloc(sizeof(*made) + (2 * (ranks + 1) + from.edges + to.edges) * sizeof(size_t));
    }
    if (NULL != made) {
        size_t *numbers = (size_t *) (made + 1);
        numbers = mca_coll_topo_sort(&from, ranks, 0, &made->from, numbers);
        (void) mca_coll_topo_sort(&to, ranks, OMPI_COMM_IS_CART(comm) ? 1 : 0, &made->to, numbers);
        made->crosses = mca_coll_topo_crosses(comm);
        made->is_connected = mca_coll_topo_is_connected(comm, topo->ranks, room);
        topo->neighbors = made;
    }
    free(room);
    if (!OMPI_COMM_IS_DIST_GRAPH(comm)) {
        free(from.ranks);
    }
    return made;
}

/* As colltopo wants to know them, which is where messages of several ranks are put together. */
static int mca_coll_topo_name_neighbors(mca_coll_topo_module_t *topo, const mca_coll_topo_edges_t *to)
{
    int *const ranks = malloc(((size_t) topo->ranks) * sizeof(*ranks));
    size_t number = 0;
    int rc;

    if (NULL == ranks) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int rank = 0; rank < topo->ranks; ++rank) {
        if (to->first[rank] < to->first[rank + 1]) {
            ranks[number++] = rank;
        }
    }
    rc = colltopo_neighbors(topo->collectives, ranks, number);
    free(ranks);
    return COLLTOPO_SUCCESS == rc ? OMPI_SUCCESS : mca_coll_topo_error(rc);
}

/* Whether a rank has neighbours, and what it exchanges with them, is its own business: all take part, and what was
 * declined once is for ever. */
static int mca_coll_topo_serve_neighbors(mca_coll_topo_module_t *topo, mca_coll_topo_vector_t *input,
                                         mca_coll_topo_vector_t *output)
{
    const mca_coll_topo_neighbors_t *neighbors = mca_coll_topo_neighbors(topo);
    int rc = NULL == neighbors ? OMPI_ERR_OUT_OF_RESOURCE : mca_coll_topo_ready(topo);

    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        return rc;
    }
    if (OPAL_UNLIKELY(!topo->named_neighbors)) {
        rc = mca_coll_topo_name_neighbors(topo, &neighbors->to);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        topo->named_neighbors = true;
    }
    input->edges = &neighbors->to;
    output->edges = &neighbors->from;
    return mca_coll_topo_serve_uneven(topo, COLLTOPO_NEIGHBORHOOD, input, output, false, 0, 1);
}

/* A call of one count returns from MPI at once on ranks whose count is 0, and never gets here. All ranks of a graph in
 * one piece have the same bytes on their edges; parts of another may differ, and are not waited for. What is not
 * anything, whichever way a rank has written it, is not handed on to a function that would send it. A rank without
 * memory does not know. */
static int mca_coll_topo_look_at_neighbors(mca_coll_topo_module_t *topo)
{
    const mca_coll_topo_neighbors_t *neighbors = mca_coll_topo_neighbors(topo);

    return NULL == neighbors ? OMPI_ERR_OUT_OF_RESOURCE : neighbors->is_connected ? OMPI_SUCCESS : COLLTOPO_DECLINED;
}

#define MCA_COLL_TOPO_EVENLY_AMONG_NEIGHBORS(name)                                                                    \
    if (0 == mca_coll_topo_bytes(sdtype, (size_t) scount) && 0 == mca_coll_topo_bytes(rdtype, (size_t) rcount)) {     \
        return OMPI_SUCCESS;                                                                                          \
    }                                                                                                                 \
    const int looked = mca_coll_topo_look_at_neighbors((mca_coll_topo_module_t *) module);                            \
    if (COLLTOPO_DECLINED == looked) {                                                                                \
        mca_coll_topo_module_t *apart = (mca_coll_topo_module_t *) module;                                            \
        return apart->previous.name(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, apart->previous.name##_module); \
    }                                                                                                                 \
    if (OPAL_UNLIKELY(OMPI_SUCCESS != looked)) {                                                                      \
        return looked;                                                                                                \
    }

#define MCA_COLL_TOPO_AMONG_NEIGHBORS(name, given_input, given_output, ...)           \
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;                 \
    int rc = COLLTOPO_DECLINED;                                                       \
    if (!mca_coll_topo_was_declined(topo, COLLTOPO_NEIGHBORHOOD, 1, 0, 0, 0, NULL)) { \
        mca_coll_topo_vector_t input = MCA_COLL_TOPO_VECTOR given_input;              \
        mca_coll_topo_vector_t output = MCA_COLL_TOPO_VECTOR given_output;            \
        rc = mca_coll_topo_serve_neighbors(topo, &input, &output);                    \
    }                                                                                 \
    return COLLTOPO_DECLINED == rc ? MCA_COLL_TOPO_FALL_BACK(name, __VA_ARGS__) : rc
#define MCA_COLL_TOPO_VECTOR(...) \
    {                             \
        __VA_ARGS__               \
    }

int mca_coll_topo_neighbor_allgather(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype,
                                     void *rbuf, mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype,
                                     ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    MCA_COLL_TOPO_EVENLY_AMONG_NEIGHBORS(neighbor_allgather)
    MCA_COLL_TOPO_AMONG_NEIGHBORS(
        neighbor_allgather, (.buf = sbuf, .kind = MCA_COLL_TOPO_THE_SAME, .count = (size_t) scount, .dtype = sdtype),
        (.buf = rbuf, .kind = MCA_COLL_TOPO_IN_A_ROW, .count = (size_t) rcount, .dtype = rdtype), sbuf, scount, sdtype,
        rbuf, rcount, rdtype);
}

int mca_coll_topo_neighbor_allgatherv(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype,
                                      void *rbuf, mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs,
                                      ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                                      mca_coll_base_module_t *module)
{
    MCA_COLL_TOPO_AMONG_NEIGHBORS(
        neighbor_allgatherv, (.buf = sbuf, .kind = MCA_COLL_TOPO_THE_SAME, .count = (size_t) scount, .dtype = sdtype),
        (.buf = rbuf, .counts = rcounts, .displs = displs, .dtype = rdtype), sbuf, scount, sdtype, rbuf, rcounts,
        displs, rdtype);
}

int mca_coll_topo_neighbor_alltoall(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                                    mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                                    mca_coll_base_module_t *module)
{
    MCA_COLL_TOPO_EVENLY_AMONG_NEIGHBORS(neighbor_alltoall)
    MCA_COLL_TOPO_AMONG_NEIGHBORS(
        neighbor_alltoall, (.buf = sbuf, .kind = MCA_COLL_TOPO_IN_A_ROW, .count = (size_t) scount, .dtype = sdtype),
        (.buf = rbuf, .kind = MCA_COLL_TOPO_IN_A_ROW, .count = (size_t) rcount, .dtype = rdtype), sbuf, scount, sdtype,
        rbuf, rcount, rdtype);
}

int mca_coll_topo_neighbor_alltoallv(const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t sdispls,
                                     ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_counts_t rcounts,
                                     mca_coll_topo_displs_t rdispls, ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                                     mca_coll_base_module_t *module)
{
    MCA_COLL_TOPO_AMONG_NEIGHBORS(neighbor_alltoallv,
                                  (.buf = sbuf, .counts = scounts, .displs = sdispls, .dtype = sdtype),
                                  (.buf = rbuf, .counts = rcounts, .displs = rdispls, .dtype = rdtype), sbuf, scounts,
                                  sdispls, sdtype, rbuf, rcounts, rdispls, rdtype);
}

int mca_coll_topo_neighbor_alltoallw(const void *sbuf, mca_coll_topo_counts_t scounts,
                                     mca_coll_topo_byte_displs_t sdispls, ompi_datatype_t *const *sdtypes, void *rbuf,
                                     mca_coll_topo_counts_t rcounts, mca_coll_topo_byte_displs_t rdispls,
                                     ompi_datatype_t *const *rdtypes, ompi_communicator_t *comm,
                                     mca_coll_base_module_t *module)
{
    MCA_COLL_TOPO_AMONG_NEIGHBORS(neighbor_alltoallw,
                                  (.buf = sbuf, .counts = scounts, .byte_displs = sdispls, .dtypes = sdtypes),
                                  (.buf = rbuf, .counts = rcounts, .byte_displs = rdispls, .dtypes = rdtypes), sbuf,
                                  scounts, sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes);
}
