/* What MPI's functions that do not block, and those that make persistent requests, have in common. */
#ifndef MCA_COLL_TOPO_FUNCTIONS_H
#define MCA_COLL_TOPO_FUNCTIONS_H

#include "coll_topo_calls.h"
#include "coll_topo_requests.h"

/* A row for a function: MPI's parameters, how they become arguments, and how the former functions are called. */
#define MCA_COLL_TOPO_FUNCTION(name, COLLECTIVE, filled, parameters, passed)                                           \
    static int mca_coll_topo_pass_on_##name(mca_coll_topo_module_t *topo, const mca_coll_topo_arguments_t *a,          \
                                            ompi_communicator_t *comm, ompi_request_t **request)                       \
    {                                                                                                                  \
        return topo->previous.i##name(MCA_COLL_TOPO_LIST passed, comm, request, topo->previous.i##name##_module);      \
    }                                                                                                                  \
    static int mca_coll_topo_pass_on_##name##_init(mca_coll_topo_module_t *topo, const mca_coll_topo_arguments_t *a,   \
                                                   ompi_communicator_t *comm, struct ompi_info_t *info,                \
                                                   ompi_request_t **request)                                           \
    {                                                                                                                  \
        return topo->previous.name##_init(MCA_COLL_TOPO_LIST passed, comm, info, request,                              \
                                          topo->previous.name##_init_module);                                          \
    }                                                                                                                  \
    static const mca_coll_topo_kind_t mca_coll_topo_##name##_kind = {                                                  \
        COLLECTIVE, mca_coll_topo_describe_##name, mca_coll_topo_pass_on_##name, mca_coll_topo_pass_on_##name##_init}; \
    static int mca_coll_topo_i##name(MCA_COLL_TOPO_LIST parameters, ompi_communicator_t *comm,                         \
                                     ompi_request_t **request, mca_coll_base_module_t *module)                         \
    {                                                                                                                  \
        static const void *known; /* whoever called last; racing threads write what is as good */                      \
        const mca_coll_topo_arguments_t arguments = {MCA_COLL_TOPO_LIST filled};                                       \
        const void *caller = __builtin_return_address(0);                                                              \
        if (OPAL_UNLIKELY(known != caller)) {                                                                          \
            if (mca_coll_topo_is_internal(caller)) {                                                                   \
                return mca_coll_topo_pass_on_##name((mca_coll_topo_module_t *) module, &arguments, comm, request);     \
            }                                                                                                          \
            known = caller;                                                                                            \
        }                                                                                                              \
        return mca_coll_topo_start_call(module, &mca_coll_topo_##name##_kind, &arguments, request);                    \
    }                                                                                                                  \
    static int mca_coll_topo_##name##_init(MCA_COLL_TOPO_LIST parameters, ompi_communicator_t *comm,                   \
                                           struct ompi_info_t *info, ompi_request_t **request,                         \
                                           mca_coll_base_module_t *module)                                             \
    {                                                                                                                  \
        const mca_coll_topo_arguments_t arguments = {MCA_COLL_TOPO_LIST filled};                                       \
        (void) comm;                                                                                                   \
        return mca_coll_topo_init_call(module, &mca_coll_topo_##name##_kind, &arguments, info, request);               \
    }
#define MCA_COLL_TOPO_LIST(...) __VA_ARGS__

/* In place it is the receive count that is handed on, as by the blocking calls; neighbours have no such thing. */
#define MCA_COLL_TOPO_SENT(count, dtype)                                     \
    (mca_coll_topo_count_t)(MPI_IN_PLACE == a->sbuf ? a->rcount : a->count), \
        MPI_IN_PLACE == a->sbuf ? a->rdtype : a->dtype

/* Rows of several functions: blocks of one count each way, of counts and places, and of types of their own. */
#define MCA_COLL_TOPO_EXCHANGE(name, COLLECTIVE)                                                             \
    MCA_COLL_TOPO_FUNCTION(                                                                                  \
        name, COLLECTIVE,                                                                                    \
        (.sbuf = sbuf, .scount = (size_t) scount, .sdtype = sdtype, .rbuf = rbuf, .rcount = (size_t) rcount, \
         .rdtype = rdtype),                                                                                  \
        (const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,                \
         mca_coll_topo_count_t rcount, ompi_datatype_t *rdtype),                                             \
        (a->sbuf, MCA_COLL_TOPO_SENT(scount, sdtype), a->rbuf, (mca_coll_topo_count_t) a->rcount, a->rdtype))
#define MCA_COLL_TOPO_SPREAD(name, COLLECTIVE)                                                        \
    MCA_COLL_TOPO_FUNCTION(                                                                           \
        name, COLLECTIVE,                                                                             \
        (.sbuf = sbuf, .scount = (size_t) scount, .sdtype = sdtype, .rbuf = rbuf, .rcounts = rcounts, \
         .rdispls = displs, .rdtype = rdtype),                                                        \
        (const void *sbuf, mca_coll_topo_count_t scount, ompi_datatype_t *sdtype, void *rbuf,         \
         mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t displs, ompi_datatype_t *rdtype),     \
        (a->sbuf, (mca_coll_topo_count_t) a->scount, a->sdtype, a->rbuf, a->rcounts, a->rdispls, a->rdtype))
#define MCA_COLL_TOPO_EXCHANGE_V(name, COLLECTIVE)                                                                  \
    MCA_COLL_TOPO_FUNCTION(                                                                                         \
        name, COLLECTIVE,                                                                                           \
        (.sbuf = sbuf, .scounts = scounts, .sdispls = sdispls, .sdtype = sdtype, .rbuf = rbuf, .rcounts = rcounts,  \
         .rdispls = rdispls, .rdtype = rdtype),                                                                     \
        (const void *sbuf, mca_coll_topo_counts_t scounts, mca_coll_topo_displs_t sdispls, ompi_datatype_t *sdtype, \
         void *rbuf, mca_coll_topo_counts_t rcounts, mca_coll_topo_displs_t rdispls, ompi_datatype_t *rdtype),      \
        (a->sbuf, a->scounts, a->sdispls, a->sdtype, a->rbuf, a->rcounts, a->rdispls, a->rdtype))

#endif
