/* What differs between Open MPI 4.1, 5.0 and main, by features and not by version numbers, so that one source serves
 * all.
 *
 * Include after ompi_config.h and before any other file of this component. */
#ifndef MCA_COLL_TOPO_COMPAT_H
#define MCA_COLL_TOPO_COMPAT_H

#include "ompi_config.h"

#include <stdio.h>
#include <stdlib.h>

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/op/op.h"
#include "opal/util/info.h"
#include "opal/util/proc.h"

#if defined(MCA_COLL_BASE_VERSION_3_0_0) /* main: counts are size_t */
#    define MCA_COLL_TOPO_COLL_VERSION MCA_COLL_BASE_VERSION_3_0_0
typedef size_t mca_coll_topo_count_t;
typedef ompi_count_array_t mca_coll_topo_counts_t;
typedef ompi_disp_array_t mca_coll_topo_displs_t;
#    define mca_coll_topo_count_at(counts, i) ompi_count_array_get(counts, i)
#    define mca_coll_topo_displ_at(displs, i) ompi_disp_array_get(displs, i)
#    define MCA_COLL_TOPO_COUNTS_OF_INTS(counts, ints) (*(counts) = ompi_count_array_create((const int *) (ints)))
typedef ompi_disp_array_t mca_coll_topo_byte_displs_t; /* neighbor_alltoallw */
#    define mca_coll_topo_byte_displ_at(displs, i) ompi_disp_array_get(displs, i)
#else
#    if defined(MCA_COLL_BASE_VERSION_2_4_0) /* 5.0 */
#        define MCA_COLL_TOPO_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#    else
#        define MCA_COLL_TOPO_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#    endif
typedef int mca_coll_topo_count_t;
typedef const int *mca_coll_topo_counts_t;
typedef const int *mca_coll_topo_displs_t;
#    define mca_coll_topo_count_at(counts, i) ((counts)[i])
#    define mca_coll_topo_displ_at(displs, i) ((displs)[i])
#    define MCA_COLL_TOPO_COUNTS_OF_INTS(counts, ints) (*(counts) = (const int *) (ints))
typedef const MPI_Aint *mca_coll_topo_byte_displs_t;
#    define mca_coll_topo_byte_displ_at(displs, i) ((displs)[i])
#endif

/* Whether a call gave an array of counts or of places. The copies are made at a place of `items` numbers, and return
 * what follows them there. */
#define mca_coll_topo_is_given(array) (0 != (intptr_t) (array))
#if defined(MCA_COLL_BASE_VERSION_3_0_0)
static inline size_t *mca_coll_topo_copy_counts(mca_coll_topo_counts_t *counts, size_t items, size_t *place)
{
    for (size_t i = 0; i < items; ++i) {
        place[i] = ompi_count_array_get(*counts, i);
    }
    OMPI_COUNT_ARRAY_INIT(counts, place);
    return place + items;
}
static inline size_t *mca_coll_topo_copy_displs(mca_coll_topo_displs_t *displs, size_t items, size_t *place)
{
    ptrdiff_t *const places = (ptrdiff_t *) place;
    for (size_t i = 0; i < items; ++i) {
        places[i] = ompi_disp_array_get(*displs, i);
    }
    OMPI_DISP_ARRAY_INIT(displs, places);
    return place + items;
}
#    define mca_coll_topo_copy_byte_displs mca_coll_topo_copy_displs
#else
static inline size_t *mca_coll_topo_copy_counts(mca_coll_topo_counts_t *counts, size_t items, size_t *place)
{
    *counts = memcpy(place, *counts, items * sizeof(**counts));
    return place + items;
}
#    define mca_coll_topo_copy_displs mca_coll_topo_copy_counts
static inline size_t *mca_coll_topo_copy_byte_displs(mca_coll_topo_byte_displs_t *displs, size_t items, size_t *place)
{
    *displs = memcpy(place, *displs, items * sizeof(**displs));
    return place + items;
}
#endif

/* Where Open MPI's functions note the lists of datatypes of a call that does not block. */
#if defined(MCA_COLL_BASE_VERSION_3_0_0)
#    define MCA_COLL_TOPO_NOTED_TYPES(request) ((request)->data.refcounted.vecs)
#else
#    define MCA_COLL_TOPO_NOTED_TYPES(request) ((request)->data.vecs)
#endif

/* A name for each function's type, where coll.h has one for several. */
#define MCA_COLL_TOPO_NEIGHBOR_TYPES(name)                                                    \
    typedef mca_coll_base_module_##name##_fn_t mca_coll_base_module_neighbor_##name##_fn_t;   \
    typedef mca_coll_base_module_i##name##_fn_t mca_coll_base_module_ineighbor_##name##_fn_t; \
    typedef mca_coll_base_module_##name##_init_fn_t mca_coll_base_module_neighbor_##name##_init_fn_t
MCA_COLL_TOPO_NEIGHBOR_TYPES(allgather);
MCA_COLL_TOPO_NEIGHBOR_TYPES(allgatherv);
MCA_COLL_TOPO_NEIGHBOR_TYPES(alltoall);
MCA_COLL_TOPO_NEIGHBOR_TYPES(alltoallv);
#undef MCA_COLL_TOPO_NEIGHBOR_TYPES

/* 4.1 and 5.0 copy a module's functions into the communicator themselves and count references; main wants modules to
 * install their functions and to put the former ones back. */
#if defined(MCA_COLL_INSTALL_API)
#    define MCA_COLL_TOPO_SELF_INSTALL 1
#else
#    define MCA_COLL_TOPO_SELF_INSTALL 0
#endif

/* Copies of device memory: the accelerator framework since 5.0, CUDA's functions in a 4.1 that was built with it. */
#if defined(__has_include) && __has_include("opal/mca/accelerator/accelerator.h")
#    include "opal/mca/accelerator/accelerator.h"
#    include "opal/mca/accelerator/base/base.h"
#    define MCA_COLL_TOPO_ACCELERATOR 1
#    define MCA_COLL_TOPO_CUDA 0
#elif defined(OPAL_CUDA_SUPPORT) && OPAL_CUDA_SUPPORT
#    include "opal/datatype/opal_convertor.h"
#    include "opal/datatype/opal_datatype_cuda.h"
#    define MCA_COLL_TOPO_ACCELERATOR 0
#    define MCA_COLL_TOPO_CUDA 1
#else
#    define MCA_COLL_TOPO_ACCELERATOR 0
#    define MCA_COLL_TOPO_CUDA 0
#endif

/* What processes tell each other while Open MPI starts; what one has told, in `text`, or an error code. */
#if defined(__has_include) && __has_include("opal/mca/pmix/pmix-internal.h")
#    include "opal/mca/pmix/pmix-internal.h"
#    define MCA_COLL_TOPO_MODEX_SCOPE PMIX_GLOBAL
#    define MCA_COLL_TOPO_MODEX_STRING PMIX_STRING
static inline int mca_coll_topo_modex_get(char *key, const opal_process_name_t *name, bool at_once, char *text,
                                          size_t size)
{
    char *value = NULL, **const to = &value; /* of which PMIx asks whether it is NULL */
    int rc;

    if (at_once) {
        OPAL_MODEX_RECV_VALUE_IMMEDIATE(rc, key, name, to, MCA_COLL_TOPO_MODEX_STRING);
    } else {
        OPAL_MODEX_RECV_VALUE(rc, key, name, to, MCA_COLL_TOPO_MODEX_STRING);
    }
    if (OPAL_SUCCESS == rc) {
        (void) snprintf(text, size, "%s", NULL == value ? "" : value);
        rc = NULL == value ? OPAL_ERR_OUT_OF_RESOURCE : rc;
        free(value);
    }
    return rc;
}
#else
#    include "opal/mca/pmix/pmix.h"
#    define MCA_COLL_TOPO_MODEX_SCOPE OPAL_PMIX_GLOBAL
#    define MCA_COLL_TOPO_MODEX_STRING OPAL_STRING
/* Open MPI's macros for it do not look whether they get the memory that they ask for, and none is needed. */
static inline int mca_coll_topo_modex_get(char *key, const opal_process_name_t *name, bool at_once, char *text,
                                          size_t size)
{
    opal_value_t *found = NULL, how;
    opal_list_t all;
    int rc;

    OBJ_CONSTRUCT(&all, opal_list_t);
    OBJ_CONSTRUCT(&how, opal_value_t);
    how.key = (char *) OPAL_PMIX_IMMEDIATE;
    how.type = OPAL_BOOL;
    how.data.flag = true;
    if (at_once) {
        opal_list_append(&all, &how.super);
    }
    rc = opal_pmix.get(name, key, at_once ? &all : NULL, &found);
    if (at_once) {
        (void) opal_list_remove_item(&all, &how.super);
    }
    how.key = NULL; /* which it would free */
    OBJ_DESTRUCT(&how);
    OBJ_DESTRUCT(&all);
    if (OPAL_SUCCESS == rc && (NULL == found || OPAL_STRING != found->type)) {
        rc = OPAL_ERR_NOT_FOUND;
    }
    if (OPAL_SUCCESS == rc) {
        (void) snprintf(text, size, "%s", NULL == found->data.string ? "" : found->data.string);
        rc = NULL == found->data.string ? OPAL_ERR_OUT_OF_RESOURCE : rc;
    }
    if (NULL != found) {
        OBJ_RELEASE(found);
    }
    return rc;
}
#endif

/* Info keys and values are counted strings since 5.0. */
#if defined(__has_include) && __has_include("opal/class/opal_cstring.h")
#    include "opal/class/opal_cstring.h"
#    define MCA_COLL_TOPO_INFO_STRINGS 1
#    define MCA_COLL_TOPO_INFO_KEY(entry) ((entry)->ie_key->string)
#else
#    define MCA_COLL_TOPO_INFO_STRINGS 0
#    define MCA_COLL_TOPO_INFO_KEY(entry) ((entry)->ie_key)
#endif

/* Whether the communicator has an info key that begins so: a look at the few that it has, not at all that there are. */
static inline bool mca_coll_topo_has_info(ompi_communicator_t *comm, const char *prefix)
{
    opal_info_t *const info = comm->super.s_info;
    const size_t length = strlen(prefix);
    opal_info_entry_t *entry;
    bool found = false;

    if (NULL == info) {
        return false;
    }
    OPAL_THREAD_LOCK(info->i_lock);
    OPAL_LIST_FOREACH(entry, &info->super, opal_info_entry_t)
    {
        found = found || 0 == strncmp(prefix, MCA_COLL_TOPO_INFO_KEY(entry), length);
    }
    OPAL_THREAD_UNLOCK(info->i_lock);
    return found;
}

/* The value of an info key that the communicator was made with; false when it has none. */
static inline bool mca_coll_topo_info_value(ompi_communicator_t *comm, const char *key, char *value, size_t value_size)
{
    int found = 0;

    if (NULL == comm->super.s_info) {
        return false;
    }
#if MCA_COLL_TOPO_INFO_STRINGS
    opal_cstring_t *string = NULL;
    if (OPAL_SUCCESS != opal_info_get(comm->super.s_info, key, &string, &found) || !found) {
        return false;
    }
    snprintf(value, value_size, "%s", string->string);
    OBJ_RELEASE(string);
#else
    if (OPAL_SUCCESS != opal_info_get(comm->super.s_info, key, (int) value_size - 1, value, &found)) {
        return false;
    }
#endif
    return 0 != found;
}

#endif
