// The calls themselves, in their three forms.
#include "call.h"

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#define COLLTOPO_PERSISTENT(name) MPIX_##name##_init
#else
#define COLLTOPO_PERSISTENT(name) MPI_##name##_init
#endif

// The three forms of one call: MPI_Name, MPI_Iname and its _init.
#define COLLTOPO_FORMS(name, iname, ...)                                               \
  (operation_.form == Form::blocking      ? MPI_##name(__VA_ARGS__)                    \
   : operation_.form == Form::nonblocking ? MPI_##iname(__VA_ARGS__, requests_.data()) \
                                          : COLLTOPO_PERSISTENT(name)(__VA_ARGS__, MPI_INFO_NULL, requests_.data()))

namespace conformance {

int Call::invoke() {
  const void* out = send_.buffer;
  void* in = const_cast<void*>(receive_.buffer);
  const MPI_Comm comm = place_->comm;
  const int sends = send_.counts[0], receives = receive_.counts[0];
  const MPI_Datatype sent = send_.types[0], received = receive_.types[0];
  const int *to = send_.counts.data(), *to_at = send_.starts.data();
  const int *from = receive_.counts.data(), *from_at = receive_.starts.data();
  switch (operation_.kind) {
    case Kind::bcast:
      return COLLTOPO_FORMS(Bcast, Ibcast, in, receives, received, root_, comm);
    case Kind::gather:
      return COLLTOPO_FORMS(Gather, Igather, out, sends, sent, in, receives, received, root_, comm);
    case Kind::gatherv:
      return COLLTOPO_FORMS(Gatherv, Igatherv, out, sends, sent, in, from, from_at, received, root_, comm);
    case Kind::scatter:
      return COLLTOPO_FORMS(Scatter, Iscatter, out, sends, sent, in, receives, received, root_, comm);
    case Kind::scatterv:
      return COLLTOPO_FORMS(Scatterv, Iscatterv, out, to, to_at, sent, in, receives, received, root_, comm);
    case Kind::allgather:
      return COLLTOPO_FORMS(Allgather, Iallgather, out, sends, sent, in, receives, received, comm);
    case Kind::allgatherv:
      return COLLTOPO_FORMS(Allgatherv, Iallgatherv, out, sends, sent, in, from, from_at, received, comm);
    case Kind::alltoall:
      return COLLTOPO_FORMS(Alltoall, Ialltoall, out, sends, sent, in, receives, received, comm);
    case Kind::alltoallv:
      return COLLTOPO_FORMS(Alltoallv, Ialltoallv, out, to, to_at, sent, in, from, from_at, received, comm);
    case Kind::alltoallw:
      return COLLTOPO_FORMS(Alltoallw, Ialltoallw, out, to, send_.bytes.data(), send_.types.data(), in, from,
                            receive_.bytes.data(), receive_.types.data(), comm);
    default:
      return COLLTOPO_FORMS(Barrier, Ibarrier, comm);
  }
}

int Call::invoke_reduction() {
  const void* out = send_.buffer;
  void* in = const_cast<void*>(receive_.buffer);
  const MPI_Comm comm = place_->comm;
  const int count = send_.counts[0];
  const MPI_Datatype type = send_.types[0];
  switch (operation_.kind) {
    case Kind::reduce:
      return COLLTOPO_FORMS(Reduce, Ireduce, out, in, count, type, op_, root_, comm);
    case Kind::reduce_scatter:
      return COLLTOPO_FORMS(Reduce_scatter, Ireduce_scatter, out, in, counts_.data(), type, op_, comm);
    case Kind::reduce_scatter_block:
      return COLLTOPO_FORMS(Reduce_scatter_block, Ireduce_scatter_block, out, in, count, type, op_, comm);
    case Kind::scan:
      return COLLTOPO_FORMS(Scan, Iscan, out, in, count, type, op_, comm);
    case Kind::exscan:
      return COLLTOPO_FORMS(Exscan, Iexscan, out, in, count, type, op_, comm);
    default:
      return COLLTOPO_FORMS(Allreduce, Iallreduce, out, in, count, type, op_, comm);
  }
}

int Call::invoke_neighbourhood() {
  const void* out = send_.buffer;
  void* in = const_cast<void*>(receive_.buffer);
  const MPI_Comm comm = place_->comm;
  const int sends = send_.counts[0], receives = receive_.counts[0];
  const MPI_Datatype sent = send_.types[0], received = receive_.types[0];
  const int *to = send_.counts.data(), *to_at = send_.starts.data();
  const int *from = receive_.counts.data(), *from_at = receive_.starts.data();
  switch (operation_.kind) {
    case Kind::neighbor_allgather:
      return COLLTOPO_FORMS(Neighbor_allgather, Ineighbor_allgather, out, sends, sent, in, receives, received, comm);
    case Kind::neighbor_allgatherv:
      return COLLTOPO_FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, out, sends, sent, in, from, from_at, received,
                            comm);
    case Kind::neighbor_alltoall:
      return COLLTOPO_FORMS(Neighbor_alltoall, Ineighbor_alltoall, out, sends, sent, in, receives, received, comm);
    case Kind::neighbor_alltoallv:
      return COLLTOPO_FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, out, to, to_at, sent, in, from, from_at, received,
                            comm);
    default:
      return COLLTOPO_FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, out, to, send_.far.data(), send_.types.data(), in,
                            from, receive_.far.data(), receive_.types.data(), comm);
  }
}

int Call::exchange_messages() {
  const std::size_t messages = send_.counts.size();
  Dice dice(hash_of(key_, static_cast<std::uint64_t>(place_->rank), 72));
  requests_.assign(2 * messages, MPI_REQUEST_NULL);
  auto* in = static_cast<unsigned char*>(const_cast<void*>(receive_.buffer));
  const auto* out = static_cast<const unsigned char*>(send_.buffer);
  int code = MPI_SUCCESS;
  for (std::size_t i = 0; i < messages && code == MPI_SUCCESS; ++i) {
    const int tag = operation_.number % 1000 * 8 + static_cast<int>(i);
    const int source = dice.one_in(2) ? MPI_ANY_SOURCE : receive_.starts[i];
    code = MPI_Irecv(in + receive_.offsets[i], receive_.counts[i], receive_.types[i], source, tag, place_->comm,
                     &requests_[i]);
  }
  for (std::size_t i = 0; i < messages && code == MPI_SUCCESS; ++i) {
    const int tag = operation_.number % 1000 * 8 + static_cast<int>(i);
    code = MPI_Isend(out + send_.offsets[i], send_.counts[i], send_.types[i], send_.starts[i], tag, place_->comm,
                     &requests_[messages + i]);
  }
  if (code == MPI_SUCCESS && operation_.form == Form::blocking) {
    code = MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  return code;
}

}  // namespace conformance
