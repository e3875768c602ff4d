// The table of collectives. Adding one is a row here, its name in the enumeration, and its function in the C API.
#include "colltopo/collective.h"

#include <algorithm>
#include <array>

namespace colltopo {

namespace {

constexpr Content k_shards{Holds::shards, Holders::everyone}, k_shards_of_root{Holds::shards, Holders::root},
    k_shard{Holds::shard, Holders::everyone}, k_vector{Holds::vector, Holders::everyone},
    k_vector_of_root{Holds::vector, Holders::root}, k_vector_of_others{Holds::vector, Holders::others};

constexpr double other_shards(double ranks) { return ranks - 1; }
constexpr double one_unit(double) { return 1; }

constexpr std::array<CollectiveRow, k_collectives> k_rows = {{
    {.collective = Collective::alltoall,
     .name = "alltoall",
     .input = k_shards,
     .output = k_shards,
     .leaving = [](double inside, double outside, bool) { return inside * outside; },
     .received = other_shards},
    {.collective = Collective::allgather,
     .name = "allgather",
     .input = k_shard,
     .output = k_shards,
     .spreads = true,
     .leaving = [](double inside, double, bool) { return inside; },
     .received = other_shards},
    {.collective = Collective::reduce_scatter,
     .name = "reduce_scatter",
     .input = k_shards,
     .output = k_shard,
     .combines = true,
     .classes_by_rank = true,
     .leaving = [](double, double outside, bool) { return outside; },
     .received = other_shards},
    {.collective = Collective::allreduce,
     .name = "allreduce",
     .input = k_vector,
     .output = k_vector,
     .combines = true,
     .spreads = true,
     .classes_by_rank = true,
     .leaving = [](double, double, bool) { return 1.0; },
     // As many as messages in one-way gossip, each of which leaves a host.
     .out_of_hosts = [](double ranks) { return 2 * (ranks - 1); },
     .received = one_unit},
    {.collective = Collective::bcast,
     .name = "bcast",
     .input = k_vector_of_root,
     .output = k_vector_of_others,
     .spreads = true,
     .one_buffer = true,
     .leaving = [](double, double, bool root_inside) { return root_inside ? 1.0 : 0.0; },
     .received = one_unit},
    {.collective = Collective::reduce,
     .name = "reduce",
     .input = k_vector,
     .output = k_vector_of_root,
     .combines = true,
     .leaving = [](double, double, bool root_inside) { return root_inside ? 0.0 : 1.0; },
     .received = one_unit},
    {.collective = Collective::gather,
     .name = "gather",
     .input = k_shard,
     .output = k_shards_of_root,
     .leaving = [](double inside, double, bool root_inside) { return root_inside ? 0 : inside; },
     .received = other_shards},
    {.collective = Collective::scatter,
     .name = "scatter",
     .input = k_shards_of_root,
     .output = k_shard,
     .leaving = [](double, double outside, bool root_inside) { return root_inside ? outside : 0; },
     .received = one_unit},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < k_rows.size(); ++i)
    if (k_rows[i].collective != static_cast<Collective>(i)) return false;
  return true;
}
static_assert(in_order(), "rows are found by number");

}  // namespace

std::span<const CollectiveRow> collectives() { return k_rows; }

const CollectiveRow& row(Collective collective) { return k_rows[static_cast<std::size_t>(collective)]; }

std::optional<Collective> collective_named(std::string_view name) {
  const auto found = std::ranges::find(k_rows, name, &CollectiveRow::name);
  return found == k_rows.end() ? std::nullopt : std::optional(found->collective);
}

std::string collective_names(std::string_view between) {
  std::string all;
  for (const CollectiveRow& row : k_rows) all += (all.empty() ? "" : std::string(between)) + std::string(row.name);
  return all;
}

}  // namespace colltopo
