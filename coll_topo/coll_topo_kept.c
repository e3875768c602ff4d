/* Requests that nobody uses, or that wait for a call like their own: what is rare about them. */
#include "ompi_config.h"

#include "coll_topo_kept.h"

opal_mutex_t mca_coll_topo_request_lock;
static mca_coll_topo_request_t *mca_coll_topo_idle;

int mca_coll_topo_open_requests(void)
{
    OBJ_CONSTRUCT(&mca_coll_topo_request_lock, opal_mutex_t);
    return OMPI_SUCCESS;
}

void mca_coll_topo_close_requests(void)
{
    mca_coll_topo_stop_looking();
    while (NULL != mca_coll_topo_idle) {
        mca_coll_topo_request_t *request = mca_coll_topo_idle;
        mca_coll_topo_idle = request->next;
        OBJ_RELEASE(request);
    }
    OBJ_DESTRUCT(&mca_coll_topo_request_lock);
}

mca_coll_topo_request_t *mca_coll_topo_idle_request(void)
{
    mca_coll_topo_request_t *request;

    OPAL_THREAD_LOCK(&mca_coll_topo_request_lock);
    request = mca_coll_topo_idle;
    if (NULL != request) {
        mca_coll_topo_idle = request->next;
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_request_lock);
    return NULL == request ? OBJ_NEW(mca_coll_topo_request_t) : request;
}

void mca_coll_topo_keep_idle(mca_coll_topo_request_t *request)
{
    OPAL_THREAD_LOCK(&mca_coll_topo_request_lock);
    request->next = mca_coll_topo_idle;
    mca_coll_topo_idle = request;
    OPAL_THREAD_UNLOCK(&mca_coll_topo_request_lock);
}

/* By its arguments alone: types and operations that could be freed, and others made where they were, are not compared
 * by their addresses. */
static bool mca_coll_topo_can_be_told(mca_coll_topo_request_t *request)
{
    const bool can = NULL == request->kept_types[0] && NULL == request->kept_types[1] && NULL == request->kept_op
                     && NULL == request->counts && NULL == request->uneven;

    if (can) {
        request->ticks = colltopo_ticks(request->topo->collectives, request->kind->collective, &request->asked.call);
    }
    return can;
}

bool mca_coll_topo_becomes_fit(mca_coll_topo_request_t *request)
{
    request->is_fit = request->is_laid_out && !request->is_new && !request->super.super.req_persistent
                      && request->asked.bytes <= MCA_COLL_TOPO_KEPT_BYTES && mca_coll_topo_can_be_told(request);
    return request->is_fit;
}

bool mca_coll_topo_keep_declined(mca_coll_topo_request_t *request)
{
    mca_coll_topo_kept_t *passed = &request->topo->passed[request->kind->collective];

    if (request->asked.declines_alone || NULL != mca_coll_topo_device() || !mca_coll_topo_can_be_told(request)) {
        return false;
    }
    OPAL_THREAD_LOCK(&mca_coll_topo_request_lock);
    if (MCA_COLL_TOPO_KEPT <= passed->requests
        || (NULL != passed->first && passed->first->turns_taken != request->turns_taken)) {
        mca_coll_topo_drop_kept(passed);
    }
    request->next = passed->first;
    passed->first = request;
    ++passed->requests;
    OPAL_THREAD_UNLOCK(&mca_coll_topo_request_lock);
    return true;
}

void mca_coll_topo_drop_kept(mca_coll_topo_kept_t *kept)
{
    while (NULL != kept->first) {
        mca_coll_topo_request_t *request = kept->first;
        kept->first = request->next;
        mca_coll_topo_let_go(request);
        request->next = mca_coll_topo_idle;
        mca_coll_topo_idle = request;
    }
    kept->requests = 0;
}

void mca_coll_topo_drop_requests(mca_coll_topo_module_t *topo)
{
    OPAL_THREAD_LOCK(&mca_coll_topo_request_lock);
    for (int collective = 0; collective < COLLTOPO_COLLECTIVES; ++collective) {
        mca_coll_topo_drop_kept(&topo->kept[collective]);
        mca_coll_topo_drop_kept(&topo->passed[collective]);
    }
    OPAL_THREAD_UNLOCK(&mca_coll_topo_request_lock);
}
