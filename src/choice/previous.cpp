// Open MPI's components by their fixed decision rules: tuned of 4.1, han, and basic with libnbc, which agree.
#include "choice/previous.h"

#include <bit>

namespace colltopo {

namespace {

constexpr int k_linear_bcast = 4;  // ranks, of libnbc

std::vector<Part> tuned(Collective collective, Rank ranks, double bytes, Level level) {
  const double total = bytes * ranks;
  const auto one = [&](std::string_view name, OptionValues values = {}) {
    return std::vector<Part>{{name, collective, level, bytes, std::move(values)}};
  };
  switch (collective) {
    case Collective::alltoall:
      if (bytes < 200 && ranks > 12) return one("tra", {{"radix", 2}});
      return one(bytes < 3000 ? "linear" : "pairwise");
    case Collective::allgather:
      if (total >= 50000) return one("ring");
      if (std::has_single_bit(static_cast<unsigned>(ranks))) return one("recursive-doubling");
      return one("bruck", {{"radix", 2}});
    case Collective::reduce_scatter:
      return one(total < 12000 ? "recursive-halving" : "ring");
    case Collective::allreduce:
      return one(bytes < 10000 ? "recursive-doubling" : "ring");
    case Collective::bcast:
      if (bytes < 2048 || ranks < 4) return one("knomial", {{"radix", 4}});
      return one("scatter-allgather");
    case Collective::reduce:
      return one("binomial");
    default:
      return {};
  }
}

// Within nodes, between one rank of each, within nodes again; where there is only one level, it leaves calls to tuned.
// Between nodes it takes libnbc, but for gathers: a broadcast to few is the root's whole vector to each of them.
std::vector<Part> han(Collective collective, Rank ranks, int nodes, int per_node, double bytes) {
  if (nodes == 1 || per_node == 1) return tuned(collective, ranks, bytes, Level::all);
  const auto within = [&](Collective part, double size) { return Part{"binomial", part, Level::within_nodes, size}; };
  const Part reduce_between{"binomial", Collective::reduce, Level::between_nodes, bytes};
  const Part bcast_between = nodes <= k_linear_bcast ? Part{"linear", Collective::scatter, Level::between_nodes, bytes}
                                                     : Part{"binomial", Collective::bcast, Level::between_nodes, bytes};
  switch (collective) {
    case Collective::allreduce:
      return {within(Collective::reduce, bytes), reduce_between, bcast_between, within(Collective::bcast, bytes)};
    case Collective::bcast:
      return {bcast_between, within(Collective::bcast, bytes)};
    case Collective::reduce:
      return {within(Collective::reduce, bytes), reduce_between};
    case Collective::allgather:
      return {within(Collective::gather, bytes),
              tuned(collective, nodes, bytes * per_node, Level::between_nodes).front(),
              within(Collective::bcast, bytes * ranks)};
    default:
      return tuned(collective, ranks, bytes, Level::all);
  }
}

// Gathers and scatters at the root are left out, which is to its advantage.
std::vector<Part> basic(Collective collective, Rank ranks, double bytes) {
  switch (collective) {
    case Collective::alltoall:
      return {{"linear", collective, Level::all, bytes}};
    case Collective::allgather:
      return {{"binomial", Collective::bcast, Level::all, bytes * ranks}};
    case Collective::reduce_scatter:
      return {{"binomial", Collective::reduce, Level::all, bytes * ranks}};
    case Collective::allreduce:
      return {{"binomial", Collective::reduce, Level::all, bytes}, {"binomial", Collective::bcast, Level::all, bytes}};
    case Collective::bcast:
    case Collective::reduce:
      return {{"binomial", collective, Level::all, bytes}};
    default:
      return {};
  }
}

}  // namespace

std::vector<Part> parts_of_previous(std::string_view component, Collective collective, Rank ranks, int nodes,
                                    int ranks_per_node, std::size_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (component == "tuned") return tuned(collective, ranks, size, Level::all);
  if (component == "han") return han(collective, ranks, nodes, ranks_per_node, size);
  if (component == "basic" || component == "libnbc") return basic(collective, ranks, size);
  return {};
}

}  // namespace colltopo
