/* What every call of a served collective begins and ends with. */
#ifndef MCA_COLL_TOPO_CALLS_H
#define MCA_COLL_TOPO_CALLS_H

#include "coll_topo.h"

#define MCA_COLL_TOPO_FALL_BACK(name, ...) topo->previous.name(__VA_ARGS__, comm, topo->previous.name##_module)

static inline size_t mca_coll_topo_bytes(const ompi_datatype_t *dtype, size_t count)
{
    return dtype->super.size * count;
}

static inline int mca_coll_topo_ready(mca_coll_topo_module_t *module)
{
    return OPAL_LIKELY(module->serving) ? OMPI_SUCCESS : mca_coll_topo_module_start(module);
}

/* Passing a call on should cost next to nothing: programs that have nothing to gain make many of them. */
static inline bool mca_coll_topo_was_declined(mca_coll_topo_module_t *topo, int collective, size_t bytes,
                                              size_t element_size, int root, int op_properties)
{
    for (int i = 0; i < MCA_COLL_TOPO_DECLINED; ++i) {
        const mca_coll_topo_declined_t *call = &topo->declined[collective][i];
        if (bytes == call->bytes && 0 != bytes && element_size == call->element_size && root == call->root
            && op_properties == call->op_properties) {
            colltopo_passed_on(topo->collectives);
            return true;
        }
    }
    return false;
}

/* What is rare in a call's end: it was declined, or went wrong. */
int mca_coll_topo_look_at(mca_coll_topo_module_t *topo, int collective, const mca_coll_topo_declined_t *call, int rc);

static inline int mca_coll_topo_remember(mca_coll_topo_module_t *topo, int collective, size_t bytes,
                                         size_t element_size, int root, int op_properties, int rc)
{
    if (OPAL_UNLIKELY(COLLTOPO_SUCCESS != rc)) {
        const mca_coll_topo_declined_t call = {bytes, element_size, root, op_properties};
        return mca_coll_topo_look_at(topo, collective, &call, rc);
    }
    return rc;
}

#endif
