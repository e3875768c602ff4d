/* How the shim's functions take the place of the library's. */
#ifndef COLLTOPO_SHIM_INTERPOSE_H
#define COLLTOPO_SHIM_INTERPOSE_H

#include "communicator.h"
#include <stdatomic.h>

#include "library.h"

#define EXPORTED __attribute__((visibility("default")))

/* Declares and begins MPI_NAME, which the symbol PMPI_NAME also names. */
#define INTERPOSED(name, parameters)                                                                              \
    EXPORTED int shim_entry_##name parameters __asm__("MPI_" #name);                                              \
    EXPORTED int shim_second_entry_##name parameters __asm__("PMPI_" #name) __attribute__((alias("MPI_" #name))); \
    int shim_entry_##name parameters

/* Calls the library's own function with the arguments as they came. */
#define PASS_THROUGH(name, parameters, arguments)                \
    do {                                                         \
        static int(*_Atomic library_##name) parameters;          \
        int(*function) parameters = library_##name;              \
        if (function == NULL) {                                  \
            *(void **)&function = shim_must_find("PMPI_" #name); \
            library_##name = function;                           \
        }                                                        \
        const struct shim_left left = shim_take_left();          \
        return shim_came_back(left, function arguments);         \
    } while (0)

/* Returns what a served call returns. */
#define SERVE(call)                        \
    if (shim_library_fits()) {             \
        const int status = call;           \
        if (status != COLLTOPO_DECLINED) { \
            return status;                 \
        }                                  \
        if (shim_has_failed()) {           \
            return shim_fail();            \
        }                                  \
    }

/* A function of the library behind the shim. Ends the program with a line if there is none. */
void *shim_must_find(const char *name);

#endif
