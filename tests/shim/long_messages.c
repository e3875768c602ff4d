/* Messages of more bytes than an int counts: a broadcast straight from the buffer, and one that is packed into a
 * datatype whose single element is as long. On two ranks. Needs 12 GiB, so it runs only where COLLTOPO_TEST_LONG is
 * set. */
#include "check.h"

enum { numbers_per_block = 1 << 20, blocks = 280 }; /* 280 * 8 MiB = 2.19 GiB */

/* Depends on every bit of the place, so that a piece put elsewhere is seen. */
static unsigned long long number_at(size_t i)
{
    return i * 0x9E3779B97F4A7C15ull ^ i >> 7;
}

static size_t wrong(const unsigned long long *numbers, size_t n)
{
    size_t failures = 0;

    for (size_t i = 0; i < n; ++i) {
        failures += numbers[i] != number_at(i);
    }
    return failures;
}

int main(int argc, char **argv)
{
    const size_t n = (size_t)numbers_per_block * blocks;
    unsigned long long *numbers;
    MPI_Datatype block, gapped, whole;
    size_t failures;
    int rank;

    if (getenv("COLLTOPO_TEST_LONG") == NULL) {
        printf("SKIP: needs 12 GiB of memory; set COLLTOPO_TEST_LONG to run it\n");
        return 77;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    numbers = malloc((n + blocks) * sizeof(*numbers));
    MPI_Type_contiguous(numbers_per_block, MPI_UNSIGNED_LONG_LONG, &block);
    MPI_Type_commit(&block);
    for (size_t i = 0; i < n; ++i) {
        numbers[i] = rank == 0 ? number_at(i) : 0;
    }
    SERVED(COLLTOPO_BCAST, MPI_Bcast(numbers, blocks, block, 0, MPI_COMM_WORLD));
    failures = wrong(numbers, n);
    CHECK(failures == 0, "%zu of %zu numbers are wrong", failures, n);

    /* One element with a number's gap after each block. */
    MPI_Type_vector(blocks, numbers_per_block, numbers_per_block + 1, MPI_UNSIGNED_LONG_LONG, &gapped);
    MPI_Type_commit(&gapped);
    MPI_Type_dup(rank == 0 ? block : gapped, &whole);
    for (size_t i = 0; i < n + blocks && rank == 1; ++i) {
        numbers[i] = 7;
    }
    SERVED(COLLTOPO_BCAST, MPI_Bcast(numbers, rank == 0 ? blocks : 1, whole, 0, MPI_COMM_WORLD));
    failures = 0;
    for (size_t i = 0; i < n && rank == 1; ++i) {
        failures += numbers[i + i / numbers_per_block] != number_at(i);
    }
    for (size_t i = 1; i < blocks && rank == 1; ++i) {
        failures += numbers[i * (numbers_per_block + 1) - 1] != 7;
    }
    CHECK(failures == 0, "%zu numbers or gaps are wrong", failures);
    MPI_Type_free(&whole);
    MPI_Type_free(&gapped);
    MPI_Type_free(&block);
    free(numbers);
    return checked();
}
