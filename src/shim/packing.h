/* Packing, for moves of equal blocks and of blocks of sizes of their own. */
#ifndef COLLTOPO_SHIM_PACKING_H
#define COLLTOPO_SHIM_PACKING_H

#include "communicator.h"

enum shim_direction { SHIM_PACKING, SHIM_UNPACKING };

/* Between `count` elements at `block` and their bytes in a row; an MPI code. */
int shim_convert_block(struct shim_communicator *communicator, enum shim_direction direction, char *block, size_t count,
                       MPI_Datatype type, char *packed);

#endif
