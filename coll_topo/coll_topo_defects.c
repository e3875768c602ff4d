/* Calls that Open MPI's own components are known to do wrong, by release, and how one that is left to them is mended.
 *
 * How a rank describes its data, which is what shows these defects, is its own affair, so ranks could not agree to keep
 * such calls without a message. But a rank can mend its own: what travels is the same. docs/open-mpi.md has the table
 * in words, tests/mpi/stock_defects.sh the proof. */
#include "ompi_config.h"

#include "coll_topo.h"
#include "release_defects.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/datatype/ompi_datatype.h"
#include "opal/util/output.h"

/* Of the library that runs, which need not be the one that was compiled against. */
static int mca_coll_topo_release(void)
{
    static int found = -1; /* equal whoever finds it first */

    if (found < 0) {
        char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        (void) PMPI_Get_library_version(version, &length);
        found = shell_open_mpi_release(version);
    }
    return found;
}

static bool mca_coll_topo_is_of(const ompi_communicator_t *comm, const mca_coll_base_module_t *module,
                                const char *component)
{
    const char *name = mca_coll_topo_component_of(comm, module);

    return NULL != name && 0 == strcmp(name, component);
}

static const struct shell_defect *mca_coll_topo_defect_of(const mca_coll_topo_module_t *module)
{
    const mca_coll_base_module_t *previous = module->previous.alltoall_module;

    return mca_coll_topo_is_of(module->comm, previous, "tuned")
               ? shell_alltoall_defect(mca_coll_topo_release(), module->ranks)
               : NULL;
}

/* Where nodes have one rank or not all as many, han of 4.1 withdraws at a communicator's first call, and then calls
 * whoever holds the communicator: with coll/topo above it that is han again, for ever; and its barrier runs with the
 * module of bcast. Later releases call whom han was put above. */
bool mca_coll_topo_cannot_be_above(const ompi_communicator_t *comm)
{
    const mca_coll_base_module_t *below[] = {comm->c_coll->coll_allgather_module, comm->c_coll->coll_allreduce_module,
                                             comm->c_coll->coll_barrier_module, comm->c_coll->coll_bcast_module};
    const int release = mca_coll_topo_release();

    for (size_t i = 0; 40100 <= release && release <= 40199 && i < sizeof(below) / sizeof(below[0]); ++i) {
        if (mca_coll_topo_is_of(comm, below[i], "han")) {
            return true;
        }
    }
    return false;
}

void mca_coll_topo_find_defects(mca_coll_topo_module_t *module)
{
    const struct shell_defect *defect = mca_coll_topo_defect_of(module);

    if (NULL != defect) {
        module->mended = (mca_coll_topo_mended_t){defect->bytes, defect->most_bytes - defect->bytes + 1};
    }
}

void mca_coll_topo_say_defects(const mca_coll_topo_module_t *module)
{
    const struct shell_defect *defect = mca_coll_topo_defect_of(module);

    if (NULL != defect) {
        opal_output(
            0,
            "coll/topo: alltoall of %zu to %zu bytes on %d ranks: tuned of this Open MPI gives wrong data where "
            "send and receive datatypes differ; where such a call is left to it, the input is first laid out "
            "as the output is",
            defect->bytes, defect->most_bytes, module->ranks);
    }
}

int mca_coll_topo_mend_alltoall(mca_coll_topo_module_t *topo, const void *sbuf, mca_coll_topo_count_t scount,
                                ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_count_t rcount,
                                ompi_datatype_t *rdtype, ompi_communicator_t *comm)
{
    const size_t sent = (size_t) topo->ranks * (size_t) scount, received = (size_t) topo->ranks * (size_t) rcount;
    ptrdiff_t gap;
    char *memory = malloc((size_t) opal_datatype_span(&rdtype->super, received, &gap));

    if (NULL == memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    /* Blocks are small enough for these counts. */
    int rc = ompi_datatype_sndrcv(sbuf, (int32_t) sent, sdtype, memory - gap, (int32_t) received, rdtype);
    if (OMPI_SUCCESS == rc) {
        rc = topo->previous.alltoall(memory - gap, rcount, rdtype, rbuf, rcount, rdtype, comm,
                                     topo->previous.alltoall_module);
    }
    free(memory);
    return rc;
}

/* tuned chooses by the size of the send type times the receive counts. */
int mca_coll_topo_mend_allgatherv(mca_coll_topo_module_t *topo, const void *sbuf, mca_coll_topo_count_t scount,
                                  ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_counts_t rcounts,
                                  mca_coll_topo_displs_t displs, ompi_datatype_t *rdtype, ompi_communicator_t *comm)
{
    const mca_coll_topo_count_t received = (mca_coll_topo_count_t) mca_coll_topo_count_at(rcounts, topo->rank);
    char *own =
        shell_at(rbuf, (ptrdiff_t) mca_coll_topo_displ_at(displs, topo->rank) * (rdtype->super.ub - rdtype->super.lb));
    const int rc = ompi_datatype_sndrcv(sbuf, scount, sdtype, own, received, rdtype);

    /* Not as MPI_IN_PLACE: for that some look where the block would lie without gaps between blocks. */
    return OMPI_SUCCESS != rc ? rc
                              : topo->previous.allgatherv(own, received, rdtype, rbuf, rcounts, displs, rdtype, comm,
                                                          topo->previous.allgatherv_module);
}

/* In the binomial tree an inner rank gathers its children's blocks behind its own by its own datatype, where elements
 * of an extent below their true extent come to lie on each other. */
int mca_coll_topo_mend_gather(mca_coll_topo_module_t *topo, const void *sbuf, mca_coll_topo_count_t scount,
                              ompi_datatype_t *sdtype, void *rbuf, mca_coll_topo_count_t rcount,
                              ompi_datatype_t *rdtype, int root, ompi_communicator_t *comm)
{
    const size_t bytes = sdtype->super.size * (size_t) scount;
    char *packed = malloc(bytes);
    int rc;

    if (NULL == packed) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = mca_coll_topo_convert(sdtype, (size_t) scount, sbuf, packed, true);
    if (OMPI_SUCCESS == rc) {
        rc = topo->previous.gather(packed, (mca_coll_topo_count_t) bytes, MPI_BYTE, rbuf, rcount, rdtype, root, comm,
                                   topo->previous.gather_module);
    }
    free(packed);
    return rc;
}

/* The rings of coll/base, which tuned takes for large vectors, reduce in memory that begins at the first byte of an
 * element, and use it as if it began at the datatype's address. MPI asks for the same datatype on all ranks, so all
 * come here. */
int mca_coll_topo_mend_allreduce(mca_coll_topo_module_t *topo, const void *sbuf, void *rbuf,
                                 mca_coll_topo_count_t count, ompi_datatype_t *dtype, ompi_op_t *op,
                                 ompi_communicator_t *comm)
{
    const int root = 0;
    const bool is_root = root == topo->rank;
    const void *input = MPI_IN_PLACE == sbuf && !is_root ? rbuf : sbuf;
    const int rc =
        topo->previous.reduce(input, is_root ? rbuf : NULL, count, dtype, op, root, comm, topo->previous.reduce_module);

    return OMPI_SUCCESS != rc ? rc : topo->previous.bcast(rbuf, count, dtype, root, comm, topo->previous.bcast_module);
}

int mca_coll_topo_no_counts(const mca_coll_topo_module_t *topo, mca_coll_topo_no_counts_t *none)
{
    none->memory = calloc((size_t) topo->ranks, sizeof(size_t));
    if (NULL == none->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    MCA_COLL_TOPO_COUNTS_OF_INTS(&none->counts, none->memory);
    return OMPI_SUCCESS;
}
