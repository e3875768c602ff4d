/* MPI's v and w calls that do not block: what they say of sizes, places and datatypes is noted when they are made, and
 * nothing of it is looked at in the user's arrays again. */
#include "ompi_config.h"

#include "coll_topo_functions.h"
#include "coll_topo_requests.h"

#include <stdlib.h>

#include "uneven.h"

/* A side as it was given. */
typedef struct mca_coll_topo_noted_t {
    const void *buf;
    ptrdiff_t *displs;        /* [block] bytes from the buffer to the block's first element */
    size_t *bytes;            /* [block] */
    ompi_datatype_t *dtype;   /* NULL: `dtypes` */
    ompi_datatype_t **dtypes; /* [block] */
} mca_coll_topo_noted_t;

struct mca_coll_topo_uneven_t {
    struct shell_uneven move;
    struct shell_packing packing;
    colltopo_blocks places;
    mca_coll_topo_noted_t input, output;
    size_t kept; /* datatypes held, of `types` */
    ompi_datatype_t **types;
    size_t *bytes[2], *at[2]; /* of input and output, [block] */
};

/* What MPI says of a side: blocks of sizes of their own, or the rank's own block alone. */
typedef struct mca_coll_topo_given_t {
    const void *buf;
    size_t blocks; /* 0: this rank does not have it, or it lies in the other one */
    bool single;
    size_t count; /* of a single block */
    mca_coll_topo_counts_t counts;
    mca_coll_topo_displs_t displs; /* in extents; in bytes with `dtypes` */
    ompi_datatype_t *dtype;
    ompi_datatype_t *const *dtypes;
} mca_coll_topo_given_t;

static inline ompi_datatype_t *mca_coll_topo_dtype_of(const mca_coll_topo_noted_t *noted, size_t block)
{
    return NULL == noted->dtype ? noted->dtypes[block] : noted->dtype;
}

static int mca_coll_topo_convert_noted(const struct shell_blocks *side, size_t block, char *packed, bool packing)
{
    const mca_coll_topo_noted_t *noted = (const mca_coll_topo_noted_t *) side->known;
    const ompi_datatype_t *dtype = mca_coll_topo_dtype_of(noted, block);

    return mca_coll_topo_convert(dtype, noted->bytes[block] / dtype->super.size,
                                 (const char *) noted->buf + noted->displs[block], packed, packing);
}

static int mca_coll_topo_pack_noted(void *owner, const struct shell_blocks *side, size_t block, char *packed)
{
    (void) owner;
    return mca_coll_topo_convert_noted(side, block, packed, true);
}

static int mca_coll_topo_unpack_noted(void *owner, const struct shell_blocks *side, size_t block, char *packed)
{
    (void) owner;
    return mca_coll_topo_convert_noted(side, block, packed, false);
}

/* Users may free their handles at once. */
static void mca_coll_topo_hold_type(mca_coll_topo_uneven_t *uneven, ompi_datatype_t *dtype)
{
    if (!ompi_datatype_is_predefined(dtype)) {
        OBJ_RETAIN(dtype);
        uneven->types[uneven->kept++] = dtype;
    }
}

static void mca_coll_topo_note_side(mca_coll_topo_uneven_t *uneven, const mca_coll_topo_given_t *given, int which,
                                    mca_coll_topo_noted_t *noted, struct shell_blocks *side)
{
    size_t *const bytes = uneven->bytes[which], *const at = uneven->at[which];
    bool dense = true;

    noted->buf = given->buf;
    noted->bytes = bytes;
    noted->dtype = NULL == given->dtypes ? given->dtype : NULL;
    if (NULL == given->dtypes && 0 != given->blocks) {
        mca_coll_topo_hold_type(uneven, given->dtype);
    }
    for (size_t i = 0; i < given->blocks; ++i) {
        ompi_datatype_t *const dtype = NULL == given->dtypes ? given->dtype : given->dtypes[i];
        const size_t elements = given->single ? given->count : (size_t) mca_coll_topo_count_at(given->counts, i);
        const ptrdiff_t unit = NULL == given->dtypes ? dtype->super.ub - dtype->super.lb : 1;
        if (NULL != given->dtypes) {
            noted->dtypes[i] = dtype;
            mca_coll_topo_hold_type(uneven, dtype);
        }
        noted->displs[i] = given->single ? 0 : (ptrdiff_t) mca_coll_topo_displ_at(given->displs, i) * unit;
        bytes[i] = elements * dtype->super.size;
        at[i] = (size_t) (noted->displs[i] + dtype->super.true_lb);
        dense =
            dense && (0 == bytes[i] || 0 != ompi_datatype_is_contiguous_memory_layout(dtype, 1 == elements ? 1 : 2));
    }
    *side = (struct shell_blocks){given->buf, given->blocks, bytes, at, dense, noted};
}

/* All arrays in one piece of memory. */
static mca_coll_topo_uneven_t *mca_coll_topo_new_uneven(size_t ranks)
{
    const size_t numbers = 6 * ranks * sizeof(size_t), types = 4 * ranks * sizeof(ompi_datatype_t *);
    mca_coll_topo_uneven_t *const uneven = malloc(sizeof(*uneven) + numbers + types);
    size_t *number;

    if (NULL == uneven) {
        return NULL;
    }
    memset(uneven, 0, sizeof(*uneven));
    number = (size_t *) (uneven + 1);
    for (int which = 0; which < 2; ++which) {
        uneven->bytes[which] = number;
        uneven->at[which] = number + ranks;
        (0 == which ? &uneven->input : &uneven->output)->displs = (ptrdiff_t *) (number + 2 * ranks);
        number += 3 * ranks;
    }
    uneven->types = (ompi_datatype_t **) number; /* held, then as given */
    uneven->input.dtypes = uneven->types + 2 * ranks;
    uneven->output.dtypes = uneven->types + 3 * ranks;
    return uneven;
}

void mca_coll_topo_drop_uneven(mca_coll_topo_request_t *request)
{
    mca_coll_topo_uneven_t *const uneven = request->uneven;

    if (NULL == uneven) {
        return;
    }
    for (size_t i = 0; i < uneven->kept; ++i) {
        OBJ_RELEASE(uneven->types[i]);
    }
    free(uneven);
    request->uneven = NULL;
}

/* `bytes`: 0 where all ranks know that there is nothing to do. */
static int mca_coll_topo_describe_uneven(mca_coll_topo_request_t *request, int collective,
                                         const mca_coll_topo_given_t *input, const mca_coll_topo_given_t *output,
                                         bool in_place, int root, size_t bytes)
{
    mca_coll_topo_asked_t *asked = &request->asked;
    mca_coll_topo_uneven_t *uneven;

    asked->is_reduction = false;
    asked->bytes = bytes;
    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    request->uneven = uneven = mca_coll_topo_new_uneven((size_t) request->topo->ranks);
    if (NULL == uneven) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    uneven->move = (struct shell_uneven){.collective = collective,
                                         .in_place = in_place,
                                         .own = (size_t) request->topo->rank,
                                         .pack = mca_coll_topo_pack_noted,
                                         .unpack = mca_coll_topo_unpack_noted};
    mca_coll_topo_note_side(uneven, input, 0, &uneven->input, &uneven->move.input);
    mca_coll_topo_note_side(uneven, output, 1, &uneven->output, &uneven->move.output);
    asked->call = (colltopo_call){.root = root};
    if (!shell_uneven_begins(&uneven->move, &uneven->places, &asked->call)) {
        /* Where blocks lie in the user's buffers matters to packing alone, which has noted that. */
        shell_uneven_lays_out(&uneven->move, uneven->at[0], uneven->at[1], &uneven->packing, &uneven->places);
    }
    return OMPI_SUCCESS;
}

int mca_coll_topo_pack_uneven(mca_coll_topo_request_t *request, const struct shell_side *side)
{
    mca_coll_topo_uneven_t *const uneven = request->uneven;
    char *packed;

    request->is_packed = uneven->packing.input || uneven->packing.output;
    if (!request->is_packed) {
        return OMPI_SUCCESS;
    }
    packed = shell_lend(side->memory, uneven->packing.bytes + 1); /* of which there may be none */
    return NULL == packed ? side->no_memory
                          : shell_uneven_packs(side, &uneven->move, &uneven->packing, packed, &request->asked.call);
}

int mca_coll_topo_unpack_uneven(mca_coll_topo_request_t *request, const struct shell_side *side)
{
    return shell_uneven_unpacks(side, &request->uneven->move, &request->uneven->packing, (char *) side->memory->bytes);
}

static mca_coll_topo_given_t mca_coll_topo_given_blocks(const mca_coll_topo_request_t *request, const void *buf,
                                                        mca_coll_topo_counts_t counts, mca_coll_topo_displs_t displs,
                                                        ompi_datatype_t *dtype, ompi_datatype_t *const *dtypes)
{
    return (mca_coll_topo_given_t){.buf = buf,
                                   .blocks = (size_t) request->topo->ranks,
                                   .counts = counts,
                                   .displs = displs,
                                   .dtype = dtype,
                                   .dtypes = dtypes};
}

static mca_coll_topo_given_t mca_coll_topo_given_block(const void *buf, size_t count, ompi_datatype_t *dtype)
{
    return (mca_coll_topo_given_t){.buf = buf, .blocks = 1, .single = true, .count = count, .dtype = dtype};
}

static const mca_coll_topo_given_t mca_coll_topo_no_blocks;

static int mca_coll_topo_describe_exchange_of_blocks(mca_coll_topo_request_t *request,
                                                     const mca_coll_topo_arguments_t *a, int collective)
{
    const bool in_place = MPI_IN_PLACE == a->sbuf;
    const mca_coll_topo_given_t input =
        mca_coll_topo_given_blocks(request, a->sbuf, a->scounts, a->sdispls, a->sdtype, a->sdtypes);
    const mca_coll_topo_given_t output =
        mca_coll_topo_given_blocks(request, a->rbuf, a->rcounts, a->rdispls, a->rdtype, a->rdtypes);

    return mca_coll_topo_describe_uneven(request, collective, in_place ? &mca_coll_topo_no_blocks : &input, &output,
                                         in_place, 0, 1);
}

static int mca_coll_topo_describe_alltoallv(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_exchange_of_blocks(request, a, COLLTOPO_ALLTOALLV);
}

static int mca_coll_topo_describe_alltoallw(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_exchange_of_blocks(request, a, COLLTOPO_ALLTOALLW);
}

static int mca_coll_topo_describe_allgatherv(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    const bool in_place = MPI_IN_PLACE == a->sbuf;
    const mca_coll_topo_given_t input = mca_coll_topo_given_block(a->sbuf, a->scount, a->sdtype);
    const mca_coll_topo_given_t output =
        mca_coll_topo_given_blocks(request, a->rbuf, a->rcounts, a->rdispls, a->rdtype, NULL);
    size_t elements = 0;

    for (int rank = 0; rank < request->topo->ranks; ++rank) {
        elements += (size_t) mca_coll_topo_count_at(a->rcounts, rank);
    }
    /* Wrong by the standard, as in an exchange. */
    if (!in_place
        && mca_coll_topo_bytes(a->sdtype, a->scount)
               != mca_coll_topo_bytes(a->rdtype, (size_t) mca_coll_topo_count_at(a->rcounts, request->topo->rank))) {
        return COLLTOPO_DECLINED;
    }
    return mca_coll_topo_describe_uneven(request, COLLTOPO_ALLGATHERV, in_place ? &mca_coll_topo_no_blocks : &input,
                                         &output, in_place, 0, mca_coll_topo_bytes(a->rdtype, elements));
}

static int mca_coll_topo_describe_gatherv(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    const bool is_root = a->root == request->topo->rank, in_place = is_root && MPI_IN_PLACE == a->sbuf;
    const mca_coll_topo_given_t block = mca_coll_topo_given_block(a->sbuf, a->scount, a->sdtype);
    const mca_coll_topo_given_t blocks =
        mca_coll_topo_given_blocks(request, a->rbuf, a->rcounts, a->rdispls, a->rdtype, NULL);

    return mca_coll_topo_describe_uneven(request, COLLTOPO_GATHERV, in_place ? &mca_coll_topo_no_blocks : &block,
                                         is_root ? &blocks : &mca_coll_topo_no_blocks, in_place, a->root, 1);
}

static int mca_coll_topo_describe_scatterv(mca_coll_topo_request_t *request, const mca_coll_topo_arguments_t *a)
{
    const bool is_root = a->root == request->topo->rank, in_place = is_root && MPI_IN_PLACE == a->rbuf;
    const mca_coll_topo_given_t blocks =
        mca_coll_topo_given_blocks(request, a->sbuf, a->scounts, a->sdispls, a->sdtype, NULL);
    const mca_coll_topo_given_t block = mca_coll_topo_given_block(a->rbuf, a->rcount, a->rdtype);

    return mca_coll_topo_describe_uneven(request, COLLTOPO_SCATTERV, is_root ? &blocks : &mca_coll_topo_no_blocks,
                                         in_place ? &mca_coll_topo_no_blocks : &block, in_place, a->root, 1);
}

MCA_COLL_TOPO_FUNCTION(allgatherv, COLLTOPO_ALLGATHERV,
                       (.sbuf = sbuf, .scount = (size_t) scount, .sdtype = sdtype, .rbuf = rbuf, .rcounts = rcounts,
                        .rdispls = displs, .rdtype = rdtype),
                       (const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                        mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs, ompi_datatype_t *rdtype),
                       (a->sbuf, (mca_coll_topo_count_t) a->scount, a->sdtype, a->rbuf, a->rcounts, a->rdispls,
                        a->rdtype))
MCA_COLL_TOPO_FUNCTION(gatherv, COLLTOPO_GATHERV,
                       (.sbuf = sbuf, .scount = (size_t) scount, .sdtype = sdtype, .rbuf = rbuf, .rcounts = rcounts,
                        .rdispls = displs, .rdtype = rdtype, .root = root),
                       (const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                        mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs, ompi_datatype_t *rdtype,
                        int root),
                       (a->sbuf, (mca_coll_topo_count_t) a->scount, a->sdtype, a->rbuf, a->rcounts, a->rdispls,
                        a->rdtype, a->root))
MCA_COLL_TOPO_FUNCTION(scatterv, COLLTOPO_SCATTERV,
                       (.sbuf = sbuf, .scounts = scounts, .sdispls = displs, .sdtype = sdtype, .rbuf = rbuf,
                        .rcount = (size_t) rcount, .rdtype = rdtype, .root = root),
                       (const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t displs,
                        ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype,
                        int root),
                       (a->sbuf, a->scounts, a->sdispls, a->sdtype, a->rbuf, (mca_coll_topo_count_t) a->rcount,
                        a->rdtype, a->root))
MCA_COLL_TOPO_FUNCTION(alltoallv, COLLTOPO_ALLTOALLV,
                       (.sbuf = sbuf, .scounts = scounts, .sdispls = sdispls, .sdtype = sdtype, .rbuf = rbuf,
                        .rcounts = rcounts, .rdispls = rdispls, .rdtype = rdtype),
                       (const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t sdispls,
                        ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_counts_t rcounts,
                        mca_coll_topo_displs_t rdispls, ompi_datatype_t *rdtype),
                       (a->sbuf, a->scounts, a->sdispls, a->sdtype, a->rbuf, a->rcounts, a->rdispls, a->rdtype))
MCA_COLL_TOPO_FUNCTION(alltoallw, COLLTOPO_ALLTOALLW,
                       (.sbuf = sbuf, .scounts = scounts, .sdispls = sdispls, .sdtypes = sdtypes, .rbuf = rbuf,
                        .rcounts = rcounts, .rdispls = rdispls, .rdtypes = rdtypes),
                       (const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t sdispls,
                        struct ompi_datatype_t *const *sdtypes, void *rbuf, mca_coll_topo_counts_t rcounts,
                        mca_coll_topo_displs_t rdispls, struct ompi_datatype_t *const *rdtypes),
                       (a->sbuf, a->scounts, a->sdispls, a->sdtypes, a->rbuf, a->rcounts, a->rdispls, a->rdtypes))

/* With an accelerator they stay with the former functions, as the blocking ones do. */
void mca_coll_topo_offer_uneven_requests(mca_coll_base_module_t *module)
{
    if (NULL != mca_coll_topo_device()) {
        return;
    }
#define MCA_COLL_TOPO_OFFER(name) module->coll_##name = mca_coll_topo_##name;
    MCA_COLL_TOPO_EACH_UNEVEN_REQUEST(MCA_COLL_TOPO_OFFER)
#undef MCA_COLL_TOPO_OFFER
}
