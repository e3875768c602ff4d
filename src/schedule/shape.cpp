#include "colltopo/shape.h"

#include <array>

namespace colltopo {

namespace {
constexpr std::array<std::string_view, k_collectives> k_names = {"alltoall",  "allgather", "reduce_scatter",
                                                                 "allreduce", "bcast",     "reduce"};
}

std::string_view name(Collective collective) { return k_names[static_cast<std::size_t>(collective)]; }

std::optional<Collective> collective_named(std::string_view name) {
  for (std::size_t i = 0; i < k_names.size(); ++i) {
    if (k_names[i] == name) return static_cast<Collective>(i);
  }
  return std::nullopt;
}

Chunk Shape::input_chunks(Rank rank) const {
  switch (collective) {
    case Collective::alltoall:
    case Collective::reduce_scatter:
    case Collective::allreduce:
      return ranks * chunks;
    case Collective::allgather:
    case Collective::reduce:
      return chunks;
    case Collective::bcast:
      return rank == root ? chunks : 0;
  }
  return 0;
}

Chunk Shape::output_chunks(Rank rank) const {
  switch (collective) {
    case Collective::alltoall:
    case Collective::allgather:
    case Collective::allreduce:
      return ranks * chunks;
    case Collective::reduce_scatter:
      return chunks;
    case Collective::bcast:
      return rank == root ? 0 : chunks;
    case Collective::reduce:
      return rank == root ? chunks : 0;
  }
  return 0;
}

Chunk Shape::classes() const {
  switch (collective) {
    case Collective::alltoall:
    case Collective::allgather:
    case Collective::bcast:
    case Collective::reduce:
      return chunks;
    case Collective::reduce_scatter:
    case Collective::allreduce:
      return ranks * chunks;
  }
  return 1;
}

Chunk Shape::input_class(Rank, Chunk chunk) const { return chunk % classes(); }

Chunk Shape::output_class(Rank rank, Chunk chunk) const {
  if (collective == Collective::reduce_scatter) return rank * chunks + chunk;
  return chunk % classes();
}

Chunk Shape::in_place_offset(Rank rank) const { return collective == Collective::allgather ? rank * chunks : 0; }

}  // namespace colltopo
