/* MPI's neighbourhood calls that do not block, and persistent ones. */
#include "ompi_config.h"

#include "coll_topo_functions.h"
#include "coll_topo_uneven_requests.h"

/* libnbc takes what comes from one rank in the order in which it is listed, but on a grid what a rank sends back comes
 * in from behind (MPI 4.0, 8.6): where a rank's neighbours on both sides are one, its blocks change places or are
 * truncated. Seen in 4.1.4, and not known to be corrected. */
static int mca_coll_topo_describe_neighbors(mca_coll_topo_request_t *request, mca_coll_topo_vector_t input,
                                            mca_coll_topo_vector_t output)
{
    const mca_coll_topo_neighbors_t *neighbors = mca_coll_topo_neighbors(request->topo);
    int rc;

    if (NULL == neighbors) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    input.edges = &neighbors->to;
    output.edges = &neighbors->from;
    rc = mca_coll_topo_describe_uneven(request, &input, &output, false, 0, 1);
    request->asked.call.previous_is_wrong = neighbors->crosses;
    return rc;
}

static mca_coll_topo_vector_t mca_coll_topo_items(const void *buf, mca_coll_topo_items_t kind, size_t count,
                                                  ompi_datatype_t *dtype)
{
    return (mca_coll_topo_vector_t){.buf = buf, .kind = kind, .count = count, .dtype = dtype};
}

static int mca_coll_topo_describe_neighbor_allgather(mca_coll_topo_request_t *request,
                                                     const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_neighbors(request,
                                            mca_coll_topo_items(a->sbuf, MCA_COLL_TOPO_THE_SAME, a->scount, a->sdtype),
                                            mca_coll_topo_items(a->rbuf, MCA_COLL_TOPO_IN_A_ROW, a->rcount, a->rdtype));
}

static int mca_coll_topo_describe_neighbor_allgatherv(mca_coll_topo_request_t *request,
                                                      const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_neighbors(
        request, mca_coll_topo_items(a->sbuf, MCA_COLL_TOPO_THE_SAME, a->scount, a->sdtype),
        (mca_coll_topo_vector_t){.buf = a->rbuf, .counts = a->rcounts, .displs = a->rdispls, .dtype = a->rdtype});
}

static int mca_coll_topo_describe_neighbor_alltoall(mca_coll_topo_request_t *request,
                                                    const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_neighbors(request,
                                            mca_coll_topo_items(a->sbuf, MCA_COLL_TOPO_IN_A_ROW, a->scount, a->sdtype),
                                            mca_coll_topo_items(a->rbuf, MCA_COLL_TOPO_IN_A_ROW, a->rcount, a->rdtype));
}

static int mca_coll_topo_describe_neighbor_alltoallv(mca_coll_topo_request_t *request,
                                                     const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_neighbors(
        request,
        (mca_coll_topo_vector_t){.buf = a->sbuf, .counts = a->scounts, .displs = a->sdispls, .dtype = a->sdtype},
        (mca_coll_topo_vector_t){.buf = a->rbuf, .counts = a->rcounts, .displs = a->rdispls, .dtype = a->rdtype});
}

static int mca_coll_topo_describe_neighbor_alltoallw(mca_coll_topo_request_t *request,
                                                     const mca_coll_topo_arguments_t *a)
{
    return mca_coll_topo_describe_neighbors(
        request,
        (mca_coll_topo_vector_t){.buf = a->sbuf, .counts = a->scounts, .byte_displs = a->sbytes, .dtypes = a->sdtypes},
        (mca_coll_topo_vector_t){.buf = a->rbuf, .counts = a->rcounts, .byte_displs = a->rbytes, .dtypes = a->rdtypes});
}

MCA_COLL_TOPO_EXCHANGE(neighbor_allgather, COLLTOPO_NEIGHBORHOOD)
MCA_COLL_TOPO_EXCHANGE(neighbor_alltoall, COLLTOPO_NEIGHBORHOOD)
MCA_COLL_TOPO_SPREAD(neighbor_allgatherv, COLLTOPO_NEIGHBORHOOD)
MCA_COLL_TOPO_EXCHANGE_V(neighbor_alltoallv, COLLTOPO_NEIGHBORHOOD)
MCA_COLL_TOPO_FUNCTION(neighbor_alltoallw, COLLTOPO_NEIGHBORHOOD,
                       (.sbuf = sbuf, .scounts = scounts, .sbytes = sdispls, .sdtypes = sdtypes, .rbuf = rbuf,
                        .rcounts = rcounts, .rbytes = rdispls, .rdtypes = rdtypes),
                       (const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_byte_displs_t sdispls,
                        ompi_datatype_t *const *sdtypes, void *rbuf, mca_coll_topo_counts_t rcounts,
                        mca_coll_topo_byte_displs_t rdispls, ompi_datatype_t *const *rdtypes),
                       (a->sbuf, a->scounts, a->sbytes, a->sdtypes, a->rbuf, a->rcounts, a->rbytes, a->rdtypes))

void mca_coll_topo_offer_neighbor_requests(mca_coll_base_module_t *module)
{
#define MCA_COLL_TOPO_OFFER(name) module->coll_##name = mca_coll_topo_##name;
    MCA_COLL_TOPO_EACH_NEIGHBOR_REQUEST(MCA_COLL_TOPO_OFFER)
#undef MCA_COLL_TOPO_OFFER
}
