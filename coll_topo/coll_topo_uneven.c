/* MPI's v and w calls: blocks of sizes of their own.
 *
 * Sizes that only two ranks know decide nothing, so a collective that was declined on a communicator stays declined,
 * and a rank that has nothing to send takes part like any other. */
#include "ompi_config.h"

#include "coll_topo_blocks.h"

#include <stdlib.h>

/* Open MPI's own gathers and then broadcasts on small communicators, by this component again, and forgets what the
 * broadcast gave. */
static int mca_coll_topo_leave_allgatherv(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype,
                                          void *rbuf, mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs,
                                          ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                                          mca_coll_topo_module_t *topo)
{
    int rc;

    topo->failed = OMPI_SUCCESS;
    if (MPI_IN_PLACE != sbuf && OPAL_UNLIKELY(sdtype->super.size != rdtype->super.size)
        && (size_t) scount * sdtype->super.size
               == (size_t) mca_coll_topo_count_at(rcounts, topo->rank) * rdtype->super.size) {
        rc = mca_coll_topo_came_back(
            topo, COLLTOPO_ALLGATHERV,
            mca_coll_topo_mend_allgatherv(topo, sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype, comm));
    } else {
        rc = MCA_COLL_TOPO_FALL_BACK(allgatherv, sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype);
    }
    return OMPI_SUCCESS == rc ? topo->failed : rc;
}

int mca_coll_topo_allgatherv(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                             mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs, ompi_datatype_t *rdtype,
                             ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    const bool in_place = MPI_IN_PLACE == sbuf;
    const mca_coll_topo_vector_t input = {
        .buf = sbuf, .kind = MCA_COLL_TOPO_SINGLE, .count = in_place ? 0 : (size_t) scount, .dtype = sdtype};
    const mca_coll_topo_vector_t output = {.buf = rbuf, .counts = rcounts, .displs = displs, .dtype = rdtype};
    size_t bytes = 0;
    int rc = COLLTOPO_DECLINED;

    for (int rank = 0; rank < topo->ranks; ++rank) {
        bytes += (size_t) mca_coll_topo_count_at(rcounts, rank) * rdtype->super.size;
    }
    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    if (!mca_coll_topo_was_declined(topo, COLLTOPO_ALLGATHERV, bytes, 0, 0, 0, sbuf)) {
        /* A rank that sends more or less than the others expect is wrong by the standard, as in an exchange. */
        const bool fits = in_place
                          || mca_coll_topo_bytes(sdtype, (size_t) scount)
                                 == mca_coll_topo_bytes(rdtype, (size_t) mca_coll_topo_count_at(rcounts, topo->rank));
        rc = fits ? mca_coll_topo_serve_uneven(topo, COLLTOPO_ALLGATHERV, in_place ? NULL : &input, &output, in_place,
                                               0, bytes)
                  : mca_coll_topo_decline_alone(topo, COLLTOPO_ALLGATHERV);
    }
    return COLLTOPO_DECLINED == rc
               ? mca_coll_topo_leave_allgatherv(sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype, comm, topo)
               : rc;
}

/* Both ends of a pair say alike whether they exchange anything: by counts, not by the size of a datatype. */
static int mca_coll_topo_leave_gatherv(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype,
                                       void *rbuf, mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs,
                                       ompi_datatype_t *rdtype, int root, ompi_communicator_t *comm,
                                       mca_coll_topo_module_t *topo)
{
    mca_coll_topo_no_counts_t none = {.memory = NULL};
    int rc = OMPI_SUCCESS;

    if (MPI_IN_PLACE != sbuf && 0 == sdtype->super.size) {
        scount = 0;
    }
    if (root == topo->rank && OPAL_UNLIKELY(0 == rdtype->super.size)) {
        rc = mca_coll_topo_no_counts(topo, &none);
        rcounts = none.counts;
    }
    if (OMPI_SUCCESS == rc) {
        rc = MCA_COLL_TOPO_FALL_BACK(gatherv, sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype, root);
    }
    free(none.memory);
    return rc;
}

int mca_coll_topo_gatherv(const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,
                          mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs, ompi_datatype_t *rdtype,
                          int root, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    const bool is_root = root == topo->rank, in_place = is_root && MPI_IN_PLACE == sbuf;
    const mca_coll_topo_vector_t block = {
        .buf = sbuf, .kind = MCA_COLL_TOPO_SINGLE, .count = (size_t) scount, .dtype = sdtype};
    const mca_coll_topo_vector_t blocks = {.buf = rbuf, .counts = rcounts, .displs = displs, .dtype = rdtype};
    int rc = COLLTOPO_DECLINED;

    if (!mca_coll_topo_was_declined(topo, COLLTOPO_GATHERV, 1, 0, root, 0, NULL)) {
        rc = mca_coll_topo_serve_uneven(topo, COLLTOPO_GATHERV, in_place ? NULL : &block, is_root ? &blocks : NULL,
                                        in_place, root, 1);
    }
    return COLLTOPO_DECLINED == rc
               ? mca_coll_topo_leave_gatherv(sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype, root, comm, topo)
               : rc;
}

static int mca_coll_topo_leave_scatterv(const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t displs,
                                        ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_count_t rcount,
                                        ompi_datatype_t *rdtype, int root, ompi_communicator_t *comm,
                                        mca_coll_topo_module_t *topo)
{
    mca_coll_topo_no_counts_t none = {.memory = NULL};
    int rc = OMPI_SUCCESS;

    if (MPI_IN_PLACE != rbuf && 0 == rdtype->super.size) {
        rcount = 0;
    }
    if (root == topo->rank && OPAL_UNLIKELY(0 == sdtype->super.size)) {
        rc = mca_coll_topo_no_counts(topo, &none);
        scounts = none.counts;
    }
    if (OMPI_SUCCESS == rc) {
        rc = MCA_COLL_TOPO_FALL_BACK(scatterv, sbuf, scounts, displs, sdtype, rbuf, rcount, rdtype, root);
    }
    free(none.memory);
    return rc;
}

int mca_coll_topo_scatterv(const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t displs,
                           ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype,
                           int root, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    const bool is_root = root == topo->rank, in_place = is_root && MPI_IN_PLACE == rbuf;
    const mca_coll_topo_vector_t blocks = {.buf = sbuf, .counts = scounts, .displs = displs, .dtype = sdtype};
    const mca_coll_topo_vector_t block = {
        .buf = rbuf, .kind = MCA_COLL_TOPO_SINGLE, .count = (size_t) rcount, .dtype = rdtype};
    int rc = COLLTOPO_DECLINED;

    if (!mca_coll_topo_was_declined(topo, COLLTOPO_SCATTERV, 1, 0, root, 0, NULL)) {
        rc = mca_coll_topo_serve_uneven(topo, COLLTOPO_SCATTERV, is_root ? &blocks : NULL, in_place ? NULL : &block,
                                        in_place, root, 1);
    }
    return COLLTOPO_DECLINED == rc
               ? mca_coll_topo_leave_scatterv(sbuf, scounts, displs, sdtype, rbuf, rcount, rdtype, root, comm, topo)
               : rc;
}

int mca_coll_topo_alltoallv(const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t sdispls,
                            ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_counts_t rcounts,
                            mca_coll_topo_displs_t rdispls, ompi_datatype_t *rdtype, ompi_communicator_t *comm,
                            mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    const bool in_place = MPI_IN_PLACE == sbuf;
    const mca_coll_topo_vector_t input = {.buf = sbuf, .counts = scounts, .displs = sdispls, .dtype = sdtype};
    const mca_coll_topo_vector_t output = {.buf = rbuf, .counts = rcounts, .displs = rdispls, .dtype = rdtype};
    int rc = COLLTOPO_DECLINED;

    if (!mca_coll_topo_was_declined(topo, COLLTOPO_ALLTOALLV, 1, 0, 0, 0, sbuf)) {
        rc = mca_coll_topo_serve_uneven(topo, COLLTOPO_ALLTOALLV, in_place ? NULL : &input, &output, in_place, 0, 1);
    }
    return COLLTOPO_DECLINED == rc
               ? MCA_COLL_TOPO_FALL_BACK(alltoallv, sbuf, scounts, sdispls, sdtype, rbuf, rcounts, rdispls, rdtype)
               : rc;
}

int mca_coll_topo_alltoallw(const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t sdispls,
                            struct ompi_datatype_t *const *sdtypes, void *rbuf, mca_coll_topo_counts_t rcounts,
                            mca_coll_topo_displs_t rdispls, struct ompi_datatype_t *const *rdtypes,
                            ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_topo_module_t *topo = (mca_coll_topo_module_t *) module;
    const bool in_place = MPI_IN_PLACE == sbuf;
    const mca_coll_topo_vector_t input = {.buf = sbuf, .counts = scounts, .displs = sdispls, .dtypes = sdtypes};
    const mca_coll_topo_vector_t output = {.buf = rbuf, .counts = rcounts, .displs = rdispls, .dtypes = rdtypes};
    int rc = COLLTOPO_DECLINED;

    if (!mca_coll_topo_was_declined(topo, COLLTOPO_ALLTOALLW, 1, 0, 0, 0, sbuf)) {
        rc = mca_coll_topo_serve_uneven(topo, COLLTOPO_ALLTOALLW, in_place ? NULL : &input, &output, in_place, 0, 1);
    }
    return COLLTOPO_DECLINED == rc
               ? MCA_COLL_TOPO_FALL_BACK(alltoallw, sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes)
               : rc;
}
