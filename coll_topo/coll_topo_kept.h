/* Requests between their calls. One that is over stays with its module, and a call that differs from its own in the
 * buffers alone begins it again; others are anybody's. These run in every call, so they are here to be seen by the
 * compiler. */
#ifndef MCA_COLL_TOPO_KEPT_H
#define MCA_COLL_TOPO_KEPT_H

#include "coll_topo_requests.h"

BEGIN_C_DECLS

/* Of all lists of requests, and of their is_under_way and was_freed. */
extern opal_mutex_t mca_coll_topo_request_lock;

/* Requests that nobody uses. NULL: out of memory. */
mca_coll_topo_request_t *mca_coll_topo_idle_request(void);
void mca_coll_topo_keep_idle(mca_coll_topo_request_t *request);

/* Of a module, for each collective: enough for what a program repeats, and for as many of them under way as go with it;
 * what is larger pays little for being made anew. */
enum { MCA_COLL_TOPO_KEPT = 8, MCA_COLL_TOPO_KEPT_BYTES = 16384 };

/* Whether calls of this kind could be told by their arguments. */
bool mca_coll_topo_becomes_fit(mca_coll_topo_request_t *request);
/* Keeps one whose call was declined at once, if such calls can be told. */
bool mca_coll_topo_keep_declined(mca_coll_topo_request_t *request);
/* With the lock: the whole list becomes idle. */
void mca_coll_topo_drop_kept(mca_coll_topo_kept_t *kept);

static inline unsigned mca_coll_topo_turns_taken(const mca_coll_topo_module_t *topo)
{
    return __atomic_load_n(topo->turns_taken, __ATOMIC_RELAXED);
}

/* Keeps the request, which is over, unless it is not fit for that, or there are enough. */
static inline bool mca_coll_topo_keep_request(mca_coll_topo_request_t *request)
{
    mca_coll_topo_kept_t *kept = &request->topo->kept[request->kind->collective];
    bool fits = (request->is_fit || mca_coll_topo_becomes_fit(request))
                && MPI_SUCCESS == request->super.super.req_status.MPI_ERROR && MCA_COLL_TOPO_RUNS == request->stage
                && request->turns_taken == mca_coll_topo_turns_taken(request->topo);

    if (OPAL_UNLIKELY(!fits)) {
        return false;
    }
    OPAL_THREAD_LOCK(&mca_coll_topo_request_lock);
    fits = kept->requests < MCA_COLL_TOPO_KEPT;
    if (OPAL_LIKELY(fits)) {
        request->next = kept->first;
        kept->first = request;
        ++kept->requests;
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_request_lock);
    return fits;
}

static inline bool mca_coll_topo_are_alike(const mca_coll_topo_arguments_t *a, const mca_coll_topo_arguments_t *b)
{
    return a->rcount == b->rcount && a->rdtype == b->rdtype && a->op == b->op && a->scount == b->scount
           && a->sdtype == b->sdtype && a->root == b->root && (MPI_IN_PLACE == a->sbuf) == (MPI_IN_PLACE == b->sbuf)
           && (MPI_IN_PLACE == a->rbuf) == (MPI_IN_PLACE == b->rbuf);
}

/* With the lock: one whose call was like this one, which counts, and its place. NULL: none. After a turn its calls may
 * not be known any more, and where the ranks look again it takes one. */
static inline mca_coll_topo_request_t *mca_coll_topo_find_kept(mca_coll_topo_module_t *topo, mca_coll_topo_kept_t *kept,
                                                               const mca_coll_topo_kind_t *kind,
                                                               const mca_coll_topo_arguments_t *arguments,
                                                               mca_coll_topo_request_t ***place)
{
    if (NULL != kept->first && OPAL_UNLIKELY(kept->first->turns_taken != mca_coll_topo_turns_taken(topo))) {
        mca_coll_topo_drop_kept(kept);
    }
    for (*place = &kept->first; NULL != **place; *place = &(**place)->next) {
        mca_coll_topo_request_t *request = **place;
        if (OPAL_LIKELY(request->kind == kind && mca_coll_topo_are_alike(&request->arguments, arguments))) {
            if (OPAL_LIKELY(0 < (*topo->until_look -= request->ticks))) {
                return request;
            }
            *topo->until_look += request->ticks;
            mca_coll_topo_drop_kept(kept);
            return NULL;
        }
    }
    return NULL;
}

/* One whose call was like this one, with an operation that may begin. NULL: none. */
static inline mca_coll_topo_request_t *mca_coll_topo_kept_request(mca_coll_topo_module_t *topo,
                                                                  const mca_coll_topo_kind_t *kind,
                                                                  const mca_coll_topo_arguments_t *arguments)
{
    mca_coll_topo_kept_t *kept = &topo->kept[kind->collective];
    mca_coll_topo_request_t *request, **place;

    OPAL_THREAD_LOCK(&mca_coll_topo_request_lock);
    request = mca_coll_topo_find_kept(topo, kept, kind, arguments, &place);
    if (OPAL_LIKELY(NULL != request)) {
        *place = request->next;
        --kept->requests;
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_request_lock);
    return request;
}

/* Whether a call like this one was declined, and is again. */
static inline bool mca_coll_topo_is_declined(mca_coll_topo_module_t *topo, const mca_coll_topo_kind_t *kind,
                                             const mca_coll_topo_arguments_t *arguments)
{
    mca_coll_topo_request_t **place;
    bool is_declined;

    OPAL_THREAD_LOCK(&mca_coll_topo_request_lock);
    is_declined = NULL != mca_coll_topo_find_kept(topo, &topo->passed[kind->collective], kind, arguments, &place);
    OPAL_THREAD_UNLOCK(&mca_coll_topo_request_lock);
    return is_declined;
}

/* Notes that the user has freed it; true: it is under way, and goes when it is back. */
static inline bool mca_coll_topo_free_later(mca_coll_topo_request_t *request)
{
    bool later;

    OPAL_THREAD_LOCK(&mca_coll_topo_request_lock);
    later = request->is_under_way;
    request->was_freed = later;
    OPAL_THREAD_UNLOCK(&mca_coll_topo_request_lock);
    return later;
}

/* It is under way no more; true: the user has freed it. */
static inline bool mca_coll_topo_is_back(mca_coll_topo_request_t *request)
{
    bool was_freed;

    OPAL_THREAD_LOCK(&mca_coll_topo_request_lock);
    request->is_under_way = false;
    was_freed = request->was_freed;
    OPAL_THREAD_UNLOCK(&mca_coll_topo_request_lock);
    return was_freed;
}

END_C_DECLS

#endif
