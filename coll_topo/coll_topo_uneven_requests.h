/* What requests of calls with blocks of sizes of their own have in common. */
#ifndef MCA_COLL_TOPO_UNEVEN_REQUESTS_H
#define MCA_COLL_TOPO_UNEVEN_REQUESTS_H

#include "coll_topo_blocks.h"
#include "coll_topo_requests.h"

BEGIN_C_DECLS

/* Describes the request's call by its sides, of which NULL is one that this rank does not have, or that lies in the
 * other one. `bytes`: 0 where all ranks know that there is nothing to do. */
int mca_coll_topo_describe_uneven(mca_coll_topo_request_t *request, const mca_coll_topo_vector_t *input,
                                  const mca_coll_topo_vector_t *output, bool in_place, int root, size_t bytes);

END_C_DECLS

#endif
