/* What calls begin and end with, and what their arguments say. */
#ifndef MCA_COLL_TOPO_CALLS_H
#define MCA_COLL_TOPO_CALLS_H

#include "coll_topo.h"

/* The call that a function of the former component does, as colltopo numbers them. */
enum {
    MCA_COLL_TOPO_OF_alltoall = COLLTOPO_ALLTOALL,
    MCA_COLL_TOPO_OF_allgather = COLLTOPO_ALLGATHER,
    MCA_COLL_TOPO_OF_allreduce = COLLTOPO_ALLREDUCE,
    MCA_COLL_TOPO_OF_reduce_scatter = COLLTOPO_REDUCE_SCATTER,
    MCA_COLL_TOPO_OF_reduce_scatter_block = COLLTOPO_REDUCE_SCATTER,
    MCA_COLL_TOPO_OF_bcast = COLLTOPO_BCAST,
    MCA_COLL_TOPO_OF_reduce = COLLTOPO_REDUCE,
    MCA_COLL_TOPO_OF_gather = COLLTOPO_GATHER,
    MCA_COLL_TOPO_OF_scatter = COLLTOPO_SCATTER,
    MCA_COLL_TOPO_OF_allgatherv = COLLTOPO_ALLGATHERV,
    MCA_COLL_TOPO_OF_gatherv = COLLTOPO_GATHERV,
    MCA_COLL_TOPO_OF_scatterv = COLLTOPO_SCATTERV,
    MCA_COLL_TOPO_OF_alltoallv = COLLTOPO_ALLTOALLV,
    MCA_COLL_TOPO_OF_alltoallw = COLLTOPO_ALLTOALLW,
    MCA_COLL_TOPO_OF_neighbor_allgather = COLLTOPO_NEIGHBORHOOD,
    MCA_COLL_TOPO_OF_neighbor_allgatherv = COLLTOPO_NEIGHBORHOOD,
    MCA_COLL_TOPO_OF_neighbor_alltoall = COLLTOPO_NEIGHBORHOOD,
    MCA_COLL_TOPO_OF_neighbor_alltoallv = COLLTOPO_NEIGHBORHOOD,
    MCA_COLL_TOPO_OF_neighbor_alltoallw = COLLTOPO_NEIGHBORHOOD
};

static inline bool mca_coll_topo_is_left(const mca_coll_topo_module_t *topo, int collective)
{
    return 0 != (*topo->left >> collective & 1);
}

/* The former function has served a call, which may have been its turn in a trial. */
static inline int mca_coll_topo_came_back(mca_coll_topo_module_t *topo, int collective, int rc)
{
    if (OPAL_UNLIKELY(mca_coll_topo_is_left(topo, collective))) {
        colltopo_previous_done(topo->collectives, collective);
    }
    return rc;
}

/* What was declined before is no turn in a trial. */
#define MCA_COLL_TOPO_PASS_ON(name, ...) topo->previous.name(__VA_ARGS__, comm, topo->previous.name##_module)

#define MCA_COLL_TOPO_FALL_BACK(name, ...)                 \
    mca_coll_topo_came_back(topo, MCA_COLL_TOPO_OF_##name, \
                            topo->previous.name(__VA_ARGS__, comm, topo->previous.name##_module))

static inline size_t mca_coll_topo_bytes(const ompi_datatype_t *dtype, size_t count)
{
    return dtype->super.size * count;
}

static inline int mca_coll_topo_ready(mca_coll_topo_module_t *module)
{
    return OPAL_LIKELY(module->serving) ? OMPI_SUCCESS : mca_coll_topo_module_start(module);
}

/* `input` of calls that all ranks make in place or none; of others NULL. Passing a call on should cost next to nothing:
 * programs that have nothing to gain make many of them. */
static inline bool mca_coll_topo_was_declined(mca_coll_topo_module_t *topo, int collective, size_t bytes,
                                              size_t element_size, int root, int op_properties, const void *input)
{
    for (int i = 0; i < MCA_COLL_TOPO_DECLINED; ++i) {
        const mca_coll_topo_declined_t *call = &topo->declined[collective][i];
        if (bytes == call->bytes && element_size == call->element_size && root == call->root
            && op_properties == call->op_properties && (MPI_IN_PLACE == input) == call->in_place) {
            if (OPAL_UNLIKELY(0 >= --*topo->until_look)) {
                return false; /* all ranks ask anew */
            }
            mca_coll_topo_count_passed_on(topo);
            return true;
        }
    }
    return false;
}

/* What is rare in a call's end: it was declined, or went wrong. */
int mca_coll_topo_look_at(mca_coll_topo_module_t *topo, int collective, const mca_coll_topo_declined_t *call, int rc);

static inline int mca_coll_topo_remember(mca_coll_topo_module_t *topo, int collective, size_t bytes,
                                         size_t element_size, int root, int op_properties, const void *input, int rc)
{
    if (OPAL_UNLIKELY(COLLTOPO_SUCCESS != rc)) {
        const mca_coll_topo_declined_t call = {bytes, element_size, root, op_properties, MPI_IN_PLACE == input};
        return mca_coll_topo_look_at(topo, collective, &call, rc);
    }
    return rc;
}

/* Granules of `bytes`, of each block or in all. */
#define MCA_COLL_TOPO_GRANULES(bytes) \
    .count = (bytes) >> shell_granule(bytes), .element_size = (size_t) 1 << shell_granule(bytes)

/* gather and scatter. A side without blocks is one that this rank does not have; its count and datatype, which MPI may
 * not look at there, are the other side's. In place the root gives one buffer, which holds its own block too. */
static inline mca_coll_topo_span_t mca_coll_topo_no_span(const mca_coll_topo_span_t *other)
{
    return (mca_coll_topo_span_t){NULL, 0, other->count, other->dtype};
}

#define MCA_COLL_TOPO_BIT(op_type) (1u << (op_type))

/* Whether any order of operands gives the same bits. Sums of short integers are left out: vector units may saturate. */
static inline bool mca_coll_topo_is_associative(const ompi_op_t *op, const ompi_datatype_t *dtype)
{
    const unsigned sums = MCA_COLL_TOPO_BIT(OMPI_OP_SUM) | MCA_COLL_TOPO_BIT(OMPI_OP_PROD);
    const unsigned others = MCA_COLL_TOPO_BIT(OMPI_OP_MAX) | MCA_COLL_TOPO_BIT(OMPI_OP_MIN)
                            | MCA_COLL_TOPO_BIT(OMPI_OP_LAND) | MCA_COLL_TOPO_BIT(OMPI_OP_BAND)
                            | MCA_COLL_TOPO_BIT(OMPI_OP_LOR) | MCA_COLL_TOPO_BIT(OMPI_OP_BOR)
                            | MCA_COLL_TOPO_BIT(OMPI_OP_LXOR) | MCA_COLL_TOPO_BIT(OMPI_OP_BXOR);

    return OMPI_DATATYPE_FLAG_DATA_INT == (dtype->super.flags & OMPI_DATATYPE_FLAG_DATA_TYPE)
           && 0 != (op->o_flags & OMPI_OP_FLAGS_INTRINSIC)
           && 0 != (MCA_COLL_TOPO_BIT(op->op_type) & (4 <= dtype->super.size ? sums | others : others));
}

static inline int mca_coll_topo_op_properties(ompi_op_t *op, const ompi_datatype_t *dtype)
{
    return (ompi_op_is_commute(op) ? COLLTOPO_OP_COMMUTATIVE : 0)
           | (mca_coll_topo_is_associative(op, dtype) ? COLLTOPO_OP_ASSOCIATIVE_BITS : 0);
}

#endif
