// A call in one of its three forms, which a test is told by name: blocking, nonblocking, persistent.
#pragma once

#include <mpi.h>

#include <string>
// After mpi.h.
#include <mpi-ext.h>

// Open MPI 4.1 has the persistent collectives as an extension, later ones as MPI's own.
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define MPI_TEST_INIT(name) MPIX_##name##_init
#else
#define MPI_TEST_INIT(name) MPI_##name##_init
#endif

namespace mpi_test {

/// Begins a call and waits for its end; a persistent one twice.
template <class Blocking, class Nonblocking, class Persistent>
void in_form(const std::string& form, const Blocking& blocking, const Nonblocking& nonblocking,
             const Persistent& persistent) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == "blocking") {
    blocking();
  } else if (form == "nonblocking") {
    nonblocking(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    persistent(&request);
    for (int start = 0; start < 2; ++start) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
  }
}

}  // namespace mpi_test

// IN_FORM(form, comm, Alltoall, Ialltoall, arguments before the communicator...)
#define IN_FORM(form, comm, Name, Iname, ...)                                 \
  mpi_test::in_form(                                                          \
      form, [&] { MPI_##Name(__VA_ARGS__, comm); },                           \
      [&](MPI_Request* request) { MPI_##Iname(__VA_ARGS__, comm, request); }, \
      [&](MPI_Request* request) {                                             \
        MPI_TEST_INIT(Name)                                                   \
        (__VA_ARGS__, comm, MPI_INFO_NULL, request);                          \
      })
