// The functions that make persistent collective requests: Open MPI 4.1 has them as an extension, later ones as MPI's
// own.
#pragma once

#include <mpi.h>
// After mpi.h.
#include <mpi-ext.h>

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define COLLTOPO_INIT(name) MPIX_##name##_init
#else
#define COLLTOPO_INIT(name) MPI_##name##_init
#endif
