/* The functions that a program finds instead of the library's, for blocks of sizes of their own: see entry.c. */
#include "collectives.h"
#include "interpose.h"

/* All of them, with counts of type `count` and distances of type `place`; `counts_` and `places_` are the
 * members of struct shim_vector that have those types. */
#define THE_UNEVEN(suffix, count, place, counts_, places_)                                                             \
    static struct shim_vector blocks##suffix(const void *buffer, const count *numbers, const place *places,            \
                                             shim_handle type)                                                         \
    {                                                                                                                  \
        return (struct shim_vector){                                                                                   \
            .buffer = buffer, .counts_ = numbers, .places_ = places, .type = (MPI_Datatype)type};                      \
    }                                                                                                                  \
    INTERPOSED(Allgatherv##suffix,                                                                                     \
               (const void *input, count send_count, shim_handle send_type, void *output, const count *recv_counts,    \
                const place *places, shim_handle recv_type, shim_handle comm))                                         \
    {                                                                                                                  \
        SERVE(shim_allgatherv(one_block(input, send_count, send_type),                                                 \
                              blocks##suffix(output, recv_counts, places, recv_type), (MPI_Comm)comm));                \
        PASS_THROUGH(                                                                                                  \
            Allgatherv##suffix,                                                                                        \
            (const void *, count, shim_handle, void *, const count *, const place *, shim_handle, shim_handle),        \
            (input, send_count, send_type, output, recv_counts, places, recv_type, comm));                             \
    }                                                                                                                  \
    INTERPOSED(Gatherv##suffix,                                                                                        \
               (const void *input, count send_count, shim_handle send_type, void *output, const count *recv_counts,    \
                const place *places, shim_handle recv_type, int root, shim_handle comm))                               \
    {                                                                                                                  \
        SERVE(shim_gatherv(one_block(input, send_count, send_type),                                                    \
                           blocks##suffix(output, recv_counts, places, recv_type), root, (MPI_Comm)comm));             \
        PASS_THROUGH(                                                                                                  \
            Gatherv##suffix,                                                                                           \
            (const void *, count, shim_handle, void *, const count *, const place *, shim_handle, int, shim_handle),   \
            (input, send_count, send_type, output, recv_counts, places, recv_type, root, comm));                       \
    }                                                                                                                  \
    INTERPOSED(Scatterv##suffix,                                                                                       \
               (const void *input, const count *send_counts, const place *places, shim_handle send_type, void *output, \
                count recv_count, shim_handle recv_type, int root, shim_handle comm))                                  \
    {                                                                                                                  \
        SERVE(shim_scatterv(blocks##suffix(input, send_counts, places, send_type),                                     \
                            one_block(output, recv_count, recv_type), root, (MPI_Comm)comm));                          \
        PASS_THROUGH(                                                                                                  \
            Scatterv##suffix,                                                                                          \
            (const void *, const count *, const place *, shim_handle, void *, count, shim_handle, int, shim_handle),   \
            (input, send_counts, places, send_type, output, recv_count, recv_type, root, comm));                       \
    }                                                                                                                  \
    INTERPOSED(Alltoallv##suffix, (const void *input, const count *send_counts, const place *send_places,              \
                                   shim_handle send_type, void *output, const count *recv_counts,                      \
                                   const place *recv_places, shim_handle recv_type, shim_handle comm))                 \
    {                                                                                                                  \
        SERVE(shim_exchange(COLLTOPO_ALLTOALLV, blocks##suffix(input, send_counts, send_places, send_type),            \
                            blocks##suffix(output, recv_counts, recv_places, recv_type), (MPI_Comm)comm));             \
        PASS_THROUGH(Alltoallv##suffix,                                                                                \
                     (const void *, const count *, const place *, shim_handle, void *, const count *, const place *,   \
                      shim_handle, shim_handle),                                                                       \
                     (input, send_counts, send_places, send_type, output, recv_counts, recv_places, recv_type, comm)); \
    }                                                                                                                  \
    INTERPOSED(Alltoallw##suffix, (const void *input, const count *send_counts, const place *send_places,              \
                                   const void *send_types, void *output, const count *recv_counts,                     \
                                   const place *recv_places, const void *recv_types, shim_handle comm))                \
    {                                                                                                                  \
        struct shim_vector sent = blocks##suffix(input, send_counts, send_places, 0);                                  \
        struct shim_vector received = blocks##suffix(output, recv_counts, recv_places, 0);                             \
        sent.types = (const MPI_Datatype *)send_types;                                                                 \
        received.types = (const MPI_Datatype *)recv_types;                                                             \
        SERVE(shim_exchange(COLLTOPO_ALLTOALLW, sent, received, (MPI_Comm)comm));                                      \
        PASS_THROUGH(                                                                                                  \
            Alltoallw##suffix,                                                                                         \
            (const void *, const count *, const place *, const void *, void *, const count *, const place *,           \
             const void *, shim_handle),                                                                               \
            (input, send_counts, send_places, send_types, output, recv_counts, recv_places, recv_types, comm));        \
    }

static struct shim_vector one_block(const void *buffer, long long count, shim_handle type)
{
    return (struct shim_vector){.buffer = buffer, .type = (MPI_Datatype)type, .single = true, .count = count};
}

THE_UNEVEN(, int, int, counts, places)
#if MPI_VERSION >= 4
THE_UNEVEN(_c, long long, MPI_Aint, large_counts, large_places)
#endif
