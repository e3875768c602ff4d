// The calls of an exchange that do not block.
#include "exchange.h"
#include "persistent.h"

namespace colltopo::bench {

void Exchange::start(MPI_Comm comm, MPI_Request* request) {
  void* const in = input();
  void* const out = output();
  const int count = static_cast<int>(case_.count);
  const MPI_Datatype type = datatype(case_.element);
  const MPI_Op op = operation(case_.reduction);
  switch (case_.kind) {
    case Kind::alltoall:
      MPI_Ialltoall(in, count, type, out, count, type, comm, request);
      break;
    case Kind::allgather:
      MPI_Iallgather(in, count, type, out, count, type, comm, request);
      break;
    case Kind::allreduce:
      MPI_Iallreduce(in, out, count, type, op, comm, request);
      break;
    case Kind::reduce_scatter:
      MPI_Ireduce_scatter(in, out, counts_.data(), type, op, comm, request);
      break;
    case Kind::reduce_scatter_block:
      MPI_Ireduce_scatter_block(in, out, count, type, op, comm, request);
      break;
    case Kind::bcast:
      MPI_Ibcast(out, count, type, case_.root, comm, request);
      break;
    case Kind::reduce:
      MPI_Ireduce(in, out, count, type, op, case_.root, comm, request);
      break;
    case Kind::gather:
      MPI_Igather(in, count, type, out, count, type, case_.root, comm, request);
      break;
    case Kind::scatter:
      MPI_Iscatter(in, count, type, out, count, type, case_.root, comm, request);
      break;
    case Kind::allgatherv:
      MPI_Iallgatherv(in, sent_.counts[0], type, out, received_.counts.data(), received_.places.data(), type, comm,
                      request);
      break;
    case Kind::gatherv:
      MPI_Igatherv(in, sent_.counts[0], type, out, received_.counts.data(), received_.places.data(), type, case_.root,
                   comm, request);
      break;
    case Kind::scatterv:
      MPI_Iscatterv(in, sent_.counts.data(), sent_.places.data(), type, out, received_.counts[0], type, case_.root,
                    comm, request);
      break;
    case Kind::alltoallv:
      MPI_Ialltoallv(in, sent_.counts.data(), sent_.places.data(), type, out, received_.counts.data(),
                     received_.places.data(), type, comm, request);
      break;
    case Kind::alltoallw:
      MPI_Ialltoallw(in, sent_.counts.data(), sent_bytes_.data(), types_.data(), out, received_.counts.data(),
                     received_bytes_.data(), types_.data(), comm, request);
      break;
    case Kind::neighbor_alltoallv:
      MPI_Ineighbor_alltoallv(in, sent_edges_.counts.data(), sent_edges_.places.data(), type, out,
                              received_edges_.counts.data(), received_edges_.places.data(), type, comm, request);
      break;
  }
}

void Exchange::init(MPI_Comm comm, MPI_Request* request) {
  void* const in = input();
  void* const out = output();
  const int count = static_cast<int>(case_.count);
  const MPI_Datatype type = datatype(case_.element);
  const MPI_Op op = operation(case_.reduction);
  switch (case_.kind) {
    case Kind::alltoall:
      COLLTOPO_INIT(Alltoall)(in, count, type, out, count, type, comm, MPI_INFO_NULL, request);
      break;
    case Kind::allgather:
      COLLTOPO_INIT(Allgather)(in, count, type, out, count, type, comm, MPI_INFO_NULL, request);
      break;
    case Kind::allreduce:
      COLLTOPO_INIT(Allreduce)(in, out, count, type, op, comm, MPI_INFO_NULL, request);
      break;
    case Kind::reduce_scatter:
      COLLTOPO_INIT(Reduce_scatter)(in, out, counts_.data(), type, op, comm, MPI_INFO_NULL, request);
      break;
    case Kind::reduce_scatter_block:
      COLLTOPO_INIT(Reduce_scatter_block)(in, out, count, type, op, comm, MPI_INFO_NULL, request);
      break;
    case Kind::bcast:
      COLLTOPO_INIT(Bcast)(out, count, type, case_.root, comm, MPI_INFO_NULL, request);
      break;
    case Kind::reduce:
      COLLTOPO_INIT(Reduce)(in, out, count, type, op, case_.root, comm, MPI_INFO_NULL, request);
      break;
    case Kind::gather:
      COLLTOPO_INIT(Gather)(in, count, type, out, count, type, case_.root, comm, MPI_INFO_NULL, request);
      break;
    case Kind::scatter:
      COLLTOPO_INIT(Scatter)(in, count, type, out, count, type, case_.root, comm, MPI_INFO_NULL, request);
      break;
    case Kind::allgatherv:
      COLLTOPO_INIT(Allgatherv)
      (in, sent_.counts[0], type, out, received_.counts.data(), received_.places.data(), type, comm, MPI_INFO_NULL,
       request);
      break;
    case Kind::gatherv:
      COLLTOPO_INIT(Gatherv)
      (in, sent_.counts[0], type, out, received_.counts.data(), received_.places.data(), type, case_.root, comm,
       MPI_INFO_NULL, request);
      break;
    case Kind::scatterv:
      COLLTOPO_INIT(Scatterv)
      (in, sent_.counts.data(), sent_.places.data(), type, out, received_.counts[0], type, case_.root, comm,
       MPI_INFO_NULL, request);
      break;
    case Kind::alltoallv:
      COLLTOPO_INIT(Alltoallv)
      (in, sent_.counts.data(), sent_.places.data(), type, out, received_.counts.data(), received_.places.data(), type,
       comm, MPI_INFO_NULL, request);
      break;
    case Kind::alltoallw:
      COLLTOPO_INIT(Alltoallw)
      (in, sent_.counts.data(), sent_bytes_.data(), types_.data(), out, received_.counts.data(), received_bytes_.data(),
       types_.data(), comm, MPI_INFO_NULL, request);
      break;
    case Kind::neighbor_alltoallv:
      COLLTOPO_INIT(Neighbor_alltoallv)
      (in, sent_edges_.counts.data(), sent_edges_.places.data(), type, out, received_edges_.counts.data(),
       received_edges_.places.data(), type, comm, MPI_INFO_NULL, request);
      break;
  }
}

}  // namespace colltopo::bench
