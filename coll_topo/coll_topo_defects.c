/* Calls that Open MPI's own components are known to do wrong, by release.
 *
 * A call may be kept from them only by what is equal on all ranks: the release, the former component, the size of the
 * communicator and the bytes. Whether a rank's two datatypes differ, which is what shows this defect, is its own
 * affair; so all calls of those sizes are kept. docs/open-mpi.md has the table in words, tests/mpi/stock_defects.sh the
 * proof. */
#include "ompi_config.h"

#include "coll_topo.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "opal/util/output.h"

typedef struct mca_coll_topo_defect_t {
    int first_release, last_release; /* 40199: the last of 4.1 */
    const char *component;
    int collective;
    int ranks, most_ranks;
    size_t bytes, most_bytes; /* of a block */
} mca_coll_topo_defect_t;

/* The modified Bruck of 4.1's alltoall packs what it has received by the send type (open-mpi/ompi pull request 10488,
 * in 5.0). Which release of 4.1 has the correction, if any, is not known here, so none is trusted. These are the sizes
 * for which tuned's fixed decision takes that algorithm. */
#define MCA_COLL_TOPO_BRUCK(ranks, most_ranks, bytes, most_bytes)                      \
    {                                                                                  \
        40100, 40199, "tuned", COLLTOPO_ALLTOALL, ranks, most_ranks, bytes, most_bytes \
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

static const mca_coll_base_module_t *mca_coll_topo_previous_module(const mca_coll_topo_module_t *module, int collective)
{
    switch (collective) {
    case COLLTOPO_ALLTOALL:
        return module->previous.alltoall_module;
    default:
        return NULL;
    }
}

static const mca_coll_topo_defect_t *mca_coll_topo_next_defect(const mca_coll_topo_module_t *module, size_t *at)
{
    const int release = mca_coll_topo_release();

    while (*at < sizeof(mca_coll_topo_defects) / sizeof(mca_coll_topo_defects[0])) {
        const mca_coll_topo_defect_t *defect = &mca_coll_topo_defects[(*at)++];
        const mca_coll_base_module_t *previous = mca_coll_topo_previous_module(module, defect->collective);
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
    const mca_coll_topo_defect_t *defect;

    for (size_t at = 0; NULL != (defect = mca_coll_topo_next_defect(module, &at));) {
        module->wrong[defect->collective] =
            (mca_coll_topo_wrong_t){defect->bytes, defect->most_bytes - defect->bytes + 1};
    }
}

void mca_coll_topo_say_defects(const mca_coll_topo_module_t *module)
{
    const mca_coll_topo_defect_t *defect;

    for (size_t at = 0; NULL != (defect = mca_coll_topo_next_defect(module, &at));) {
        opal_output(0,
                    "coll/topo: alltoall of %zu to %zu bytes on %d ranks: %s of this Open MPI gives wrong data where "
                    "send and receive datatypes differ; auto does not leave such calls to it",
                    defect->bytes, defect->most_bytes, module->ranks, defect->component);
    }
}
