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

#endif
