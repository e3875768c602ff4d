/* Where a process may run, from its processor affinity and what Linux says of each processor in /sys.
 *
 * Both libraries can split communicators by cache or NUMA node, each in its own way and only for bound processes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communicator.h"

static int number_in(const char *path)
{
    FILE *file = fopen(path, "r");
    int number = 0;

    if (file == NULL) {
        return 0;
    }
    if (fscanf(file, "%d", &number) != 1) {
        number = 0;
    }
    fclose(file);
    return number;
}

/* The folder of a processor holds a link node3 when its memory is NUMA node 3. */
static int numa_node_of(int processor)
{
    char path[64];
    int number = 0;
    DIR *folder;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", processor);
    folder = opendir(path);
    if (folder == NULL) {
        return 0;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (sscanf(entry->d_name, "node%d", &number) == 1) {
            break;
        }
    }
    closedir(folder);
    return number;
}

static int place_of(int processor, int level)
{
    char path[128];

    switch (level) {
        case COLLTOPO_PACKAGE:
            snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", processor);
            return number_in(path);
        case COLLTOPO_L3:
            /* The first processor of those that share the cache names it. */
            snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cache/index3/shared_cpu_list", processor);
            return number_in(path);
        case COLLTOPO_NUMA:
            return numa_node_of(processor);
        default:
            return 0;
    }
}

int shim_place_of_process(int level)
{
    cpu_set_t *set;
    const size_t most = 16384; /* processors; more than Linux has */
    const size_t bytes = CPU_ALLOC_SIZE(most);
    int place = INT_MAX;

    set = CPU_ALLOC(most);
    if (set == NULL || sched_getaffinity(0, bytes, set) != 0) {
        CPU_FREE(set);
        return 0;
    }
    for (size_t processor = 0; processor < most; ++processor) {
        if (CPU_ISSET_S(processor, bytes, set)) {
            const int here = place_of((int)processor, level);
            place = here < place ? here : place;
        }
    }
    CPU_FREE(set);
    return place == INT_MAX ? 0 : place;
}
