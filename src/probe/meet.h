// A barrier of messages of our own: a component's may be served by what is timed, and has a way of its own to be left.
#pragma once

#include <mpi.h>

namespace colltopo {

/// Collective. By dissemination, under a tag of `comm` that is used for nothing else.
inline void meet(MPI_Comm comm) {
  constexpr int k_tag = 1;
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int away = 1; away < ranks; away *= 2)
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, (rank + away) % ranks, k_tag, nullptr, 0, MPI_BYTE,
                 (rank - away + ranks) % ranks, k_tag, comm, MPI_STATUS_IGNORE);
}

}  // namespace colltopo
