/* Which processes have this component, alike: each publishes what it has while Open MPI starts, with what its
 * transports publish, and looks up those that it has to agree with when a communicator makes its first call.
 *
 * A process may have none: its file is missing, it was built for another Open MPI, or `--mca coll` leaves it out. It
 * runs other functions than the rest, and whoever sent it a message of an agreement would wait for ever. Whatever makes
 * a process answer mca_coll_topo_comm_query or _enable in another way than others do is part of what is compared. */
#include "ompi_config.h"

#include "coll_topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/proc/proc.h"
#include "opal/class/opal_hash_table.h"
#include "opal/mca/base/mca_base_var.h"

static char mca_coll_topo_key[] = "coll.topo.here";

/* The form of what is published; another one has another number. */
enum { MCA_COLL_TOPO_FORM = 2, MCA_COLL_TOPO_PUBLISHED = 96 };

typedef struct mca_coll_topo_presence_t {
    unsigned form;
    int priority, has_device, has_settings;
    unsigned long long build, others; /* `others`: of the other components, a sum */
} mca_coll_topo_presence_t;

/* What is remembered of a process: a question for what nobody has published takes long. */
typedef struct mca_coll_topo_known_t {
    int kind, has_settings;
    char how[80]; /* it differs */
} mca_coll_topo_known_t;

static struct {
    char published[MCA_COLL_TOPO_PUBLISHED]; /* by this process; empty: nothing was */
    mca_coll_topo_presence_t own;
    opal_hash_table_t known; /* mca_coll_topo_known_t by a process's name */
    bool is_open;
} mca_coll_topo_peers;

/* FNV-1a, by the zero at the end too. */
static unsigned long long mca_coll_topo_sum(unsigned long long sum, const char *text)
{
    do {
        sum = (sum ^ (unsigned char) *text) * 0x100000001B3ull;
    } while ('\0' != *text++);
    return sum;
}

/* Those that may stand above or below this one, which are registered by now: whether they are, and their priorities.
 * Not those that only some networks have, which may have gone already. */
static unsigned long long mca_coll_topo_sum_of_others(void)
{
    static const char *const names[] = {"adapt",      "basic", "han",  "inter", "libnbc",
                                        "monitoring", "sm",    "sync", "tuned"};
    const char *selection = ompi_coll_base_framework.framework_selection;
    unsigned long long sum = mca_coll_topo_sum(0xCBF29CE484222325ull, NULL == selection ? "" : selection);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        const int variable = mca_base_var_find("ompi", "coll", names[i], "priority");
        const int *priority = NULL;
        char number[16] = "none";
        if (0 <= variable && OPAL_SUCCESS == mca_base_var_get_value(variable, &priority, NULL, NULL)
            && NULL != priority) {
            (void) snprintf(number, sizeof(number), "%d", *priority);
        }
        sum = mca_coll_topo_sum(mca_coll_topo_sum(sum, names[i]), number);
    }
    return sum;
}

static bool mca_coll_topo_read(const char *text, mca_coll_topo_presence_t *presence)
{
    return 6
           == sscanf(text, "%u %d %d %llx %llx %d", &presence->form, &presence->priority, &presence->has_device,
                     &presence->build, &presence->others, &presence->has_settings);
}

/* Any but one that only says more. */
static bool mca_coll_topo_has_settings(void)
{
    const colltopo_setting *settings = colltopo_settings();

    for (int i = 0; NULL != settings[i].name; ++i) {
        const char *value = mca_coll_topo_component.settings[i];
        const char *usual = NULL == settings[i].default_value ? "" : settings[i].default_value;
        if (NULL != value && 0 != strcmp("verbose", settings[i].name) && 0 != strcmp(usual, value)) {
            return true;
        }
    }
    return false;
}

/* Before Open MPI's processes exchange what they have published. Without it this process would be absent to others. */
bool mca_coll_topo_publish(void)
{
    mca_coll_topo_presence_t *own = &mca_coll_topo_peers.own;
    char *published = mca_coll_topo_peers.published;
    int rc;

    OBJ_CONSTRUCT(&mca_coll_topo_peers.known, opal_hash_table_t);
    mca_coll_topo_peers.is_open = true;
    if (OPAL_SUCCESS != opal_hash_table_init(&mca_coll_topo_peers.known, 64)) {
        return false;
    }
    *own = (mca_coll_topo_presence_t){.form = MCA_COLL_TOPO_FORM,
                                      .priority = mca_coll_topo_component.priority,
                                      .has_device = NULL != mca_coll_topo_device(),
                                      .has_settings = mca_coll_topo_has_settings(),
                                      .build = colltopo_build(),
                                      .others = mca_coll_topo_sum_of_others()};
    (void) snprintf(published, MCA_COLL_TOPO_PUBLISHED, "%u %d %d %llx %llx %d", own->form, own->priority,
                    own->has_device, own->build, own->others, own->has_settings);
    OPAL_MODEX_SEND_VALUE(rc, MCA_COLL_TOPO_MODEX_SCOPE, mca_coll_topo_key, published, MCA_COLL_TOPO_MODEX_STRING);
    if (OPAL_SUCCESS != rc) {
        published[0] = '\0';
    }
    return OPAL_SUCCESS == rc;
}

void mca_coll_topo_forget_peers(void)
{
    void *known = NULL, *node = NULL;
    uint64_t key;

    if (mca_coll_topo_peers.is_open) {
        while (OPAL_SUCCESS
               == opal_hash_table_get_next_key_uint64(&mca_coll_topo_peers.known, &key, &known, node, &node)) {
            free(known);
        }
        OBJ_DESTRUCT(&mca_coll_topo_peers.known);
        mca_coll_topo_peers.is_open = false;
    }
}

/* As it was published; the variable may have been set since, by MPI_T, on one process alone. */
int mca_coll_topo_priority(void)
{
    return '\0' == mca_coll_topo_peers.published[0] ? -1 : mca_coll_topo_peers.own.priority;
}

/* What a process has published; empty: nothing, or nothing that can be had. An error code where there is no memory to
 * know.
 *
 * A question for what nobody has published may take 2 s, since its owner might yet publish it, unless it is asked to be
 * answered at once. Then it is not passed on to the other node, which is right only where the processes of a job have
 * exchanged all at the start. */
static int mca_coll_topo_ask_for(opal_process_name_t name, char text[MCA_COLL_TOPO_PUBLISHED])
{
    const bool is_exchanged =
        opal_pmix_collect_all_data && !opal_pmix_base_async_modex && name.jobid == OMPI_PROC_MY_NAME->jobid;
    int rc = mca_coll_topo_modex_get(mca_coll_topo_key, &name, true, text, MCA_COLL_TOPO_PUBLISHED);

    if (OPAL_SUCCESS != rc && !is_exchanged) {
        rc = mca_coll_topo_modex_get(mca_coll_topo_key, &name, false, text, MCA_COLL_TOPO_PUBLISHED);
    }
    if (OPAL_SUCCESS != rc) {
        text[0] = '\0';
    }
    return OPAL_ERR_OUT_OF_RESOURCE == rc ? MPI_ERR_NO_MEM : COLLTOPO_SUCCESS;
}

/* Settings are compared when the ranks meet. */
static mca_coll_topo_known_t mca_coll_topo_known_of(const char *text)
{
    const mca_coll_topo_presence_t *own = &mca_coll_topo_peers.own;
    mca_coll_topo_presence_t other;

    if (!mca_coll_topo_read(text, &other) || other.priority < 0) {
        return (mca_coll_topo_known_t){.kind = COLLTOPO_PEER_ABSENT};
    }
    const bool is_alike = '\0' != mca_coll_topo_peers.published[0] && own->form == other.form
                          && own->priority == other.priority && own->has_device == other.has_device
                          && own->build == other.build && own->others == other.others;
    return (mca_coll_topo_known_t){.kind = is_alike ? COLLTOPO_PEER_ALIKE : COLLTOPO_PEER_DIFFERENT,
                                   .has_settings = other.has_settings};
}

static void mca_coll_topo_say_difference(const char *text, size_t size, char *difference)
{
    const mca_coll_topo_presence_t *own = &mca_coll_topo_peers.own;
    mca_coll_topo_presence_t presence;

    if (!mca_coll_topo_read(text, &presence)) {
        (void) snprintf(difference, size, "does not have coll/topo");
    } else if (own->priority != presence.priority) {
        (void) snprintf(difference, size, "has coll_topo_priority %d, not %d", presence.priority, own->priority);
    } else if (own->form != presence.form || own->build != presence.build) {
        (void) snprintf(difference, size, "has another build of coll/topo");
    } else if (own->has_device != presence.has_device) {
        (void) snprintf(difference, size, "has %s accelerator", presence.has_device ? "an" : "no");
    } else {
        (void) snprintf(difference, size, "has other components or priorities of coll");
    }
}

static bool mca_coll_topo_recall(uint64_t key, mca_coll_topo_known_t *known)
{
    void *found = NULL;

    OPAL_THREAD_LOCK(&mca_coll_topo_component.lock);
    if (OPAL_SUCCESS == opal_hash_table_get_value_uint64(&mca_coll_topo_peers.known, key, &found)) {
        *known = *(const mca_coll_topo_known_t *) found;
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_component.lock);
    return NULL != found;
}

/* Another thread may have asked as well. Without memory it is asked for again. */
static void mca_coll_topo_keep_known(uint64_t key, const mca_coll_topo_known_t *known)
{
    mca_coll_topo_known_t *kept = malloc(sizeof(*kept));
    void *found = NULL;

    if (NULL == kept) {
        return;
    }
    *kept = *known;
    OPAL_THREAD_LOCK(&mca_coll_topo_component.lock);
    (void) opal_hash_table_get_value_uint64(&mca_coll_topo_peers.known, key, &found);
    if (NULL != found || OPAL_SUCCESS != opal_hash_table_set_value_uint64(&mca_coll_topo_peers.known, key, kept)) {
        free(kept);
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_component.lock);
}

int mca_coll_topo_peer(void *context, int rank, colltopo_peer *peer)
{
    const mca_coll_topo_module_t *module = (const mca_coll_topo_module_t *) context;
    const opal_process_name_t name = ompi_group_get_proc_name(module->comm->c_remote_group, rank);
    const uint64_t key = (uint64_t) name.jobid << 32 | name.vpid;
    mca_coll_topo_known_t known = {.kind = COLLTOPO_PEER_ABSENT};

    if (!mca_coll_topo_recall(key, &known)) {
        char text[MCA_COLL_TOPO_PUBLISHED] = "";
        const int rc = mca_coll_topo_ask_for(name, text);
        if (COLLTOPO_SUCCESS != rc) {
            return rc;
        }
        known = mca_coll_topo_known_of(text);
        if (COLLTOPO_PEER_ALIKE != known.kind) {
            mca_coll_topo_say_difference(text, sizeof(known.how), known.how);
        }
        mca_coll_topo_keep_known(key, &known);
    }
    peer->kind = known.kind;
    peer->has_settings = known.has_settings;
    if (COLLTOPO_PEER_ALIKE != known.kind) {
        const char *form = name.jobid == OMPI_PROC_MY_NAME->jobid ? "rank %u of MPI_COMM_WORLD on %.48s %.64s"
                                                                  : "rank %u of another job on %.48s %.64s";
        (void) snprintf(peer->difference, sizeof(peer->difference), form, (unsigned) name.vpid,
                        mca_coll_topo_host_of(module, rank), known.how);
    }
    return COLLTOPO_SUCCESS;
}
