/* Packed moves and reductions with gaps, for both shells. */
#include "shell.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory up to this size stays for the next call. */
enum { k_kept = 1 << 20 };

bool shell_is_dense(const struct shell_layout *layout)
{
    return (ptrdiff_t)layout->size == layout->extent && layout->extent == layout->true_extent &&
           layout->lower == layout->true_lower;
}

bool shell_can_reduce(const struct shell_layout *layout)
{
    return layout->extent > 0 && layout->lower <= layout->true_lower &&
           layout->true_lower + layout->true_extent <= layout->lower + layout->extent &&
           (size_t)layout->extent / 2 <= layout->size;
}

const char *shell_library(int (*library_version)(char *version, int *length))
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static char name[16384]; /* MPICH's, with all that it was built with */
    int length = 0;

    pthread_mutex_lock(&mutex);
    if (name[0] == '\0') {
        (void)library_version(name, &length);
        name[strcspn(name, ",\n")] = '\0';
        for (char *tab = strchr(name, '\t'); tab != NULL; tab = strchr(tab, '\t')) {
            *tab = ' ';
        }
    }
    pthread_mutex_unlock(&mutex);
    return name;
}

void *shell_lend(struct shell_memory *memory, size_t size)
{
    if (memory->bytes == NULL || memory->size < size) {
        free(memory->bytes);
        memory->bytes = malloc(size > 0 ? size : 1); /* NULL says that there is no memory */
        memory->size = memory->bytes == NULL ? 0 : size;
    }
    return memory->bytes;
}

/* Reachable for ever, so that a checker of leaks does not report what is meant. */
struct set_aside {
    struct shell_memory memory;
    struct set_aside *next;
};
static struct set_aside *all_set_aside;
static size_t bytes_set_aside;

static void set_aside(const struct shell_memory *memory)
{
    struct set_aside *entry = malloc(sizeof(*entry));

    __atomic_fetch_add(&bytes_set_aside, memory->size, __ATOMIC_RELAXED);
    if (entry == NULL) {
        return; /* leaked all the same */
    }
    entry->memory = *memory;
    entry->next = __atomic_load_n(&all_set_aside, __ATOMIC_RELAXED);
    while (
        !__atomic_compare_exchange_n(&all_set_aside, &entry->next, entry, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

size_t shell_bytes_set_aside(void)
{
    return __atomic_load_n(&bytes_set_aside, __ATOMIC_RELAXED);
}

void shell_take_back(struct shell_memory *memory, bool written)
{
    if (written && memory->bytes != NULL) {
        set_aside(memory);
        *memory = (struct shell_memory){NULL, 0};
    } else if (memory->size > k_kept) {
        shell_free(memory);
    }
}

void shell_free(struct shell_memory *memory)
{
    free(memory->bytes);
    *memory = (struct shell_memory){NULL, 0};
}

static size_t packed_input_bytes(const struct shell_move *move)
{
    return move->input_is_dense ? 0 : move->input_blocks * move->block_bytes;
}

int shell_move_packs(const struct shell_side *side, const struct shell_move *move, colltopo_call *call)
{
    const size_t input_bytes = packed_input_bytes(move);
    const size_t output_bytes = move->output_is_dense ? 0 : move->output_blocks * move->block_bytes;
    char *packed = shell_lend(side->memory, input_bytes + output_bytes);
    int status = COLLTOPO_SUCCESS;

    if (packed == NULL) {
        return side->no_memory;
    }
    if (!move->input_is_dense) {
        call->input = packed;
        status = move->pack(side->owner, move->input, 0, move->input_blocks, packed);
    }
    if (!move->output_is_dense) {
        call->output = packed + input_bytes;
        if (status == COLLTOPO_SUCCESS && move->blocks_held > 0) {
            status = move->pack(side->owner, move->output, move->first_held, move->blocks_held,
                                packed + input_bytes + move->first_held * move->block_bytes);
        }
    }
    return status;
}

int shell_move_unpacks(const struct shell_side *side, const struct shell_move *move)
{
    char *packed = side->memory->bytes;

    if (move->output_is_dense || !move->output_changes) {
        return COLLTOPO_SUCCESS;
    }
    return move->unpack(side->owner, move->output, 0, move->output_blocks, packed + packed_input_bytes(move));
}

int shell_move_packed(const struct shell_side *side, const struct shell_move *move, colltopo_call *call)
{
    int status = shell_move_packs(side, move, call);

    if (status == COLLTOPO_SUCCESS) {
        status = side->run(side->owner, move->collective, call);
    }
    if (status == COLLTOPO_SUCCESS) {
        status = shell_move_unpacks(side, move);
    }
    shell_take_back(side->memory, *side->abandoned);
    return status;
}

void shell_reduction_begins(const struct shell_reduction *reduction, colltopo_call *call)
{
    const ptrdiff_t lower = reduction->layout.lower;

    call->element_size = (size_t)reduction->layout.extent;
    call->in_place = shell_is_dense(&reduction->layout) ? reduction->in_place : reduction->receives;
    call->input = reduction->in_place ? NULL : shell_at(reduction->input, lower);
    call->output = reduction->receives ? shell_at(reduction->output, lower) : NULL;
}

/* Where a temporary's first element would be for the datatype. */
static char *elements_of(const struct shell_side *side, const struct shell_reduction *reduction)
{
    return (char *)side->memory->bytes - reduction->layout.lower;
}

int shell_reduction_packs(const struct shell_side *side, const struct shell_reduction *reduction, colltopo_call *call)
{
    const size_t bytes = reduction->input_count * call->element_size;
    char *const whole = shell_lend(side->memory, bytes);
    const void *const from = reduction->in_place ? reduction->output : reduction->input;

    if (whole == NULL) {
        return side->no_memory;
    }
    memset(whole, 0, bytes); /* gaps are sent along, and nobody's old data with them */
    call->input = reduction->receives ? NULL : whole;
    call->output = reduction->receives ? whole : NULL;
    return reduction->copy(side->owner, reduction->operation, from, elements_of(side, reduction),
                           reduction->input_count);
}

int shell_reduction_unpacks(const struct shell_side *side, const struct shell_reduction *reduction)
{
    if (reduction->output_count == 0) {
        return COLLTOPO_SUCCESS;
    }
    return reduction->copy(side->owner, reduction->operation, elements_of(side, reduction), reduction->output,
                           reduction->output_count);
}

int shell_reduction_with_gaps(const struct shell_side *side, const struct shell_reduction *reduction,
                              colltopo_call *call)
{
    int status = shell_reduction_packs(side, reduction, call);

    if (status == COLLTOPO_SUCCESS) {
        status = side->run(side->owner, reduction->collective, call);
    }
    if (status == COLLTOPO_SUCCESS) {
        status = shell_reduction_unpacks(side, reduction);
    }
    shell_take_back(side->memory, *side->abandoned);
    return status;
}

const char *shell_failure(char *line, size_t size)
{
    const char *why = colltopo_last_error();

    (void)snprintf(line, size,
                   "a collective failed on this rank: %s; it returns MPI_ERR_INTERN, and other ranks may wait",
                   strcmp(why, "std::bad_alloc") == 0 ? "out of memory" : why);
    return line;
}

unsigned long long shell_architecture(void)
{
    const unsigned order = 0x01020304;
    const struct {
        char before;
        long double value;
    } aligned = {0};
    unsigned char bytes[sizeof(order)];
    const size_t sizes[] = {sizeof(int),         sizeof(long),    sizeof(void *), sizeof(_Bool),
                            sizeof(long double), sizeof(aligned), sizeof(wchar_t)};
    unsigned long long number = 0;

    memcpy(bytes, &order, sizeof(order));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        number = number * 37 + sizes[i];
    }
    return number * 5 + bytes[0];
}
