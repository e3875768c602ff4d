/* What the shim must know of a datatype and a reduction to hand dense bytes to colltopo. */
#ifndef COLLTOPO_SHIM_TYPES_H
#define COLLTOPO_SHIM_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include "shell.h"

/* Fills the tables of predefined datatypes and ops; once, while MPI runs. */
void shim_name_predefined(void);

struct shell_layout shim_layout_of(MPI_Datatype type);

/* Whether a call may have such a datatype: there is one, and it has been committed. */
bool shim_is_usable(MPI_Datatype type);
/* The same of what an allgather, gather or scatter receives, v or not: there Open MPI takes any that there is, and
 * other ranks may have committed theirs. */
bool shim_may_receive(MPI_Datatype type);

/* One element that stands for so many bytes, also for more than an int counts. To be freed. */
int shim_make_bytes_type(size_t bytes, MPI_Datatype *type);

/* The COLLTOPO_OP_ flags of an op on a datatype; -1: MPI defines no such reduction, or one that is not known here.
 * Equal on all ranks, as op and datatype are. */
int shim_op_properties(MPI_Op op, MPI_Datatype type);

#endif
