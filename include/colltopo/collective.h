// One row per collective: all that tells one collective from another.
//
// A row says what a rank's buffers hold, what a call's count counts, and whether data are combined or spread.
// Everything else follows from that (shape.h): chunks in and out, size classes, where MPI_IN_PLACE has a buffer, what
// the verifier expects, which collectives derive.h makes. Nothing else asks which collective it has before it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace colltopo {

enum class Collective : std::uint8_t {
  alltoall,
  allgather,
  reduce_scatter,
  allreduce,
  bcast,
  reduce,
  gather,
  scatter,
  // Calls whose shards have sizes of their own. They are served by the schedules of those above: no shape is theirs.
  allgatherv,
  gatherv,
  scatterv,
  alltoallv,
  alltoallw,
  // All of MPI's neighbourhood calls: an alltoallv among neighbours, in which other blocks are empty.
  neighborhood
};
inline constexpr int k_collectives = 8;  // that have schedules
inline constexpr int k_calls = 14;       // all of them

/// Who knows how large a shard is. Whatever decides an algorithm must be known to all ranks.
enum class Sizes : std::uint8_t {
  equal,       // all shards have one size
  of_ranks,    // one for each rank, known to all
  of_messages  // known to the rank that has a shard and the one that gets it, and to nobody else
};

/// What a buffer holds. A shard belongs to a rank: it goes there or comes from there.
enum class Holds : std::uint8_t {
  shards,  // one of every rank, in the order of ranks
  shard,   // the rank's own
  vector   // the whole vector
};

/// Which ranks have the buffer at all.
enum class Holders : std::uint8_t { everyone, root, others };

struct Content {
  Holds holds = Holds::shards;
  Holders holders = Holders::everyone;

  friend bool operator==(const Content&, const Content&) = default;
};

/// Units of the count that bandwidth must carry, for a set of `inside` ranks out of inside + outside.
using Leaving = double (*)(double inside, double outside, bool root_inside);

struct CollectiveRow {
  Collective collective;
  std::string_view name;  // in schedule files, parameters and reports
  Content input, output;
  /// Whether values are reduced, and whether what one rank has comes to several others. Collectives that do either are
  /// made from trees (derive.h), forwards to spread and backwards to combine; those that do neither move every shard
  /// from one rank to one other.
  bool combines = false, spreads = false;
  /// A size class for every rank: shards whose sizes differ, or a vector that is cut into a part for each rank.
  bool classes_by_rank = false;
  /// MPI's call has one buffer for both: input is where output is.
  bool one_buffer = false;
  /// What must leave a set of ranks, and what leaves all hosts together if that is more than the sum over single hosts.
  Leaving leaving = nullptr;
  double (*out_of_hosts)(double ranks) = nullptr;
  /// Units that a rank (the root, if only that receives) gets from others: what goodput counts.
  double (*received)(double ranks) = nullptr;
  /// Whose schedules serve it, if not its own; of what else a row says, that row's holds.
  Collective schedules = collective;
  Sizes sizes = Sizes::equal;

  /// The count of a call is the elements of a shard, else those of the vector.
  constexpr bool counts_shards() const { return input.holds != Holds::vector && output.holds != Holds::vector; }
  constexpr bool rooted() const { return input.holders != Holders::everyone || output.holders != Holders::everyone; }
  constexpr bool made_of_trees() const { return combines || spreads; }
};

/// The rows that have schedules, and all, in the order of the enumeration.
std::span<const CollectiveRow> collectives();
std::span<const CollectiveRow> calls();
const CollectiveRow& row(Collective collective);

inline std::string_view name(Collective collective) { return row(collective).name; }
/// Of those that have schedules.
std::optional<Collective> collective_named(std::string_view name);
std::optional<Collective> call_named(std::string_view name);
/// All names, for messages that say what is allowed.
std::string collective_names(std::string_view between);
std::string call_names(std::string_view between);

/// Whose schedules serve a call.
inline Collective scheduled(Collective call) { return row(call).schedules; }
/// Shards have sizes of their own.
inline bool uneven(Collective call) { return row(call).sizes != Sizes::equal; }

/// True for collectives whose programs contain reduce ops.
inline bool reduces(Collective collective) { return row(collective).combines; }
/// True for collectives with a root rank.
inline bool rooted(Collective collective) { return row(collective).rooted(); }
/// True where every rank gets what all ranks make together.
inline bool combines_and_spreads(Collective collective) { return row(collective).combines && row(collective).spreads; }

}  // namespace colltopo
