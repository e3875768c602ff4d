/* Threads that use different communicators at the same time. */
#include <pthread.h>

#include "check.h"

enum { threads = 4, rounds = 16, count = 100 };

static void *work(void *argument)
{
    MPI_Comm comm = *(MPI_Comm *)argument;
    int rank, ranks;
    long failures = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int round = 0; round < rounds; ++round) {
        long in[count], out[count];
        MPI_Comm copy;
        MPI_Comm_dup(comm, &copy);
        for (int i = 0; i < count; ++i) {
            in[i] = rank * round + i;
        }
        MPI_Allreduce(in, out, count, MPI_LONG, MPI_SUM, round % 2 ? comm : copy);
        for (int i = 0; i < count; ++i) {
            failures += out[i] != (long)ranks * (ranks - 1) / 2 * round + (long)ranks * i;
        }
        MPI_Bcast(out, count, MPI_LONG, round % ranks, round % 2 ? comm : copy);
        MPI_Comm_free(&copy);
    }
    return (void *)failures;
}

int main(int argc, char **argv)
{
    pthread_t thread[threads];
    MPI_Comm comm[threads];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("SKIP: the MPI library has no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 77;
    }
    for (int i = 0; i < threads; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    }
    for (int i = 0; i < threads; ++i) {
        pthread_create(&thread[i], NULL, work, &comm[i]);
    }
    for (int i = 0; i < threads; ++i) {
        void *failures;
        pthread_join(thread[i], &failures);
        CHECK(failures == NULL, "thread %d: %ld sums are wrong", i, (long)failures);
        MPI_Comm_free(&comm[i]);
    }
    CHECK(served(COLLTOPO_ALLREDUCE) == threads * rounds, "%d allreduces served", served(COLLTOPO_ALLREDUCE));
    CHECK(served(COLLTOPO_BCAST) == threads * rounds, "%d bcasts served", served(COLLTOPO_BCAST));
    return checked();
}
