/* What the shim must know of a datatype and a reduction to hand dense bytes to colltopo. */
#ifndef COLLTOPO_SHIM_TYPES_H
#define COLLTOPO_SHIM_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

/* Where the bytes of one element lie, relative to the address of the element. */
struct shim_layout {
    size_t size;          /* bytes of data */
    MPI_Aint lower;       /* lower bound */
    MPI_Aint extent;      /* from one element to the next */
    MPI_Aint true_lower;  /* first byte of data */
    MPI_Aint true_extent; /* from there to the end of the last one */
    bool in_order;        /* no gaps, and the data lies in the order in which it is packed */
};

/* Fills the tables of predefined datatypes and ops; once, while MPI runs. */
void shim_name_predefined(void);

struct shim_layout shim_layout_of(MPI_Datatype type);

/* Reductions treat elements as a whole. Their order inside does not matter, gaps between them do. */
bool shim_is_dense(const struct shim_layout *layout);

/* Whether every element keeps to its own extent; otherwise a vector of them cannot be cut into elements. */
bool shim_keeps_to_its_extent(const struct shim_layout *layout);

/* One element that stands for so many bytes, also for more than an int counts. To be freed. */
int shim_make_bytes_type(size_t bytes, MPI_Datatype *type);

/* The COLLTOPO_OP_ flags of an op on a datatype; -1: MPI defines no such reduction, or one that is not known here.
 * Equal on all ranks, as op and datatype are. */
int shim_op_properties(MPI_Op op, MPI_Datatype type);

#endif
