/* Calls that Open MPI's own components are known to do wrong, by release, and how one that is left to them is mended.
 *
 * Whether a rank's two datatypes differ, which is what shows this defect, is its own affair, so ranks could not agree
 * to keep such calls without a message. But a rank can mend its own: what travels is the same. docs/open-mpi.md has the
 * table in words, tests/mpi/stock_defects.sh the proof. */
#include "ompi_config.h"

#include "coll_topo.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/datatype/ompi_datatype.h"
#include "opal/util/output.h"

typedef struct mca_coll_topo_defect_t {
    int first_release, last_release; /* 40199: the last of 4.1 */
    const char *component;           /* of the alltoall */
    int ranks, most_ranks;
    size_t bytes, most_bytes; /* of a block */
} mca_coll_topo_defect_t;

/* The modified Bruck of 4.1's alltoall packs what it has received by the send type (open-mpi/ompi pull request 10488,
 * in 5.0). Which release of 4.1 has the correction, if any, is not known here, so none is trusted. These are the sizes
 * for which tuned's fixed decision takes that algorithm. */
#define MCA_COLL_TOPO_BRUCK(ranks, most_ranks, bytes, most_bytes)   \
    {                                                               \
        40100, 40199, "tuned", ranks, most_ranks, bytes, most_bytes \
    }

static const mca_coll_topo_defect_t mca_coll_topo_defects[] = {
    MCA_COLL_TOPO_BRUCK(16, 31, 4, 511),      MCA_COLL_TOPO_BRUCK(32, 63, 1, 511),
    MCA_COLL_TOPO_BRUCK(64, 511, 1, 1023),    MCA_COLL_TOPO_BRUCK(512, 2047, 1, 511),
    MCA_COLL_TOPO_BRUCK(2048, 4095, 1, 1023), MCA_COLL_TOPO_BRUCK(4096, INT32_MAX, 1, 2047),
};

/* Of the library that runs, which need not be the one that was compiled against. */
static int mca_coll_topo_release(void)
{
    static int found = -1; /* equal whoever finds it first */

    if (found < 0) {
        char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0, major = 0, minor = 0, release = 0;
        (void) PMPI_Get_library_version(version, &length);
        const bool known = 3 == sscanf(version, "Open MPI v%d.%d.%d", &major, &minor, &release);
        found = known ? (major * 100 + minor) * 100 + release : 0;
    }
    return found;
}

/* Open MPI does not say which component a module belongs to, but classes are named after theirs. */
static bool mca_coll_topo_is_of(const mca_coll_base_module_t *module, const char *component)
{
    const char *name = ((const opal_object_t *) module)->obj_class->cls_name;
    const size_t length = strlen("mca_coll_");

    return 0 == strncmp(name, "mca_coll_", length) && 0 == strncmp(name + length, component, strlen(component))
           && '_' == name[length + strlen(component)];
}

/* Of any number of ranks there is one at most. */
static const mca_coll_topo_defect_t *mca_coll_topo_defect_of(const mca_coll_topo_module_t *module)
{
    const int release = mca_coll_topo_release();
    const mca_coll_base_module_t *previous = module->previous.alltoall_module;

    for (size_t i = 0; i < sizeof(mca_coll_topo_defects) / sizeof(mca_coll_topo_defects[0]); ++i) {
        const mca_coll_topo_defect_t *defect = &mca_coll_topo_defects[i];
        if (defect->first_release <= release && release <= defect->last_release && defect->ranks <= module->ranks
            && module->ranks <= defect->most_ranks && NULL != previous
            && mca_coll_topo_is_of(previous, defect->component)) {
            return defect;
        }
    }
    return NULL;
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
        if (NULL != below[i] && mca_coll_topo_is_of(below[i], "han")) {
            return true;
        }
    }
    return false;
}

void mca_coll_topo_find_defects(mca_coll_topo_module_t *module)
{
    const mca_coll_topo_defect_t *defect = mca_coll_topo_defect_of(module);

    if (NULL != defect) {
        module->mended = (mca_coll_topo_mended_t){defect->bytes, defect->most_bytes - defect->bytes + 1};
    }
}

void mca_coll_topo_say_defects(const mca_coll_topo_module_t *module)
{
    const mca_coll_topo_defect_t *defect = mca_coll_topo_defect_of(module);

    if (NULL != defect) {
        opal_output(0,
                    "coll/topo: alltoall of %zu to %zu bytes on %d ranks: %s of this Open MPI gives wrong data where "
                    "send and receive datatypes differ; where such a call is left to it, the input is first laid out "
                    "as the output is",
                    defect->bytes, defect->most_bytes, module->ranks, defect->component);
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
