/* Calls whose blocks have sizes of their own, for both shells: MPI's v and w forms.
 *
 * A side is a list of blocks, each with its bytes and the distance of its first byte from the buffer. What is dense
 * goes to colltopo as it lies; what is not is packed, block after block, by this rank for itself: its peers see bytes
 * alone. Nothing here depends on sizes that other ranks do not know. */
#ifndef COLLTOPO_SHELL_UNEVEN_H
#define COLLTOPO_SHELL_UNEVEN_H

#include "shell.h"

struct shell_blocks {
    const void *buffer;
    size_t blocks;     /* 0: a side that this rank does not have, or that lies in the other one */
    size_t *bytes;     /* [block] */
    size_t *at;        /* [block] from `buffer`; what lies before it is negative, modulo 2^64 */
    bool is_dense;     /* every block is bytes in a row */
    const void *known; /* what the shell knows of its datatypes */
};

struct shell_uneven {
    int collective;
    bool in_place;
    size_t own; /* block of the rank itself */
    struct shell_blocks input, output;
    /* Packs a block of a side, or unpacks it; a shell's error code. */
    int (*pack)(void *owner, const struct shell_blocks *side, size_t block, char *packed);
    int (*unpack)(void *owner, const struct shell_blocks *side, size_t block, char *packed);
};

/* Fills in the call but for its root; `places` must live as long. False: the data must be packed, once it is known that
 * the call is served (shell_uneven_packed). Distances become such from the first byte that any block has. */
bool shell_uneven_begins(struct shell_uneven *move, colltopo_blocks *places, colltopo_call *call);
int shell_uneven_packed(const struct shell_side *side, const struct shell_uneven *move, colltopo_call *call);

/* The same in steps, for calls that end in another function than they begin in. */
struct shell_packing {
    bool input, output; /* whether the side is packed */
    size_t input_bytes; /* the output follows */
    size_t bytes;
    const size_t *input_at, *output_at; /* [block] in the packed side */
};
/* What begins has said that data must be packed: `places` become those of packed blocks, which are written to the two
 * arrays of a number per block. Those may be the sides' own if packing does not look there. */
void shell_uneven_lays_out(const struct shell_uneven *move, size_t *input_at, size_t *output_at,
                           struct shell_packing *packing, colltopo_blocks *places);
/* Packs what a run reads into `packed`, of packing->bytes, and fills in the call's pointers; brings the results home.
 */
int shell_uneven_packs(const struct shell_side *side, const struct shell_uneven *move,
                       const struct shell_packing *packing, char *packed, colltopo_call *call);
int shell_uneven_unpacks(const struct shell_side *side, const struct shell_uneven *move,
                         const struct shell_packing *packing, char *packed);

#endif
