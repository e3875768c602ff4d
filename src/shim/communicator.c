/* Making and freeing the shim's part of a communicator.
 *
 * Deleting an attribute must not wait for other ranks, and does not: both libraries free a communicator locally. When
 * MPI_Finalize deletes the attribute of MPI_COMM_SELF all memory goes, and the private communicators are left to MPI.
 */
#define _GNU_SOURCE
#include "communicator.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collectives.h"
#include "library.h"
#include "types.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int key = MPI_KEYVAL_INVALID; /* guarded by mutex until it is valid */
static atomic_bool ready;            /* key is valid */
static atomic_bool over;             /* MPI_Finalize has begun */
static struct shim_communicator *all;
static MPI_Comm alone; /* valid once ready; MPI_Finalize frees it */

/* The communicator that this thread used last. A freed one may have left its handle to another: `deletions` tells. */
static atomic_ulong deletions;
static _Thread_local struct {
    MPI_Comm comm;
    unsigned long deletions;
    struct shim_communicator *communicator;
} last __attribute__((tls_model("initial-exec")));

static void release(struct shim_communicator *communicator)
{
    colltopo_comm_free(communicator->collectives);
    communicator->collectives = NULL;
    free(communicator->counts);
    free(communicator->sizes);
    communicator->counts = NULL;
    communicator->sizes = NULL;
    shell_free(&communicator->memory);
}

static void unlist(struct shim_communicator *communicator)
{
    if (communicator->previous != NULL) {
        communicator->previous->next = communicator->next;
    } else {
        all = communicator->next;
    }
    if (communicator->next != NULL) {
        communicator->next->previous = communicator->previous;
    }
}

static int no_copy(MPI_Comm comm, int keyval, void *state, void *value, void *copy, int *flag)
{
    (void)comm;
    (void)keyval;
    (void)state;
    (void)value;
    (void)copy;
    *flag = 0;
    return MPI_SUCCESS;
}

static void end_all(void)
{
    struct shim_communicator *communicator;

    atomic_store(&over, true);
    pthread_mutex_lock(&mutex);
    for (communicator = all; communicator != NULL; communicator = communicator->next) {
        release(communicator);
    }
    pthread_mutex_unlock(&mutex);
}

/* The value is NULL on MPI_COMM_SELF, whose attribute only tells that MPI_Finalize has begun. */
static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *state)
{
    struct shim_communicator *communicator = value;

    (void)comm;
    (void)keyval;
    (void)state;
    atomic_fetch_add(&deletions, 1);
    if (communicator == NULL) {
        end_all();
        return MPI_SUCCESS;
    }
    pthread_mutex_lock(&mutex);
    unlist(communicator);
    pthread_mutex_unlock(&mutex);
    release(communicator);
    if (!atomic_load(&over) && communicator->messages != shim_mpi.comm_null) {
        shim_mpi.Comm_free(&communicator->messages);
    }
    free(communicator);
    return MPI_SUCCESS;
}

/* MPI_Comm_create and not MPI_Comm_dup: the program's attributes and their copy callbacks are no business of a hidden
 * communicator. An error comes back as a code. */
static int create_private(MPI_Comm comm, MPI_Comm *made)
{
    MPI_Group group;
    int status = shim_mpi.Comm_group(comm, &group);

    *made = shim_mpi.comm_null;
    if (status == MPI_SUCCESS) {
        status = shim_mpi.Comm_create(comm, group, made);
        shim_mpi.Group_free(&group);
    }
    if (status == MPI_SUCCESS) {
        shim_mpi.Comm_set_errhandler(*made, shim_mpi.errors_return);
    } else {
        *made = shim_mpi.comm_null;
    }
    return status;
}

MPI_Comm shim_comm_alone(void)
{
    return alone;
}

static bool make_ready(void)
{
    bool made;

    if (atomic_load(&ready)) {
        return true;
    }
    pthread_mutex_lock(&mutex);
    made = atomic_load(&ready);
    if (!made) {
        made = shim_mpi.Comm_create_keyval(no_copy, delete_attribute, &key, NULL) == MPI_SUCCESS &&
               shim_mpi.Comm_set_attr(shim_mpi.comm_self, key, NULL) == MPI_SUCCESS;
        if (made) {
            (void)create_private(shim_mpi.comm_self, &alone);
            shim_name_predefined();
        }
        atomic_store(&ready, made);
    }
    pthread_mutex_unlock(&mutex);
    return made;
}

/* COLLTOPO_ALLTOALL_RADIX for alltoall_radix. After a wrong one colltopo declines what the setting is about. */
static void apply_environment(const struct shim_communicator *communicator)
{
    const colltopo_setting *setting;
    char name[128] = "COLLTOPO_";

    for (setting = colltopo_settings(); setting->name != NULL; ++setting) {
        char *to = name + strlen("COLLTOPO_");
        const char *value;
        for (const char *from = setting->name; *from != '\0' && to < name + sizeof(name) - 1; ++from) {
            *to++ = *from >= 'a' && *from <= 'z' ? (char)(*from - 'a' + 'A') : *from;
        }
        *to = '\0';
        value = getenv(name);
        if (value != NULL && colltopo_comm_set(communicator->collectives, setting->name, value) != COLLTOPO_SUCCESS &&
            communicator->rank == 0) {
            shim_say(0, colltopo_last_error());
        }
    }
}

/* The communicator that had no memory, until the call ends. */
static _Thread_local struct {
    bool is_set;
    MPI_Comm comm;
} failed;

static struct shim_communicator *note_failure(MPI_Comm comm)
{
    failed.is_set = true;
    failed.comm = comm;
    return NULL;
}

bool shim_has_failed(void)
{
    return failed.is_set;
}

int shim_fail(void)
{
    failed.is_set = false;
    shim_say(0, "a collective failed on this rank: out of memory; it returns MPI_ERR_NO_MEM, and other ranks may wait");
    return shim_answer(MPI_ERR_NO_MEM, failed.comm);
}

static struct shim_communicator *make(MPI_Comm comm)
{
    struct shim_communicator *communicator = calloc(1, sizeof(*communicator));
    colltopo_callbacks callbacks = shim_callbacks;
    int is_inter = 0;

    if (communicator == NULL) {
        return note_failure(comm);
    }
    communicator->comm = comm;
    communicator->messages = shim_mpi.comm_null;
    shim_mpi.Comm_test_inter(comm, &is_inter);
    shim_mpi.Comm_rank(comm, &communicator->rank);
    shim_mpi.Comm_size(comm, &communicator->ranks);
    if (!is_inter && communicator->ranks > 1) {
        callbacks.context = communicator;
        callbacks.architecture = shell_architecture();
        callbacks.library = shim_library_name();
        communicator->collectives = colltopo_comm_create(communicator->rank, communicator->ranks, &callbacks);
        if (communicator->collectives == NULL || colltopo_settings() == NULL) {
            release(communicator);
            free(communicator);
            return note_failure(comm);
        }
        apply_environment(communicator);
    }
    pthread_mutex_lock(&mutex);
    communicator->next = all;
    if (all != NULL) {
        all->previous = communicator;
    }
    all = communicator;
    pthread_mutex_unlock(&mutex);
    if (shim_mpi.Comm_set_attr(comm, key, communicator) != MPI_SUCCESS) {
        delete_attribute(comm, key, communicator, NULL);
        return NULL;
    }
    return communicator;
}

/* Outside of MPI_Init ... MPI_Finalize the library has to say what is wrong. */
static bool mpi_runs(void)
{
    int initialized = 0, finalized = 0;

    shim_mpi.Initialized(&initialized);
    shim_mpi.Finalized(&finalized);
    return initialized && !finalized;
}

struct shim_communicator *shim_communicator_of(MPI_Comm comm)
{
    const unsigned long deletions_now = atomic_load(&deletions);
    struct shim_communicator *communicator = NULL;
    int found = 0;

    if (atomic_load(&over) || comm == shim_mpi.comm_null) {
        return NULL;
    }
    if (last.communicator != NULL && last.comm == comm && last.deletions == deletions_now) {
        communicator = last.communicator;
    } else {
        if (!mpi_runs() || !make_ready()) {
            return NULL;
        }
        if (shim_mpi.Comm_get_attr(comm, key, &communicator, &found) != MPI_SUCCESS) {
            return NULL;
        }
        if (!found) {
            communicator = make(comm);
        }
        last.comm = comm;
        last.deletions = deletions_now;
        last.communicator = communicator;
    }
    return communicator == NULL || communicator->collectives == NULL || communicator->broken ? NULL : communicator;
}

/* Seconds until somebody says that a rank is waited for; 0: nobody ever does. */
static double patience_s(void)
{
    const char *const given = getenv("COLLTOPO_PATIENCE_S");

    return given == NULL ? 30 : strtod(given, NULL);
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* All ranks come here before any of them makes a communicator. Where one does not have the shim, the others wait:
 * making one takes messages that the library on that rank could take for those of a collective of the program's. Rank 0
 * says so, and rank 1 later, in case it is rank 0. */
static int wait_for_all(const struct shim_communicator *communicator)
{
    const double patience = patience_s() * (1 + communicator->rank), begin = now_s();
    bool says = patience > 0 && communicator->rank < 2;
    MPI_Request barrier;
    int complete = 0, status = shim_mpi.Ibarrier(communicator->comm, &barrier);

    while (status == MPI_SUCCESS && !complete) {
        status = shim_mpi.Test(&barrier, &complete, MPI_STATUS_IGNORE);
        if (!complete && says && now_s() - begin > patience) {
            shim_say(0,
                     "ranks of a communicator are waited for in its first collective; if this lasts, one of them was "
                     "started without the shim, which all must have");
            says = false;
        }
        if (!complete) {
            sched_yield();
        }
    }
    return status;
}

static void make_private(struct shim_communicator *communicator)
{
    if (wait_for_all(communicator) != MPI_SUCCESS ||
        create_private(communicator->comm, &communicator->messages) != MPI_SUCCESS) {
        communicator->broken = true;
        if (communicator->rank == 0) {
            shim_say(0, "no private communicator could be made; passing calls on this communicator through");
        }
    }
}

bool shim_has_served(const struct shim_communicator *communicator)
{
    return communicator->messages != shim_mpi.comm_null;
}

_Thread_local struct shim_left shim_left;

void shim_note_left(struct shim_communicator *communicator, int collective)
{
    if ((*colltopo_left(communicator->collectives) >> collective & 1) != 0) {
        shim_left = (struct shim_left){communicator, collective};
    }
}

struct shim_left shim_take_left(void)
{
    const struct shim_left left = shim_left;

    shim_left.communicator = NULL;
    return left;
}

int shim_came_back(struct shim_left left, int status)
{
    if (left.communicator != NULL) {
        colltopo_previous_done(left.communicator->collectives, left.collective);
    }
    return status;
}

/* Before anything is asked: ranks agree by messages. */
static bool has_private(struct shim_communicator *communicator)
{
    if (communicator->messages == shim_mpi.comm_null && !communicator->broken) {
        make_private(communicator);
    }
    return !communicator->broken;
}

int shim_decline_alone(struct shim_communicator *communicator, int collective)
{
    if (has_private(communicator)) {
        const int left = colltopo_leave(communicator->collectives, collective, 0);
        if (left != COLLTOPO_SUCCESS && left != COLLTOPO_DECLINED) {
            return shim_answer(shim_error(left), communicator->comm);
        }
    }
    return COLLTOPO_DECLINED;
}

int shim_serves(struct shim_communicator *communicator, int collective, const colltopo_call *call)
{
    int serves;

    if (!has_private(communicator)) {
        return COLLTOPO_DECLINED;
    }
    serves = colltopo_serves(communicator->collectives, collective, call);
    if (serves == 1) {
        return COLLTOPO_SUCCESS;
    }
    if (serves != 0) {
        return shim_error(serves);
    }
    shim_note_left(communicator, collective);
    return COLLTOPO_DECLINED;
}
