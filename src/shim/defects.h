/* Calls that pass through, mended where libraries are known to do them wrong. docs/open-mpi.md has the table.
 *
 * How a rank describes its data is its own affair, so ranks could not agree to serve such calls; but what travels is
 * the same however it is described, so each rank mends its own. The arguments have been found right. Each returns
 * COLLTOPO_DECLINED where nothing is to be mended, otherwise what the library has answered. */
#ifndef COLLTOPO_SHIM_DEFECTS_H
#define COLLTOPO_SHIM_DEFECTS_H

#include "collectives.h"

/* alltoall and allgather. */
int shim_mend_exchange(struct shim_communicator *communicator, int collective, const struct shim_blocks *input,
                       const struct shim_blocks *output);
int shim_mend_bcast(struct shim_communicator *communicator, const struct shim_blocks *output, int root);
int shim_mend_allreduce(struct shim_communicator *communicator, const struct shim_operands *operands, long long count);
int shim_mend_gather(struct shim_communicator *communicator, const struct shim_blocks *input,
                     const struct shim_blocks *output, int root);
int shim_mend_scatter(struct shim_communicator *communicator, const struct shim_blocks *input,
                      const struct shim_blocks *output, int root);

int shim_mend_allgatherv(struct shim_communicator *communicator, const struct shim_vector *input,
                         const struct shim_vector *output);
int shim_mend_gatherv(struct shim_communicator *communicator, const struct shim_vector *input,
                      const struct shim_vector *output, int root);
int shim_mend_scatterv(struct shim_communicator *communicator, const struct shim_vector *input,
                       const struct shim_vector *output, int root);

#endif
