/* Whether this process runs the Open MPI that the component was built for. The component reads structures that Open MPI
 * lays out anew from release to release, and Open MPI itself compares the version of the coll interface alone. */
#include "ompi_config.h"

#include "coll_topo.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/request/request.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/util/output.h"

/* What the library's own descriptions of its classes say of their sizes, against what the headers said. */
#define MCA_COLL_TOPO_STRUCTURES(ROW) \
    ROW(mca_coll_base_module_t)       \
    ROW(ompi_communicator_t)          \
    ROW(ompi_datatype_t)              \
    ROW(ompi_group_t)                 \
    ROW(ompi_op_t)                    \
    ROW(ompi_request_t)               \
    ROW(opal_convertor_t)             \
    ROW(opal_mutex_t)

/* `colltopo doctor` reads this out of the file of a component that does not load. */
#define MCA_COLL_TOPO_TEXT_OF(number) #number
#define MCA_COLL_TOPO_TEXT(number) MCA_COLL_TOPO_TEXT_OF(number)
static const char mca_coll_topo_built_for[] = "built for Open MPI " MCA_COLL_TOPO_TEXT(
    OMPI_MAJOR_VERSION) "." MCA_COLL_TOPO_TEXT(OMPI_MINOR_VERSION) "." MCA_COLL_TOPO_TEXT(OMPI_RELEASE_VERSION);

static bool mca_coll_topo_same_release(char *found, size_t found_size)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0, major = -1, minor = -1, release = -1;
    const char *number;

    MPI_Get_library_version(version, &length);
    number = strstr(version, " v");
    if (NULL == number || 3 != sscanf(number, " v%d.%d.%d", &major, &minor, &release)) {
        (void) snprintf(found, found_size, "'%.40s'", version);
        return false;
    }
    (void) snprintf(found, found_size, "%d.%d.%d", major, minor, release);
    return OMPI_MAJOR_VERSION == major && OMPI_MINOR_VERSION == minor && OMPI_RELEASE_VERSION == release;
}

bool mca_coll_topo_fits_library(void)
{
    char found[64];
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    const bool first = NULL == rank || 0 == strcmp("0", rank);

    if (!mca_coll_topo_same_release(found, sizeof(found))) {
        if (first) {
            opal_output(0, "coll/topo: %s, but this is %s; not used, build colltopo for this one",
                        mca_coll_topo_built_for, found);
        }
        return false;
    }
#define MCA_COLL_TOPO_COMPARE(type)                                                              \
    if (type##_class.cls_sizeof != sizeof(type)) {                                               \
        if (first) {                                                                             \
            opal_output(0,                                                                       \
                        "coll/topo: " #type                                                      \
                        " has %zu bytes in this Open MPI and %zu in the headers that coll/topo " \
                        "was built with; not used, build colltopo for this one",                 \
                        type##_class.cls_sizeof, sizeof(type));                                  \
        }                                                                                        \
        return false;                                                                            \
    }
    MCA_COLL_TOPO_STRUCTURES(MCA_COLL_TOPO_COMPARE)
#undef MCA_COLL_TOPO_COMPARE
    return true;
}

/* Open MPI agrees on the numbers of communicators by non-blocking all-reduces of its own, which MPI_Comm_idup begins
 * whenever one step is over: not in the order of the program's calls, nor in one that is the same on all ranks. Those
 * stay what they are without this component. They come from Open MPI's library, and from no function that MPI names. */
static bool mca_coll_topo_find_out_internal(const void *caller)
{
    Dl_info place, internals;

    if (0 == dladdr(caller, &place) || 0 == dladdr((const void *) &ompi_mpi_communicators, &internals)
        || place.dli_fbase != internals.dli_fbase) {
        return false;
    }
    return NULL == place.dli_sname || NULL == strstr(place.dli_sname, "MPI_");
}

/* A look at all symbols of a library takes as long as making a communicator, so callers are remembered: the few places
 * in Open MPI's, and in the program's libraries, that there are. Racing threads write what is as good. */
bool mca_coll_topo_is_internal(const void *caller)
{
    enum { k_places = 32 };
    static const void *seen[2][k_places]; /* [internal] */
    const size_t at = ((uintptr_t) caller ^ (uintptr_t) caller >> 6) % k_places;
    bool internal;

    for (int kind = 0; kind < 2; ++kind) {
        if (caller == __atomic_load_n(&seen[kind][at], __ATOMIC_RELAXED)) {
            return 1 == kind;
        }
    }
    internal = mca_coll_topo_find_out_internal(caller);
    __atomic_store_n(&seen[internal ? 1 : 0][at], caller, __ATOMIC_RELAXED);
    return internal;
}
