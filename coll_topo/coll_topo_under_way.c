/* The requests under way, and what moves them on.
 *
 * They are in a list, which opal_progress looks at only while there is one: the function is registered with the first
 * of them, and unregistered at the first look that finds none. So a process that waits for one call after another does
 * not register anew for each, and one that does something else has it gone. One thread moves them on at a time; new
 * ones come in by a list of their own. */
#include "ompi_config.h"

#include "coll_topo_requests.h"

#include "opal/runtime/opal_progress.h"

enum { MCA_COLL_TOPO_LOOKS = 64 }; /* at requests, in one go: with a thousand of them under way MPI_Test stays short */

static struct {
    opal_mutex_t lock; /* of what follows, and of the requests' is_under_way and was_freed */
    mca_coll_topo_request_t *incoming;
    mca_coll_topo_request_t *free;
    bool is_registered;
    int is_looked_at; /* somebody moves them on */
    /* Whoever does has these to himself. */
    mca_coll_topo_request_t *first;
    mca_coll_topo_request_t *cursor; /* where the next look begins */
} mca_coll_topo_under_way;

static int mca_coll_topo_look(void);

int mca_coll_topo_open_requests(void)
{
    OBJ_CONSTRUCT(&mca_coll_topo_under_way.lock, opal_mutex_t);
    return OMPI_SUCCESS;
}

void mca_coll_topo_close_requests(void)
{
    if (mca_coll_topo_under_way.is_registered) {
        (void) opal_progress_unregister(mca_coll_topo_look);
        mca_coll_topo_under_way.is_registered = false;
    }
    while (NULL != mca_coll_topo_under_way.free) {
        mca_coll_topo_request_t *request = mca_coll_topo_under_way.free;
        mca_coll_topo_under_way.free = request->next;
        OBJ_RELEASE(request);
    }
    OBJ_DESTRUCT(&mca_coll_topo_under_way.lock);
}

/* NULL: out of memory. */
mca_coll_topo_request_t *mca_coll_topo_idle_request(void)
{
    mca_coll_topo_request_t *request;

    OPAL_THREAD_LOCK(&mca_coll_topo_under_way.lock);
    request = mca_coll_topo_under_way.free;
    if (NULL != request) {
        mca_coll_topo_under_way.free = request->next;
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_under_way.lock);
    return NULL == request ? OBJ_NEW(mca_coll_topo_request_t) : request;
}

void mca_coll_topo_keep_idle(mca_coll_topo_request_t *request)
{
    OPAL_THREAD_LOCK(&mca_coll_topo_under_way.lock);
    request->next = mca_coll_topo_under_way.free;
    mca_coll_topo_under_way.free = request;
    OPAL_THREAD_UNLOCK(&mca_coll_topo_under_way.lock);
}

/* Kept by the module, each under its collective. Enough for what a program repeats, and for as many of them under way
 * as go with it; what is larger pays little for being made anew. */
enum { MCA_COLL_TOPO_KEPT = 8, MCA_COLL_TOPO_KEPT_BYTES = 16384 };

/* Types and operations that could be freed, and others made where they were, are not compared by their addresses. */
static bool mca_coll_topo_is_fit(const mca_coll_topo_request_t *request)
{
    return request->is_laid_out && !request->is_new && !request->super.super.req_persistent
           && NULL == request->kept_types[0] && NULL == request->kept_types[1] && NULL == request->kept_op
           && NULL == request->counts && request->asked.bytes <= MCA_COLL_TOPO_KEPT_BYTES;
}

static inline bool mca_coll_topo_may_be_kept(mca_coll_topo_request_t *request)
{
    request->is_fit = request->is_fit || mca_coll_topo_is_fit(request);
    return request->is_fit && MPI_SUCCESS == request->super.super.req_status.MPI_ERROR
           && MCA_COLL_TOPO_RUNS == request->stage
           && request->turns_taken == colltopo_turns_taken(request->topo->collectives);
}

bool mca_coll_topo_keep_request(mca_coll_topo_request_t *request)
{
    mca_coll_topo_kept_t *kept = &request->topo->kept[request->kind->collective];
    bool fits = false;

    if (!mca_coll_topo_may_be_kept(request)) {
        return false;
    }
    OPAL_THREAD_LOCK(&mca_coll_topo_under_way.lock);
    if (kept->requests < MCA_COLL_TOPO_KEPT) {
        request->next = kept->first;
        kept->first = request;
        ++kept->requests;
        fits = true;
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_under_way.lock);
    return fits;
}

static inline bool mca_coll_topo_are_alike(const mca_coll_topo_arguments_t *a, const mca_coll_topo_arguments_t *b)
{
    return a->rcount == b->rcount && a->rdtype == b->rdtype && a->op == b->op && a->scount == b->scount
           && a->sdtype == b->sdtype && a->root == b->root && (MPI_IN_PLACE == a->sbuf) == (MPI_IN_PLACE == b->sbuf)
           && (MPI_IN_PLACE == a->rbuf) == (MPI_IN_PLACE == b->rbuf);
}

static mca_coll_topo_request_t *mca_coll_topo_take_kept(mca_coll_topo_kept_t *kept, mca_coll_topo_request_t **place)
{
    mca_coll_topo_request_t *request = *place;

    *place = request->next;
    --kept->requests;
    return request;
}

/* The whole list: after a turn its calls may not be known any more. */
static void mca_coll_topo_drop_kept(mca_coll_topo_kept_t *kept)
{
    while (NULL != kept->first) {
        mca_coll_topo_request_t *request = mca_coll_topo_take_kept(kept, &kept->first);
        mca_coll_topo_let_go(request);
        request->next = mca_coll_topo_under_way.free;
        mca_coll_topo_under_way.free = request;
    }
}

mca_coll_topo_request_t *mca_coll_topo_kept_request(mca_coll_topo_module_t *topo, const mca_coll_topo_kind_t *kind,
                                                    const mca_coll_topo_arguments_t *arguments)
{
    mca_coll_topo_kept_t *kept = &topo->kept[kind->collective];
    mca_coll_topo_request_t *found = NULL;

    OPAL_THREAD_LOCK(&mca_coll_topo_under_way.lock);
    if (NULL != kept->first
        && OPAL_UNLIKELY(kept->first->turns_taken != colltopo_turns_taken(topo->collectives))) {
        mca_coll_topo_drop_kept(kept);
    }
    for (mca_coll_topo_request_t **place = &kept->first; NULL != *place; place = &(*place)->next) {
        if ((*place)->kind == kind && mca_coll_topo_are_alike(&(*place)->arguments, arguments)) {
            found = mca_coll_topo_take_kept(kept, place);
            break;
        }
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_under_way.lock);
    return found;
}

void mca_coll_topo_drop_requests(mca_coll_topo_module_t *topo)
{
    OPAL_THREAD_LOCK(&mca_coll_topo_under_way.lock);
    for (int collective = 0; collective < COLLTOPO_COLLECTIVES; ++collective) {
        mca_coll_topo_drop_kept(&topo->kept[collective]);
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_under_way.lock);
}

bool mca_coll_topo_free_later(mca_coll_topo_request_t *request)
{
    bool later;

    OPAL_THREAD_LOCK(&mca_coll_topo_under_way.lock);
    later = request->is_under_way;
    request->was_freed = later;
    OPAL_THREAD_UNLOCK(&mca_coll_topo_under_way.lock);
    return later;
}

bool mca_coll_topo_is_back(mca_coll_topo_request_t *request)
{
    bool was_freed;

    OPAL_THREAD_LOCK(&mca_coll_topo_under_way.lock);
    request->is_under_way = false;
    was_freed = request->was_freed;
    OPAL_THREAD_UNLOCK(&mca_coll_topo_under_way.lock);
    return was_freed;
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

    OPAL_THREAD_LOCK(&mca_coll_topo_under_way.lock);
    incoming = mca_coll_topo_under_way.incoming;
    mca_coll_topo_under_way.incoming = NULL;
    if (NULL == incoming && NULL == mca_coll_topo_under_way.first && mca_coll_topo_under_way.is_registered) {
        (void) opal_progress_unregister(mca_coll_topo_look);
        mca_coll_topo_under_way.is_registered = false;
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_under_way.lock);
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
    return (NULL == request->awaited || REQUEST_COMPLETE(request->awaited)) && mca_coll_topo_move_on(request);
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
    int completed = 0;

    if (!mca_coll_topo_enter()) {
        return 0;
    }
    if (OPAL_UNLIKELY(NULL != mca_coll_topo_under_way.incoming || NULL == mca_coll_topo_under_way.first)) {
        mca_coll_topo_take_in();
    }
    request = mca_coll_topo_under_way.first;
    if (OPAL_UNLIKELY(NULL != request && request->next != request)) {
        completed = mca_coll_topo_look_at_all();
    } else if (NULL != request && mca_coll_topo_is_over(request)) {
        mca_coll_topo_end_one(request);
        completed = 1;
    }
    mca_coll_topo_leave();
    return completed;
}

/* The request is under way from now on, and whoever makes progress completes it. */
void mca_coll_topo_send_off(mca_coll_topo_request_t *request)
{
    OPAL_THREAD_LOCK(&mca_coll_topo_under_way.lock);
    if (OPAL_LIKELY(!opal_using_threads() && 0 == mca_coll_topo_under_way.is_looked_at
                    && NULL == mca_coll_topo_under_way.incoming)) {
        mca_coll_topo_link(request);
    } else {
        request->next = mca_coll_topo_under_way.incoming;
        mca_coll_topo_under_way.incoming = request;
    }
    if (OPAL_UNLIKELY(!mca_coll_topo_under_way.is_registered)) {
        mca_coll_topo_under_way.is_registered = true;
        (void) opal_progress_register(mca_coll_topo_look);
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_under_way.lock);
}
