/* colltopo's callbacks over MPI: messages on the private communicator, agreement and locality by the library's own
 * collectives on the program's. */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "communicator.h"
#include "library.h"
#include "types.h"

/* Rounds without work before the processor is given away: ranks may outnumber processors. */
enum { k_patience = 64 };

static MPI_Request request_of(void *request)
{
    return (MPI_Request)(intptr_t)request;
}

/* A message of more bytes than an int counts is one element of that size; both ends know its length. */
static int post(struct shim_communicator *communicator, const void *from, void *to, size_t bytes, int peer, int tag,
                void **request)
{
    MPI_Datatype type = shim_mpi.byte;
    MPI_Request posted;
    const int is_long = bytes > INT_MAX;
    int count = is_long ? 1 : (int)bytes;
    int status = is_long ? shim_make_bytes_type(bytes, &type) : MPI_SUCCESS;

    if (status != MPI_SUCCESS) {
        return status;
    }
    status = to == NULL ? shim_mpi.Isend(from, count, type, peer, tag, communicator->messages, &posted)
                        : shim_mpi.Irecv(to, count, type, peer, tag, communicator->messages, &posted);
    if (is_long) {
        shim_mpi.Type_free(&type);
    }
    if (status == MPI_SUCCESS) {
        *request = (void *)(intptr_t)posted;
        ++communicator->requests;
    }
    return status;
}

/* Lanes are of no account: MPI has one route between two ranks. */
static int send(void *context, const void *data, size_t bytes, int peer, int lane, int collective, void **request)
{
    (void)lane;
    return post(context, data, NULL, bytes, peer, collective, request);
}

static int recv(void *context, void *data, size_t bytes, int peer, int lane, int collective, void **request)
{
    static char nowhere; /* for the address of a message without bytes */

    (void)lane;
    return post(context, NULL, data == NULL ? &nowhere : data, bytes, peer, collective, request);
}

static int test(void *context, void **request)
{
    struct shim_communicator *communicator = context;
    MPI_Request tested = request_of(*request);
    int complete = 0;
    const int status = shim_mpi.Test(&tested, &complete, MPI_STATUS_IGNORE);

    if (status != MPI_SUCCESS || complete) {
        *request = NULL;
        --communicator->requests;
        communicator->idle = 0;
    }
    return status;
}

/* A receive that no message has met yet is taken back; whatever else is under way finishes unseen. */
static void abandon(void *context, void **request)
{
    struct shim_communicator *communicator = context;
    MPI_Request abandoned = request_of(*request);
    int complete = 0;

    if (*request == NULL) {
        return;
    }
    shim_mpi.Cancel(&abandoned);
    if (shim_mpi.Test(&abandoned, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && !complete) {
        communicator->abandoned = true;
        shim_mpi.Request_free(&abandoned);
    }
    *request = NULL;
    --communicator->requests;
}

/* Tests move MPI on by themselves; without a request to test, a probe does. */
static void progress(void *context)
{
    struct shim_communicator *communicator = context;
    int found;

    if (communicator->requests == 0) {
        shim_mpi.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator->messages, &found, MPI_STATUS_IGNORE);
    }
    if (++communicator->idle % k_patience == 0) {
        sched_yield();
    }
}

/* A node is named by the first of its ranks, a place in it by that and the place's number on the node. */
static int locality(void *context, int level, int *group_of)
{
    const struct shim_communicator *communicator = context;
    const int ranks = communicator->ranks;
    int mine[2] = {communicator->rank, level == COLLTOPO_NODE ? 0 : shim_place_of_process(level)};
    int(*places)[2] = malloc((size_t)ranks * sizeof(*places));
    MPI_Comm node;
    int status;

    if (places == NULL) {
        return MPI_ERR_NO_MEM;
    }
    status = shim_mpi.Comm_split_type(communicator->comm, MPI_COMM_TYPE_SHARED, 0, shim_mpi.info_null, &node);
    if (status == MPI_SUCCESS) {
        shim_mpi.Allreduce(&communicator->rank, &mine[0], 1, shim_mpi.int_type, shim_mpi.min, node);
        shim_mpi.Comm_free(&node);
        status = shim_mpi.Allgather(mine, 2, shim_mpi.int_type, places, 2, shim_mpi.int_type, communicator->comm);
    }
    for (int rank = 0, groups = 0; status == MPI_SUCCESS && rank < ranks; ++rank) {
        int same = places[rank][0];
        while (places[same][0] != places[rank][0] || places[same][1] != places[rank][1]) {
            ++same;
        }
        group_of[rank] = same == rank ? groups++ : group_of[same];
    }
    free(places);
    return status;
}

/* MPI knows no names of other ranks' hosts. As numbers, since every library has a type for those. */
static int host_names(void *context, size_t size, char *names)
{
    const struct shim_communicator *communicator = context;
    const int numbers = (int)(size / sizeof(int));
    int *mine = calloc((size_t)numbers, sizeof(int)), *all = calloc((size_t)communicator->ranks, size);
    int status = MPI_ERR_NO_MEM;

    if (mine != NULL && all != NULL) {
        gethostname((char *)mine, size - 1);
        status =
            shim_mpi.Allgather(mine, numbers, shim_mpi.int_type, all, numbers, shim_mpi.int_type, communicator->comm);
        memcpy(names, all, (size_t)communicator->ranks * size);
    }
    free(mine);
    free(all);
    return status;
}

static int wanted_level(void)
{
    const char *verbose = getenv("COLLTOPO_VERBOSE");

    return verbose == NULL ? 0 : atoi(verbose);
}

/* Every communicator finds the same setting wrong. */
static int was_said(const char *line)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static char *lines[64];
    size_t i = 0;
    int said = 0;

    pthread_mutex_lock(&mutex);
    while (i < sizeof(lines) / sizeof(lines[0]) && lines[i] != NULL && !said) {
        said = strcmp(lines[i++], line) == 0;
    }
    if (!said && i < sizeof(lines) / sizeof(lines[0])) {
        lines[i] = strdup(line);
    }
    pthread_mutex_unlock(&mutex);
    return said;
}

void shim_say(int level, const char *line)
{
    if (level <= wanted_level() && (level > 0 || !was_said(line))) {
        fprintf(stderr, "colltopo: %s\n", line);
    }
}

static void say(void *context, int level, const char *line)
{
    (void)context;
    shim_say(level, line);
}

/* No wait: between tests, ranks that outnumber the processors give theirs away. */
const colltopo_callbacks shim_callbacks = {
    .send = send,
    .recv = recv,
    .test = test,
    .abandon = abandon,
    .progress = progress,
    .locality = locality,
    .host_names = host_names,
    .say = say,
    .previous = "the MPI library",
    .transport_error = MPI_ERR_OTHER,
    .truncation_error = MPI_ERR_TRUNCATE,
};
