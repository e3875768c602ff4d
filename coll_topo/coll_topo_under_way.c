/* The requests under way, and what moves them on.
 *
 * They are in a list, which opal_progress looks at only while there is one: the function is registered with the first
 * of them, and unregistered at the first look that finds none. So a process that waits for one call after another does
 * not register anew for each, and one that does something else has it gone. While lanes still hold what operations that
 * are over have sent, it stays registered. One thread moves them on at a time; new ones come in by a list of their
 * own.
 *
 * opal_progress asks its functions first and sockets after them. So what a socket has brought is seen at the next call,
 * and whoever waits for that call waits for one more question to the sockets: 0.5 us of 10 that a call over TCP takes.
 * A look that has moved something on leaves this question out, by Open MPI's flag for it; the look after it never does.
 */
#include "ompi_config.h"

#include "coll_topo_kept.h"

#include "opal/runtime/opal_progress.h"

enum { MCA_COLL_TOPO_LOOKS = 64 }; /* at requests, in one go: with a thousand of them under way MPI_Test stays short */

static struct {
    /* With the lock of requests. */
    mca_coll_topo_request_t *incoming;
    bool is_registered;
    int is_looked_at; /* somebody moves them on */
    /* Whoever does has these to himself. */
    mca_coll_topo_request_t *first;
    mca_coll_topo_request_t *cursor; /* where the next look begins */
    const int *lingering;            /* set with the first registration */
    bool has_moved;                  /* something, in this look */
    bool leaves_sockets;             /* out of this call of opal_progress */
    int event_flag;                  /* Open MPI's, while it does */
} mca_coll_topo_under_way;

static int mca_coll_topo_look(void);

static inline void mca_coll_topo_leave_sockets(void)
{
    mca_coll_topo_under_way.event_flag = opal_progress_set_event_flag(0);
    mca_coll_topo_under_way.leaves_sockets = true;
}

/* Returns whether they were left out before. Somebody else may have set the flag meanwhile. */
static inline bool mca_coll_topo_ask_sockets(void)
{
    int flag;

    if (OPAL_LIKELY(!mca_coll_topo_under_way.leaves_sockets)) {
        return false;
    }
    mca_coll_topo_under_way.leaves_sockets = false;
    flag = opal_progress_set_event_flag(mca_coll_topo_under_way.event_flag);
    if (OPAL_UNLIKELY(0 != flag)) {
        (void) opal_progress_set_event_flag(flag);
    }
    return true;
}

void mca_coll_topo_stop_looking(void)
{
    (void) mca_coll_topo_ask_sockets();
    if (mca_coll_topo_under_way.is_registered) {
        (void) opal_progress_unregister(mca_coll_topo_look);
        mca_coll_topo_under_way.is_registered = false;
    }
}

/* Hints without the lock: what others write meanwhile is seen in the next look. */
static inline bool mca_coll_topo_lingers(void)
{
    return 0 != __atomic_load_n(mca_coll_topo_under_way.lingering, __ATOMIC_RELAXED);
}

static inline bool mca_coll_topo_has_incoming(void)
{
    return NULL != __atomic_load_n(&mca_coll_topo_under_way.incoming, __ATOMIC_RELAXED);
}

/* With the lock. */
static inline void mca_coll_topo_set_incoming(mca_coll_topo_request_t *request)
{
    __atomic_store_n(&mca_coll_topo_under_way.incoming, request, __ATOMIC_RELAXED);
}

static inline bool mca_coll_topo_enter(void)
{
    if (opal_using_threads()) {
        return 0 == __atomic_exchange_n(&mca_coll_topo_under_way.is_looked_at, 1, __ATOMIC_ACQUIRE);
    }
    if (0 != mca_coll_topo_under_way.is_looked_at) {
        return false;
    }
    mca_coll_topo_under_way.is_looked_at = 1;
    return true;
}

static inline void mca_coll_topo_leave(void)
{
    __atomic_store_n(&mca_coll_topo_under_way.is_looked_at, 0, __ATOMIC_RELEASE);
}

/* Puts a request between the last one and the first: the list is a ring. */
static void mca_coll_topo_link(mca_coll_topo_request_t *request)
{
    mca_coll_topo_request_t *first = mca_coll_topo_under_way.first;

    if (NULL == first) {
        mca_coll_topo_under_way.first = mca_coll_topo_under_way.cursor = request->next = request->before = request;
        return;
    }
    request->next = first;
    request->before = first->before;
    first->before->next = request;
    first->before = request;
}

static void mca_coll_topo_unlink(mca_coll_topo_request_t *request)
{
    if (request->next == request) {
        mca_coll_topo_under_way.first = mca_coll_topo_under_way.cursor = NULL;
        return;
    }
    if (mca_coll_topo_under_way.first == request) {
        mca_coll_topo_under_way.first = request->next;
    }
    if (mca_coll_topo_under_way.cursor == request) {
        mca_coll_topo_under_way.cursor = request->next;
    }
    request->next->before = request->before;
    request->before->next = request->next;
}

/* Those that came in meanwhile, in their order; with none at all, nothing is left to be called for. */
static __attribute__((noinline)) void mca_coll_topo_take_in(void)
{
    mca_coll_topo_request_t *incoming, *in_order = NULL;

    OPAL_THREAD_LOCK(&mca_coll_topo_request_lock);
    incoming = mca_coll_topo_under_way.incoming;
    mca_coll_topo_set_incoming(NULL);
    if (NULL == incoming && NULL == mca_coll_topo_under_way.first && !mca_coll_topo_lingers()
        && mca_coll_topo_under_way.is_registered) {
        (void) opal_progress_unregister(mca_coll_topo_look);
        mca_coll_topo_under_way.is_registered = false;
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_request_lock);
    while (NULL != incoming) { /* the last to come is the first there */
        mca_coll_topo_request_t *next = incoming->next;
        incoming->next = in_order;
        in_order = incoming;
        incoming = next;
    }
    while (NULL != in_order) {
        mca_coll_topo_request_t *next = in_order->next;
        mca_coll_topo_link(in_order);
        in_order = next;
    }
}

/* One that waits for a message costs a look at that. */
static inline bool mca_coll_topo_is_over(mca_coll_topo_request_t *request)
{
    if (NULL != request->awaited) {
        if (!REQUEST_COMPLETE(request->awaited)) {
            return false;
        }
        mca_coll_topo_under_way.has_moved = true;
    }
    return mca_coll_topo_move_on(request);
}

/* Whoever looks has entered. */
static void mca_coll_topo_end_one(mca_coll_topo_request_t *request)
{
    mca_coll_topo_unlink(request);
    mca_coll_topo_complete(request);
}

static __attribute__((noinline)) int mca_coll_topo_look_at_all(void)
{
    const mca_coll_topo_request_t *begin = mca_coll_topo_under_way.cursor;
    int completed = 0;

    for (int looks = 0; looks < MCA_COLL_TOPO_LOOKS && NULL != mca_coll_topo_under_way.cursor; ++looks) {
        mca_coll_topo_request_t *request = mca_coll_topo_under_way.cursor;
        mca_coll_topo_under_way.cursor = request->next;
        if (mca_coll_topo_is_over(request)) {
            begin = begin == request ? request->next : begin;
            mca_coll_topo_end_one(request);
            ++completed;
        } else if (begin == mca_coll_topo_under_way.cursor) {
            break; /* all have been looked at */
        }
    }
    return completed;
}

/* What opal_progress calls. Messages that it sends may lead back here. */
static int mca_coll_topo_look(void)
{
    mca_coll_topo_request_t *request;
    bool were_left;
    int completed = 0;

    if (!mca_coll_topo_enter()) {
        return 0;
    }
    were_left = mca_coll_topo_ask_sockets();
    mca_coll_topo_under_way.has_moved = false;
    if (OPAL_UNLIKELY(mca_coll_topo_lingers())) {
        colltopo_move_lingering();
    }
    if (OPAL_UNLIKELY(mca_coll_topo_has_incoming() || NULL == mca_coll_topo_under_way.first)) {
        mca_coll_topo_take_in();
    }
    request = mca_coll_topo_under_way.first;
    if (OPAL_UNLIKELY(NULL != request && request->next != request)) {
        completed = mca_coll_topo_look_at_all();
    } else if (NULL != request && mca_coll_topo_is_over(request)) {
        mca_coll_topo_end_one(request);
        completed = 1;
    }
    if ((0 < completed || mca_coll_topo_under_way.has_moved) && !were_left) {
        mca_coll_topo_leave_sockets();
    }
    mca_coll_topo_leave();
    return completed;
}

/* With the lock of requests. */
static inline void mca_coll_topo_be_called(void)
{
    if (OPAL_UNLIKELY(!mca_coll_topo_under_way.is_registered)) {
        mca_coll_topo_under_way.is_registered = true;
        mca_coll_topo_under_way.lingering = colltopo_lingering();
        (void) opal_progress_register(mca_coll_topo_look);
    }
}

void mca_coll_topo_look_at_lingering(void)
{
    if (0 != __atomic_load_n(colltopo_lingering(), __ATOMIC_RELAXED)) {
        OPAL_THREAD_LOCK(&mca_coll_topo_request_lock);
        mca_coll_topo_be_called();
        OPAL_THREAD_UNLOCK(&mca_coll_topo_request_lock);
    }
}

/* The request is under way from now on, and whoever makes progress completes it. */
void mca_coll_topo_send_off(mca_coll_topo_request_t *request)
{
    OPAL_THREAD_LOCK(&mca_coll_topo_request_lock);
    if (OPAL_LIKELY(!opal_using_threads() && 0 == mca_coll_topo_under_way.is_looked_at
                    && NULL == mca_coll_topo_under_way.incoming)) {
        mca_coll_topo_link(request);
    } else {
        request->next = mca_coll_topo_under_way.incoming;
        mca_coll_topo_set_incoming(request);
    }
    mca_coll_topo_be_called();
    OPAL_THREAD_UNLOCK(&mca_coll_topo_request_lock);
}
