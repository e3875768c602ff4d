/* What the shim keeps for a communicator of the program.
 *
 * It hangs on the communicator as an attribute, made at the communicator's first collective and deleted with it.
 * Messages go over a private communicator of the same ranks, made when the first call is to be served. */
#ifndef COLLTOPO_SHIM_COMMUNICATOR_H
#define COLLTOPO_SHIM_COMMUNICATOR_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include "colltopo/colltopo.h"
#include "shell.h"

struct shim_communicator {
    MPI_Comm comm;     /* the program's */
    MPI_Comm messages; /* the private one; comm_null until the first call */
    int rank;
    int ranks;
    colltopo_comm *collectives;                /* NULL: every call passes through */
    bool broken;                               /* no private communicator could be made, on any rank */
    int requests;                              /* not yet completed */
    unsigned idle;                             /* rounds of progress since the processor was last given away */
    size_t *counts;                            /* [rank] of reduce_scatter */
    size_t *sizes;                             /* bytes and places of blocks, of both sides */
    struct shell_memory memory;                /* of packed data */
    bool abandoned;                            /* a message of the last call was given up and may still arrive */
    struct shim_communicator *next, *previous; /* in the list of all */
};

/* NULL when calls on this communicator pass through, or when there is no memory for what it needs. */
struct shim_communicator *shim_communicator_of(MPI_Comm comm);

/* Whether the call that this thread declined last has failed: a rank alone passes nothing on. shim_fail hands the error
 * to the communicator's error handler, and forgets it. */
bool shim_has_failed(void);
int shim_fail(void);

/* A communicator of this process alone that returns errors; comm_null: none could be made. */
MPI_Comm shim_comm_alone(void);

/* COLLTOPO_SUCCESS: the call is to be served, and the private communicator exists. COLLTOPO_DECLINED, or an MPI code.
 * But for that the same on all ranks, and collective until the first call that is. */
int shim_serves(struct shim_communicator *communicator, int collective, const colltopo_call *call);

/* For a call that this rank leaves to the library for a reason that the others may not have: lengths that differ, or
 * wrong arguments of a root's own, which others send to and are done. In a communicator's first call the others wait
 * for this rank, so it agrees with them first. COLLTOPO_DECLINED. */
int shim_decline_alone(struct shim_communicator *communicator, int collective);

/* Whether calls have been served before: then colltopo may be run without asking, and decline. */
bool shim_has_served(const struct shim_communicator *communicator);

/* A call that was left to the library to be timed (colltopo_left), from its being declined until the library is asked.
 * Of this thread. */
struct shim_left {
    struct shim_communicator *communicator; /* NULL: there is none */
    int collective;
};
extern _Thread_local struct shim_left shim_left;

/* Notes a declined call there, if it is one. */
void shim_note_left(struct shim_communicator *communicator, int collective);

/* The library is asked: what is noted from here on is of calls within. The clock runs since the call was declined. */
struct shim_left shim_take_left(void);

/* The library has answered `status`. */
int shim_came_back(struct shim_left left, int status);

/* The callbacks that lend MPI's messages to colltopo; their context is the communicator. */
extern const colltopo_callbacks shim_callbacks;

/* Numbers the packages, NUMA nodes or third-level caches (a COLLTOPO_ level) that this process may run on; its lowest.
 */
int shim_place_of_process(int level);

/* Writes a line, if COLLTOPO_VERBOSE wants lines of this level. A warning (level 0) is written once. */
void shim_say(int level, const char *line);

#endif
