/* A communicator's module: made with the communicator at no cost, started at the first collective call.
 *
 * Nothing here depends on one rank alone: a rank that declined to serve while others do would hang the job. */
#include "ompi_config.h"

#include "coll_topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int mca_coll_topo_enable(mca_coll_base_module_t *base, ompi_communicator_t *comm);
static int mca_coll_topo_disable(mca_coll_base_module_t *base, ompi_communicator_t *comm);

void mca_coll_topo_forget_declined(mca_coll_topo_module_t *module)
{
    for (int collective = 0; collective < COLLTOPO_COLLECTIVES; ++collective) {
        for (int i = 0; i < MCA_COLL_TOPO_DECLINED; ++i) {
            module->declined[collective][i] = (mca_coll_topo_declined_t){.root = -1};
        }
    }
}

/* What follows `super` is as malloc left it. */
static void mca_coll_topo_construct(mca_coll_topo_module_t *module)
{
    static const unsigned nothing_left = 0;

    memset((char *) module + sizeof(module->super), 0, sizeof(*module) - sizeof(module->super));
    module->left = &nothing_left;
    mca_coll_topo_forget_declined(module);
}

/* Peers are not waited for: they may free theirs much later. */
static void mca_coll_topo_destruct(mca_coll_topo_module_t *module)
{
    mca_coll_topo_drop_requests(module);
    colltopo_comm_free(module->collectives);
    free(module->counts);
    free(module->sizes);
    free(module->neighbors);
    shell_free(&module->memory);
#if !MCA_COLL_TOPO_SELF_INSTALL
#    define MCA_COLL_TOPO_RELEASE(name)                  \
        if (NULL != module->previous.name##_module) {    \
            OBJ_RELEASE(module->previous.name##_module); \
        }
    MCA_COLL_TOPO_EACH_FUNCTION(MCA_COLL_TOPO_RELEASE)
    MCA_COLL_TOPO_EACH_REQUEST_FUNCTION(MCA_COLL_TOPO_RELEASE)
#    undef MCA_COLL_TOPO_RELEASE
#endif
}

OBJ_CLASS_INSTANCE(mca_coll_topo_module_t, mca_coll_base_module_t, mca_coll_topo_construct, mca_coll_topo_destruct);

/* Whether the communicator's maker wants other components: coll/han asks so for those within and between nodes, whose
 * calls it has counted on. All ranks of the communicator were given the same key. */
static bool mca_coll_topo_others_are_preferred(ompi_communicator_t *comm)
{
    char wanted[OPAL_MAX_INFO_VAL + 1];
    bool listed = false;

    if (!mca_coll_topo_info_value(comm, "ompi_comm_coll_preference", wanted, sizeof(wanted))) {
        return false;
    }
    for (const char *name = wanted; NULL != name; name = strchr(name, ',')) {
        name += ',' == *name ? 1 : 0;
        listed = listed || (strlen("topo") == strcspn(name, ",") && 0 == strncmp("topo", name, strlen("topo")));
    }
    return !listed;
}

enum { MCA_COLL_TOPO_SPARES = 2 };
static mca_coll_topo_module_t *mca_coll_topo_spares[MCA_COLL_TOPO_SPARES];

void mca_coll_topo_fill_spares(void)
{
    for (int i = 0; i < MCA_COLL_TOPO_SPARES; ++i) {
        if (NULL == mca_coll_topo_spares[i]) {
            mca_coll_topo_spares[i] = OBJ_NEW(mca_coll_topo_module_t);
        }
    }
}

void mca_coll_topo_drop_spares(void)
{
    for (int i = 0; i < MCA_COLL_TOPO_SPARES; ++i) {
        if (NULL != mca_coll_topo_spares[i]) {
            OBJ_RELEASE(mca_coll_topo_spares[i]);
            mca_coll_topo_spares[i] = NULL;
        }
    }
}

static mca_coll_topo_module_t *mca_coll_topo_new_module(void)
{
    mca_coll_topo_module_t *module = OBJ_NEW(mca_coll_topo_module_t);

    OPAL_THREAD_LOCK(&mca_coll_topo_component.lock);
    if (OPAL_LIKELY(NULL != module)) {
        mca_coll_topo_fill_spares();
    }
    for (int i = 0; NULL == module && i < MCA_COLL_TOPO_SPARES; ++i) {
        module = mca_coll_topo_spares[i];
        mca_coll_topo_spares[i] = NULL;
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_component.lock);
    return module;
}

mca_coll_base_module_t *mca_coll_topo_comm_query(ompi_communicator_t *comm, int *priority)
{
    mca_coll_topo_module_t *module;

    *priority = mca_coll_topo_priority();
    if (*priority < 0 || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2
        || mca_coll_topo_others_are_preferred(comm)) {
        return NULL;
    }
    module = mca_coll_topo_new_module();
    if (NULL == module) {
        mca_coll_topo_warn(
            "no memory for a communicator; this process leaves it to Open MPI's own, and the others wait");
        return NULL;
    }
    module->super.coll_module_enable = mca_coll_topo_enable;
    module->super.coll_module_disable = mca_coll_topo_disable;
#define MCA_COLL_TOPO_OFFER(name) module->super.coll_##name = mca_coll_topo_##name;
    MCA_COLL_TOPO_EACH_FUNCTION(MCA_COLL_TOPO_OFFER)
#undef MCA_COLL_TOPO_OFFER
    mca_coll_topo_offer_requests(&module->super);
    if (NULL != mca_coll_topo_device()) {
        mca_coll_topo_stage_devices(module);
    }
    return &module->super;
}

/* Calls that do not block are left to whoever wants them before libnbc. What is declined must reserve a tag as libnbc
 * does, one for a call, and only users who ask for it have such a component. */
static bool mca_coll_topo_is_libnbc(const mca_coll_base_module_t *module)
{
    return NULL != module && NULL != strstr(((const opal_object_t *) module)->obj_class->cls_name, "libnbc");
}

/* A function that nobody had before cannot fall back, so it is not offered. */
static int mca_coll_topo_enable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    mca_coll_topo_module_t *module = (mca_coll_topo_module_t *) base;

    if (NULL == comm->c_coll->coll_allreduce || NULL == comm->c_coll->coll_allgather) {
        return OMPI_ERROR; /* what the ranks agree by */
    }
    if (mca_coll_topo_cannot_be_above(comm)) {
        if (0 == ompi_comm_rank(comm)) {
            mca_coll_topo_warn(
                "coll/han of Open MPI 4.1 does not work below another component on all communicators; "
                "coll/topo leaves its communicators to it; coll_han_priority 0 gives them to coll/topo");
        }
        return OMPI_ERROR;
    }
    module->comm = comm;
    module->rank = ompi_comm_rank(comm);
    module->ranks = ompi_comm_size(comm);
#if MCA_COLL_TOPO_SELF_INSTALL
#    define MCA_COLL_TOPO_SAVE(name)                                                                      \
        if (NULL != comm->c_coll->coll_##name && NULL != base->coll_##name) {                             \
            MCA_COLL_SAVE_API(comm, name, module->previous.name, module->previous.name##_module, "topo"); \
            MCA_COLL_INSTALL_API(comm, name, base->coll_##name, base, "topo");                            \
        }
#else
#    define MCA_COLL_TOPO_SAVE(name)                                             \
        if (NULL == comm->c_coll->coll_##name) {                                 \
            base->coll_##name = NULL;                                            \
        } else {                                                                 \
            module->previous.name = comm->c_coll->coll_##name;                   \
            module->previous.name##_module = comm->c_coll->coll_##name##_module; \
            OBJ_RETAIN(module->previous.name##_module);                          \
        }
#endif
    MCA_COLL_TOPO_EACH_FUNCTION(MCA_COLL_TOPO_SAVE)
#define MCA_COLL_TOPO_SAVE_OF_LIBNBC(name)                             \
    if (mca_coll_topo_is_libnbc(comm->c_coll->coll_##name##_module)) { \
        MCA_COLL_TOPO_SAVE(name)                                       \
    } else {                                                           \
        base->coll_##name = NULL;                                      \
    }
    MCA_COLL_TOPO_EACH_REQUEST_FUNCTION(MCA_COLL_TOPO_SAVE_OF_LIBNBC)
#undef MCA_COLL_TOPO_SAVE_OF_LIBNBC
#undef MCA_COLL_TOPO_SAVE
    mca_coll_topo_find_defects(module);
    if (&ompi_mpi_comm_world.comm == comm) {
        mca_coll_topo_note_previous(module);
    }
    return OMPI_SUCCESS;
}

/* Open MPI before main calls this once for every function that the module holds. */
static int mca_coll_topo_disable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
#if MCA_COLL_TOPO_SELF_INSTALL
    mca_coll_topo_module_t *module = (mca_coll_topo_module_t *) base;
#    define MCA_COLL_TOPO_RESTORE(name)                                                                      \
        if (comm->c_coll->coll_##name##_module == base) {                                                    \
            MCA_COLL_INSTALL_API(comm, name, module->previous.name, module->previous.name##_module, "topo"); \
            module->previous.name##_module = NULL;                                                           \
        }
    MCA_COLL_TOPO_EACH_FUNCTION(MCA_COLL_TOPO_RESTORE)
    MCA_COLL_TOPO_EACH_REQUEST_FUNCTION(MCA_COLL_TOPO_RESTORE)
#    undef MCA_COLL_TOPO_RESTORE
#else
    (void) base;
    (void) comm;
#endif
    return OMPI_SUCCESS;
}

/* coll_topo_NAME, without its last words where MPI_Info_set refuses so long a key. */
static void mca_coll_topo_info_key(const char *name, char key[OPAL_MAX_INFO_KEY])
{
    char whole[2 * OPAL_MAX_INFO_KEY];
    char *end = whole + snprintf(whole, sizeof(whole), "coll_topo_%s", name);

    while (OPAL_MAX_INFO_KEY <= end - whole) {
        while ('_' != *--end) {
        }
        *end = '\0';
    }
    memcpy(key, whole, (size_t) (end - whole) + 1);
}

/* The communicator's info key of a setting before its MCA variable. */
static void mca_coll_topo_apply_setting(mca_coll_topo_module_t *module, const colltopo_setting *setting,
                                        const char *variable, bool has_info)
{
    char key[OPAL_MAX_INFO_KEY], from_info[OPAL_MAX_INFO_VAL + 1];
    const char *value = NULL == variable ? "" : variable;

    if (has_info) {
        mca_coll_topo_info_key(setting->name, key);
        if (mca_coll_topo_info_value(module->comm, key, from_info, sizeof(from_info))) {
            value = from_info;
        }
    }
    if (0 == strcmp("verbose", setting->name)) {
        module->verbose = (int) strtol(value, NULL, 10);
    }
    if (0 == strcmp(value, NULL == setting->default_value ? "" : setting->default_value)) {
        return;
    }
    /* A value that is refused makes colltopo decline, and the other ranks with it. */
    if (COLLTOPO_SUCCESS != colltopo_comm_set(module->collectives, setting->name, value) && 0 == module->rank) {
        mca_coll_topo_warn(colltopo_last_error());
    }
}

int mca_coll_topo_module_start(mca_coll_topo_module_t *module)
{
    const colltopo_setting *settings = colltopo_settings();
    colltopo_callbacks callbacks;

    mca_coll_topo_callbacks(module, &callbacks);
    module->collectives = colltopo_comm_create(module->rank, module->ranks, &callbacks);
    if (NULL == module->collectives) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    module->left = colltopo_left(module->collectives);
    module->passed_on = colltopo_passed_on_count(module->collectives);
    module->until_look = colltopo_until_look(module->collectives);
    module->turns_taken = colltopo_turns_taken(module->collectives);
    const bool has_info = mca_coll_topo_has_info(module->comm, "coll_topo_");
    for (int i = 0; NULL != settings[i].name; ++i) {
        mca_coll_topo_apply_setting(module, &settings[i], mca_coll_topo_component.settings[i], has_info);
    }
    module->serving = true;
    if (0 == module->rank && 0 < module->verbose) {
        mca_coll_topo_say_defects(module);
    }
    return OMPI_SUCCESS;
}

int mca_coll_topo_decline_alone(mca_coll_topo_module_t *module, int collective)
{
    int rc = module->serving ? OMPI_SUCCESS : mca_coll_topo_module_start(module);

    if (OMPI_SUCCESS == rc) {
        rc = colltopo_leave(module->collectives, collective, 0);
        rc = COLLTOPO_SUCCESS == rc || COLLTOPO_DECLINED == rc ? COLLTOPO_DECLINED : mca_coll_topo_error(rc);
    }
    return rc;
}

int mca_coll_topo_error(int rc)
{
    char line[256];

    if (COLLTOPO_INVALID != rc) {
        return rc;
    }
    (void) shell_failure(line, sizeof(line));
    mca_coll_topo_warn(line);
    return MPI_ERR_INTERN;
}

int mca_coll_topo_run(void *owner, int collective, const colltopo_call *call)
{
    mca_coll_topo_module_t *module = (mca_coll_topo_module_t *) owner;
    int rc;

    module->abandoned = false;
    rc = colltopo_run(module->collectives, collective, call);
    return COLLTOPO_SUCCESS == rc || COLLTOPO_DECLINED == rc ? rc : mca_coll_topo_error(rc);
}
