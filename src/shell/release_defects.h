/* What MPI libraries are known to do wrong, by release: for both shells, which mend such calls when they leave them. */
#ifndef COLLTOPO_SHELL_RELEASE_DEFECTS_H
#define COLLTOPO_SHELL_RELEASE_DEFECTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Blocks of an alltoall that tuned gives wrong data for where send and receive datatypes differ in layout. */
struct shell_defect {
    int first_release, last_release; /* 40199: the last of 4.1 */
    int ranks, most_ranks;
    size_t bytes, most_bytes; /* of a block */
};

/* NULL: none is known. Of any number of ranks there is one at most. */
const struct shell_defect *shell_alltoall_defect(int release, int ranks);

/* 40104 of "Open MPI v4.1.4 ...", 0 of another library. */
int shell_open_mpi_release(const char *version);

#ifdef __cplusplus
}
#endif

#endif
