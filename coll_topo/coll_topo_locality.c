/* Which ranks share a node, a package, a NUMA domain or an L3 cache.
 *
 * Nodes are known to every rank by host name, without communication: Open MPI's run time has told every process where
 * the others are. It is asked by a process's name, since ompi_comm_peer_lookup would make an ompi_proc_t of every rank,
 * which Open MPI leaves until the first message between two. Within a node a process knows its own binding
 * only, so the places are exchanged by the communicator's former allgather. Open MPI numbers no places across nodes; a
 * group here is named by the lowest rank in it. */
#include "ompi_config.h"

#include "coll_topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/errhandler/errcode-internal.h"
#include "ompi/proc/proc.h"
#include "opal/mca/hwloc/base/base.h"

typedef struct mca_coll_topo_place_t {
    const char *host;
    int inside; /* number of the package, ... on its host; 0 when only hosts are asked for */
    int rank;
} mca_coll_topo_place_t;

static int mca_coll_topo_compare_places(const void *a, const void *b)
{
    const mca_coll_topo_place_t *first = (const mca_coll_topo_place_t *) a;
    const mca_coll_topo_place_t *second = (const mca_coll_topo_place_t *) b;
    const int hosts = strcmp(first->host, second->host);

    if (0 != hosts) {
        return hosts;
    }
    if (first->inside != second->inside) {
        return first->inside < second->inside ? -1 : 1;
    }
    return first->rank < second->rank ? -1 : first->rank > second->rank;
}

/* The place that this process is bound to, counted on its host; 0 when it is not bound within one. */
static int mca_coll_topo_bound_to(int level)
{
    static const hwloc_obj_type_t types[COLLTOPO_LEVELS] = {
        [COLLTOPO_NODE] = HWLOC_OBJ_MACHINE,
        [COLLTOPO_PACKAGE] = HWLOC_OBJ_PACKAGE,
        [COLLTOPO_NUMA] = HWLOC_OBJ_NUMANODE,
        [COLLTOPO_L3] = HWLOC_OBJ_L3CACHE,
    };
    hwloc_bitmap_t bound;
    int inside = 0;

    /* Open MPI loads its topology when first asked, which two threads could do at once. */
    OPAL_THREAD_LOCK(&mca_coll_topo_component.lock);
    const int loaded = opal_hwloc_base_get_topology();
    OPAL_THREAD_UNLOCK(&mca_coll_topo_component.lock);
    if (OPAL_SUCCESS != loaded || NULL == opal_hwloc_topology) {
        return 0;
    }
    bound = hwloc_bitmap_alloc();
    if (NULL != bound && 0 == hwloc_get_cpubind(opal_hwloc_topology, bound, HWLOC_CPUBIND_PROCESS)) {
        const hwloc_obj_t place =
            hwloc_get_next_obj_covering_cpuset_by_type(opal_hwloc_topology, bound, types[level], NULL);
        /* A set within one place meets no second; one over several is covered by none. */
        inside = NULL == place ? 0 : (int) place->logical_index;
    }
    hwloc_bitmap_free(bound);
    return inside;
}

static int mca_coll_topo_exchange_places(mca_coll_topo_module_t *module, int level, int *inside)
{
    inside[module->rank] = mca_coll_topo_bound_to(level);
    return colltopo_gather_numbers(module->collectives, inside);
}

/* The hosts of this job's processes, asked for once: every communicator wants them. By the process's number in its job.
 */
static struct {
    char **of; /* NULL: not asked for yet */
    size_t processes;
} mca_coll_topo_hosts;

void mca_coll_topo_forget_hosts(void)
{
    for (size_t i = 0; i < mca_coll_topo_hosts.processes; ++i) {
        free(mca_coll_topo_hosts.of[i]);
    }
    free(mca_coll_topo_hosts.of);
    mca_coll_topo_hosts.of = NULL;
    mca_coll_topo_hosts.processes = 0;
}

/* Where to remember the host of a process; NULL when out of memory. Under the component's lock. */
static char **mca_coll_topo_remembered(size_t process)
{
    if (mca_coll_topo_hosts.processes <= process) {
        const size_t more = 2 * process + 64;
        char **of = realloc(mca_coll_topo_hosts.of, more * sizeof(*of));
        if (NULL == of) {
            return NULL;
        }
        memset(of + mca_coll_topo_hosts.processes, 0, (more - mca_coll_topo_hosts.processes) * sizeof(*of));
        mca_coll_topo_hosts.of = of;
        mca_coll_topo_hosts.processes = more;
    }
    return &mca_coll_topo_hosts.of[process];
}

/* The run time's name of a process's host, by a record made for the question alone. The caller frees it; NULL where it
 * is not known. */
static char *mca_coll_topo_ask_for_host(opal_process_name_t name)
{
    opal_proc_t question;
    const char *answer;
    char *host;

    OBJ_CONSTRUCT(&question, opal_proc_t);
    question.proc_name = name;
    answer = opal_get_proc_hostname(&question);
    host = NULL == answer || 0 == strcmp("unknown", answer) ? NULL : strdup(answer);
    OBJ_DESTRUCT(&question);
    return host;
}

/* The host of a process of this job that Open MPI has made no ompi_proc_t of. */
static const char *mca_coll_topo_host_of_name(opal_process_name_t name)
{
    char **host;

    OPAL_THREAD_LOCK(&mca_coll_topo_component.lock);
    host = mca_coll_topo_remembered(name.vpid);
    if (NULL != host && NULL == *host) {
        *host = mca_coll_topo_ask_for_host(name);
    }
    const char *const found = NULL == host ? NULL : *host; /* stays until the component is closed */
    OPAL_THREAD_UNLOCK(&mca_coll_topo_component.lock);
    return found;
}

/* Equal on all ranks, whoever of them has met whom: the run time's name for the host either way. */
const char *mca_coll_topo_host_of(const mca_coll_topo_module_t *module, int rank)
{
    const ompi_group_t *const group = module->comm->c_remote_group;
    ompi_proc_t *const proc = OMPI_GROUP_IS_DENSE(group) ? group->grp_proc_pointers[rank] : NULL;
    const char *host = NULL;

    /* A sentinel is a process's name in place of its record. Other jobs' processes all have a record. */
    if (NULL != proc && ompi_proc_is_sentinel(proc)) {
        const opal_process_name_t name = ompi_proc_sentinel_to_name((uintptr_t) proc);
        host = name.jobid == OMPI_PROC_MY_NAME->jobid ? mca_coll_topo_host_of_name(name) : NULL;
    }
    if (NULL == host) {
        host = opal_get_proc_hostname(&ompi_comm_peer_lookup(module->comm, rank)->super);
    }
    return NULL == host ? "" : host;
}

/* Each rank's host, as Open MPI's run time calls it. */
int mca_coll_topo_host_names(void *context, size_t size, char *names)
{
    const mca_coll_topo_module_t *module = (const mca_coll_topo_module_t *) context;

    for (int rank = 0; rank < module->ranks; ++rank) {
        (void) snprintf(names + (size_t) rank * size, size, "%s", mca_coll_topo_host_of(module, rank));
    }
    return COLLTOPO_SUCCESS;
}

int mca_coll_topo_locality(void *context, int level, int *group_of)
{
    mca_coll_topo_module_t *module = (mca_coll_topo_module_t *) context;
    const size_t ranks = (size_t) module->ranks;
    mca_coll_topo_place_t *places;
    int rc;

    memset(group_of, 0, ranks * sizeof(*group_of));
    if (COLLTOPO_NODE != level) {
        rc = mca_coll_topo_exchange_places(module, level, group_of);
        if (COLLTOPO_SUCCESS != rc) {
            return rc;
        }
    }
    places = malloc(ranks * sizeof(*places));
    if (NULL == places) {
        return MPI_ERR_NO_MEM;
    }
    for (int rank = 0; rank < module->ranks; ++rank) {
        places[rank] = (mca_coll_topo_place_t){mca_coll_topo_host_of(module, rank), group_of[rank], rank};
    }
    qsort(places, ranks, sizeof(*places), mca_coll_topo_compare_places);
    for (size_t i = 0, first = 0; i < ranks; ++i) {
        if (0 != strcmp(places[first].host, places[i].host) || places[first].inside != places[i].inside) {
            first = i;
        }
        group_of[places[i].rank] = places[first].rank;
    }
    free(places);
    return COLLTOPO_SUCCESS;
}
