/* What Open MPI loads: the component's description, its MCA variables and its MPI_T counters. */
#include "ompi_config.h"

#include "coll_topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/util/output.h"

static int mca_coll_topo_register(void);
static int mca_coll_topo_open(void);
static int mca_coll_topo_close(void);
static int mca_coll_topo_init_query(bool enable_progress_threads, bool enable_mpi_threads);

__attribute__((visibility("default"))) mca_coll_topo_component_t mca_coll_topo_component = {
    .super =
        {
            .collm_version =
                {
                    MCA_COLL_TOPO_COLL_VERSION,
                    .mca_component_name = "topo",
                    MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION),
                    .mca_open_component = mca_coll_topo_open,
                    .mca_close_component = mca_coll_topo_close,
                    .mca_register_component_params = mca_coll_topo_register,
                },
            .collm_init_query = mca_coll_topo_init_query,
            .collm_comm_query = mca_coll_topo_comm_query,
        },
    /* Above tuned (30), han (35) and inter (40), below the components that watch all others (monitoring, 100). */
    .priority = 60,
};

/* Lines that mca_coll_topo_warn has shown. Past the last place nothing more is shown: a process with so many has been
 * told. */
#define MCA_COLL_TOPO_MAX_WARNINGS 32
static char *mca_coll_topo_warnings[MCA_COLL_TOPO_MAX_WARNINGS];
static int mca_coll_topo_warnings_count = 0;

/* The variable's context is the index of its counter. */
static int mca_coll_topo_read_counter(const struct mca_base_pvar_t *variable, void *value, void *object)
{
    (void) object;
    *(unsigned long long *) value = colltopo_counter_value((size_t) (intptr_t) variable->ctx);
    return OPAL_SUCCESS;
}

static int mca_coll_topo_register(void)
{
    const mca_base_component_t *component = &mca_coll_topo_component.super.collm_version;
    const colltopo_setting *settings = colltopo_settings();
    const colltopo_counter *counters = colltopo_counters();
    int rc;

    if (NULL == settings || NULL == counters) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    if (!mca_coll_topo_fits_library()) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    rc = mca_base_component_var_register(
        component, "priority", "Priority of the component; negative: do not use it. Must be equal on all ranks",
        MCA_BASE_VAR_TYPE_INT, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_3, MCA_BASE_VAR_SCOPE_ALL_EQ,
        &mca_coll_topo_component.priority);
    if (rc < 0) {
        return rc;
    }
    mca_coll_topo_component.previous = "";
    rc = mca_base_component_var_register(
        component, "previous", "Which components have the collectives of MPI_COMM_WORLD otherwise",
        MCA_BASE_VAR_TYPE_STRING, NULL, 0, MCA_BASE_VAR_FLAG_DEFAULT_ONLY, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY,
        &mca_coll_topo_component.previous);
    if (rc < 0) {
        return rc;
    }
    for (int i = 0; NULL != settings[i].name; ++i) {
        if (MCA_COLL_TOPO_MAX_SETTINGS <= i) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        mca_coll_topo_component.settings[i] = (char *) settings[i].default_value;
        rc = mca_base_component_var_register(component, settings[i].name, settings[i].about, MCA_BASE_VAR_TYPE_STRING,
                                             NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_4,
                                             MCA_BASE_VAR_SCOPE_ALL_EQ, &mca_coll_topo_component.settings[i]);
        if (rc < 0) {
            return rc;
        }
    }
    for (int i = 0; NULL != counters[i].name; ++i) {
        rc = mca_base_component_pvar_register(component, counters[i].name, counters[i].about, OPAL_INFO_LVL_4,
                                              MCA_BASE_PVAR_CLASS_COUNTER, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
                                              MCA_BASE_VAR_BIND_NO_OBJECT,
                                              MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS,
                                              mca_coll_topo_read_counter, NULL, NULL, (void *) (intptr_t) i);
        if (rc < 0) {
            return rc;
        }
    }
    return mca_coll_topo_complete_selection();
}

static int mca_coll_topo_open(void)
{
    OBJ_CONSTRUCT(&mca_coll_topo_component.lock, opal_mutex_t);
    mca_coll_topo_find_device();
    if (!mca_coll_topo_publish()) {
        opal_output(0, "coll/topo: Open MPI's run time does not take what other processes must know; not used");
    }
    mca_coll_topo_fill_spares();
    return mca_coll_topo_open_requests();
}

static int mca_coll_topo_close(void)
{
    while (0 < mca_coll_topo_warnings_count) {
        free(mca_coll_topo_warnings[--mca_coll_topo_warnings_count]);
    }
    mca_coll_topo_forget_hosts();
    mca_coll_topo_forget_peers();
    mca_coll_topo_drop_spares();
    mca_coll_topo_close_requests();
    OBJ_DESTRUCT(&mca_coll_topo_component.lock);
    return OMPI_SUCCESS;
}

static int mca_coll_topo_init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void) enable_progress_threads;
    (void) enable_mpi_threads;
    return OMPI_SUCCESS;
}

static bool mca_coll_topo_first_time(const char *line)
{
    bool first = true;

    OPAL_THREAD_LOCK(&mca_coll_topo_component.lock);
    for (int i = 0; first && i < mca_coll_topo_warnings_count; ++i) {
        first = 0 != strcmp(line, mca_coll_topo_warnings[i]);
    }
    if (MCA_COLL_TOPO_MAX_WARNINGS == mca_coll_topo_warnings_count) {
        first = false;
    } else if (first) {
        char *copy = strdup(line);
        if (NULL != copy) {
            mca_coll_topo_warnings[mca_coll_topo_warnings_count++] = copy;
        }
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_component.lock);
    return first;
}

/* Not opal_show_help: it drops every later message of a topic as a repetition of the first, and these differ. */
void mca_coll_topo_warn(const char *line)
{
    if (mca_coll_topo_first_time(line)) {
        opal_output(0, "coll/topo: %s", line);
    }
}
