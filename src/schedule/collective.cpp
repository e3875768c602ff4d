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

constexpr CollectiveRow uneven_row(Collective call, std::string_view name, Collective schedules, Content input,
                                   Content output, Sizes sizes) {
  return {.collective = call, .name = name, .input = input, .output = output, .schedules = schedules, .sizes = sizes};
}

constexpr std::array<CollectiveRow, k_calls> k_rows = {{
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
    uneven_row(Collective::allgatherv, "allgatherv", Collective::allgather, k_shard, k_shards, Sizes::of_ranks),
    uneven_row(Collective::gatherv, "gatherv", Collective::gather, k_shard, k_shards_of_root, Sizes::of_messages),
    uneven_row(Collective::scatterv, "scatterv", Collective::scatter, k_shards_of_root, k_shard, Sizes::of_messages),
    uneven_row(Collective::alltoallv, "alltoallv", Collective::alltoall, k_shards, k_shards, Sizes::of_messages),
    uneven_row(Collective::alltoallw, "alltoallw", Collective::alltoall, k_shards, k_shards, Sizes::of_messages),
    uneven_row(Collective::neighborhood, "neighborhood", Collective::alltoall, k_shards, k_shards, Sizes::of_messages),
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < k_rows.size(); ++i)
    if (k_rows[i].collective != static_cast<Collective>(i)) return false;
  return true;
}
static_assert(in_order(), "rows are found by number");

std::string names_of(std::span<const CollectiveRow> rows, std::string_view between) {
  std::string all;
  for (const CollectiveRow& row : rows) all += (all.empty() ? "" : std::string(between)) + std::string(row.name);
  return all;
}

std::optional<Collective> named_among(std::span<const CollectiveRow> rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &CollectiveRow::name);
  return found == rows.end() ? std::nullopt : std::optional(found->collective);
}

}  // namespace

std::span<const CollectiveRow> collectives() { return std::span(k_rows).first(k_collectives); }
std::span<const CollectiveRow> calls() { return k_rows; }

const CollectiveRow& row(Collective collective) { return k_rows[static_cast<std::size_t>(collective)]; }

std::optional<Collective> collective_named(std::string_view name) { return named_among(collectives(), name); }
std::optional<Collective> call_named(std::string_view name) { return named_among(calls(), name); }

std::string collective_names(std::string_view between) { return names_of(collectives(), between); }
std::string call_names(std::string_view between) { return names_of(calls(), between); }

}  // namespace colltopo
