/* The few words that the C test programs share. */
#ifndef COLLTOPO_TESTS_CHECK_H
#define COLLTOPO_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "colltopo/colltopo.h"
#include "served.h"

static int check_failures;

/* A false condition is told once per line and rank, and ends the job at the end. */
#define CHECK(condition, ...)                                                     \
    do {                                                                          \
        if (!(condition) && check_failures++ < 20) {                              \
            int world_rank_ = -1;                                                 \
            MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);                          \
            fprintf(stderr, "%s:%d: rank %d: ", __FILE__, __LINE__, world_rank_); \
            fprintf(stderr, __VA_ARGS__);                                         \
            fputc('\n', stderr);                                                  \
        }                                                                         \
    } while (0)

/* Makes the call; the shim must serve it, or must not. */
#define EXPECT_SERVED(collective, times, call)                                                                       \
    do {                                                                                                             \
        const int before_ = served(collective);                                                                      \
        CHECK((call) == MPI_SUCCESS, "%s failed", #call);                                                            \
        const int expected_ = (times);                                                                               \
        CHECK(expected_ < 0 || served(collective) - before_ == expected_, "%s: served %d times, expected %d", #call, \
              served(collective) - before_, expected_);                                                              \
    } while (0)

#define SERVED(collective, call) EXPECT_SERVED(collective, must_serve(collective), call)
#define PASSED(collective, call) EXPECT_SERVED(collective, 0, call)

/* Ends the program: 0 when no rank found anything wrong. */
static inline int checked(void)
{
    if (check_failures > 0) {
        fprintf(stderr, "%d values or counts are wrong on this rank\n", check_failures);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}

#endif
