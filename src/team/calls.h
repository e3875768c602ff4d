/* What a team of processes needs of MPI, for `colltopo generate` under mpirun: a table of C functions, so that the
 * command itself links no MPI. One library per MPI ABI exports `colltopo_team`; the command opens the one that its
 * mpirun needs (src/cli/process_team.cpp). All but abort are collective over the processes of the mpirun. */
#ifndef COLLTOPO_TEAM_CALLS_H
#define COLLTOPO_TEAM_CALLS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct colltopo_team_calls {
    /* 0: good. */
    int (*join)(int *rank, int *ranks);
    /* Sums by place, with the same bits on every rank. */
    void (*sum)(double *values, size_t count);
    /* sizes: [rank] of what each gives; written on every rank. */
    void (*sizes)(size_t mine, size_t *sizes);
    /* On rank 0, into[rank] gets sizes[rank] bytes from every other rank; elsewhere `into` is not read. */
    void (*gather)(const void *mine, const size_t *sizes, void *const *into);
    void (*leave)(void);
    /* Ends all processes, this one with the status. */
    void (*abort)(int status);
};

typedef const struct colltopo_team_calls *(*colltopo_team_function)(void);

__attribute__((visibility("default"))) const struct colltopo_team_calls *colltopo_team(void);

#ifdef __cplusplus
}
#endif

#endif
