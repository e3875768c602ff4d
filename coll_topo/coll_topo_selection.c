/* `mpirun --mca coll topo`: an include list names all the components that may serve, and Open MPI refuses a job whose
 * list leaves any collective of MPI_COMM_WORLD or MPI_COMM_SELF unserved. This component serves nine and stands on
 * others for the rest, so while its variables are registered, before the framework opens components, it adds them to
 * the list.
 *
 * docs/decisions/0006-coll-include-list.md says why this is safe and what was tried. */
#include "ompi_config.h"

#include "coll_topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/util/argv.h"

/* basic and libnbc serve everything between them. The others make a list of topo alone as fast as no list at all. */
static const char *const mca_coll_topo_needed[] = {"basic", "libnbc", NULL};
static const char *const mca_coll_topo_wanted[] = {"basic", "libnbc", "tuned", "self", "inter", NULL};

static bool mca_coll_topo_lists(char **names, const char *name)
{
    for (int i = 0; NULL != names[i]; ++i) {
        if (0 == strcmp(names[i], name)) {
            return true;
        }
    }
    return false;
}

static bool mca_coll_topo_is_loaded(const char *name)
{
    mca_base_component_list_item_t *item;

    OPAL_LIST_FOREACH(item, &ompi_coll_base_framework.framework_components, mca_base_component_list_item_t)
    {
        if (0 == strcmp(item->cli_component->mca_component_name, name)) {
            return true;
        }
    }
    return false;
}

/* Loads `names` at the end of the framework's list. The framework is walking that list: it reaches the new ones, and
 * registers them, unless it has found this component to be the last. */
static int mca_coll_topo_load(char *names)
{
    mca_base_framework_t *framework = &ompi_coll_base_framework;
    opal_list_t *components = &framework->framework_components;
    opal_list_item_t *last = opal_list_get_last(components);
    const mca_base_component_list_item_t *last_component = (const mca_base_component_list_item_t *) last;
    char *selection = framework->framework_selection;
    int rc;

    framework->framework_selection = names;
    rc = mca_base_component_find(NULL, framework, false, true);
    framework->framework_selection = selection;
    if (OPAL_SUCCESS != rc
        || last_component->cli_component != (mca_base_component_t *) &mca_coll_topo_component.super.collm_version) {
        return rc;
    }
    for (opal_list_item_t *item = opal_list_get_next(last); item != opal_list_get_end(components);
         item = opal_list_get_next(item)) {
        const mca_base_component_t *component = ((mca_base_component_list_item_t *) item)->cli_component;
        if (NULL != component->mca_register_component_params) {
            rc = component->mca_register_component_params();
            if (OPAL_SUCCESS != rc) {
                return rc;
            }
        }
    }
    return OPAL_SUCCESS;
}

int mca_coll_topo_complete_selection(void)
{
    const char *selection = ompi_coll_base_framework.framework_selection;
    const char *const *others;
    char **listed;
    char *missing = NULL, *all = NULL;
    int rc = OMPI_SUCCESS, variable;

    if (NULL == selection || '\0' == selection[0] || '^' == selection[0]) {
        return OMPI_SUCCESS; /* no include list */
    }
    listed = opal_argv_split(selection, ',');
    if (NULL == listed) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    others = NULL == listed[1] ? mca_coll_topo_wanted : mca_coll_topo_needed;
    if (mca_coll_topo_lists(listed, "topo")) {
        char **to_load = NULL, **complete = opal_argv_copy(listed);
        for (int i = 0; NULL != others[i]; ++i) {
            if (!mca_coll_topo_lists(listed, others[i])) {
                opal_argv_append_nosize(&complete, others[i]);
                if (!mca_coll_topo_is_loaded(others[i])) {
                    opal_argv_append_nosize(&to_load, others[i]);
                }
            }
        }
        missing = NULL == to_load ? NULL : opal_argv_join(to_load, ',');
        all = opal_argv_join(complete, ',');
        opal_argv_free(to_load);
        opal_argv_free(complete);
    }
    opal_argv_free(listed);
    if (NULL != missing) {
        rc = mca_coll_topo_load(missing);
    }
    if (OMPI_SUCCESS == rc && NULL != all) {
        variable = mca_base_var_find("ompi", "coll", NULL, NULL);
        rc = variable < 0 ? variable
                          : mca_base_var_set_value(variable, all, strlen(all) + 1, MCA_BASE_VAR_SOURCE_OVERRIDE, NULL);
    }
    free(missing);
    free(all);
    return rc;
}
