/* What both shells, the Open MPI component and the shim, do with a call's data before colltopo sees it.
 *
 * colltopo moves and reduces dense bytes; a shell brings other data into that form and back. Here is what follows from
 * sizes and bounds alone, so that both decide alike; how elements are packed and copied each shell says by a function
 * of its own. */
#ifndef COLLTOPO_SHELL_H
#define COLLTOPO_SHELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "colltopo/colltopo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* So many bytes from the start of a user's buffer. MPI_BOTTOM is a null pointer, to which C adds nothing. */
static inline void *shell_at(const void *buffer, ptrdiff_t bytes)
{
    const uintptr_t address = (uintptr_t)buffer + (uintptr_t)bytes;
    void *place;

    memcpy(&place, &address, sizeof(place));
    return place;
}

/* Where the bytes of one element of a datatype lie, relative to the element's address. */
struct shell_layout {
    size_t size;           /* bytes of data */
    ptrdiff_t lower;       /* lower bound */
    ptrdiff_t extent;      /* from one element to the next */
    ptrdiff_t true_lower;  /* first byte of data */
    ptrdiff_t true_extent; /* from there to the end of the last one */
    bool in_order;         /* no gaps, and the data lies in the order in which it is packed */
};

/* Moves are cut into granules: chunks are never cut inside an element, and ranks may describe the same bytes by
 * different datatypes. A power of two, which follows from the bytes of a block alone; its exponent. */
static inline int shell_granule(size_t bytes)
{
    const int zeros = __builtin_ctzll(bytes);

    return zeros < 6 ? zeros : 6;
}

/* Reductions treat elements as a whole. Their order inside does not matter, gaps between them do. */
bool shell_is_dense(const struct shell_layout *layout);

/* Whether a reduction of such elements is served: each keeps to its own extent, or a vector of them could not be cut,
 * and at least half of that is data, for whole extents are what is sent. The datatype of a reduction is the same on all
 * ranks, so this is. */
bool shell_can_reduce(const struct shell_layout *layout);

/* What the MPI library says of itself up to the first comma or line, "Open MPI v4.1.4"; asked once per process. */
const char *shell_library(int (*library_version)(char *version, int *length));

/* Memory for data that is not dense: one loan at a time, kept for the next one unless it is large. Zeroed: {0}. */
struct shell_memory {
    void *bytes;
    size_t size;
};

/* At least `size` bytes of any value; NULL when there are none. */
void *shell_lend(struct shell_memory *memory, size_t size);

/* After the call. `written`: messages were given up after an error that may still arrive here; then the memory is never
 * used again. */
void shell_take_back(struct shell_memory *memory, bool written);

/* Of MPI_Comm_free's communicator. */
void shell_free(struct shell_memory *memory);

/* Bytes that shell_take_back has set aside in this process. */
size_t shell_bytes_set_aside(void);

/* A shell's communicator, as a packed call needs it. */
struct shell_side {
    void *owner; /* passed to the functions of a move or reduction */
    struct shell_memory *memory;
    const bool *abandoned; /* set when a message is given up that may still arrive */
    int no_memory;         /* the shell's error code */
    int (*run)(void *owner, int collective, const colltopo_call *call);
};

/* An alltoall, allgather or bcast. A side that is dense is in the call already. */
struct shell_move {
    int collective;
    bool input_is_dense, output_is_dense;
    size_t block_bytes;
    size_t input_blocks, output_blocks;
    size_t first_held, blocks_held; /* blocks of the output that hold input */
    bool output_changes;
    const void *input, *output; /* what the shell knows of either side */
    /* Packs `blocks` blocks of a side from the `first` on, or unpacks them; a shell's error code. */
    int (*pack)(void *owner, const void *side, size_t first, size_t blocks, char *packed);
    int (*unpack)(void *owner, const void *side, size_t first, size_t blocks, char *packed);
};
/* Packs what a run reads into memory that the side lends, and fills in the call's pointers; brings the results home. */
int shell_move_packs(const struct shell_side *side, const struct shell_move *move, colltopo_call *call);
int shell_move_unpacks(const struct shell_side *side, const struct shell_move *move);
/* Both, with a run between them. */
int shell_move_packed(const struct shell_side *side, const struct shell_move *move, colltopo_call *call);

/* A reduction. An address of NULL is MPI_BOTTOM, whose datatype has absolute addresses, and never means "nothing". */
struct shell_reduction {
    int collective;
    struct shell_layout layout;
    bool in_place;
    bool receives; /* every rank of all but a reduce, whose root does */
    const void *input;
    void *output;
    size_t input_count, output_count; /* elements */
    const void *operation;            /* what the shell knows of the datatype */
    /* Copies elements, and leaves what lies between them alone. */
    int (*copy)(void *owner, const void *operation, const char *from, char *to, size_t elements);
};

/* Fills in the call's element_size, in_place, input and output. In place when the elements have gaps: one temporary
 * serves as input and output then. */
void shell_reduction_begins(const struct shell_reduction *reduction, colltopo_call *call);
/* As those of a move. */
int shell_reduction_packs(const struct shell_side *side, const struct shell_reduction *reduction, colltopo_call *call);
int shell_reduction_unpacks(const struct shell_side *side, const struct shell_reduction *reduction);
int shell_reduction_with_gaps(const struct shell_side *side, const struct shell_reduction *reduction,
                              colltopo_call *call);

/* The line about a call that ended with COLLTOPO_INVALID, as when memory runs out while a plan is made: `line`. The
 * call returns MPI_ERR_INTERN then. */
const char *shell_failure(char *line, size_t size);

/* A number that differs between processes whose bytes mean different things: order and sizes of C's types. */
unsigned long long shell_architecture(void);

#ifdef __cplusplus
}
#endif

#endif
