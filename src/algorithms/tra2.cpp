// TRA2, the two-layer tunable-radix all-to-all (Fan et al., IV): Bruck's exchange within groups, then between them.
//
// Epoch 1, within every group: a block for rank d goes to the member that is to send it on, or to d itself if it is in
// the group. Epoch 2, between groups: the blocks of a whole group for one rank d, a parcel, travel together and land in
// place. With equal groups, position j of every group sends on all parcels for positions j, and there are K1 + K2
// rounds of one message each, as in the paper.
//
// Groups may also be unequal and their ranks scattered. Then a parcel travels in a *column*: in every group that it
// passes, column c is served by the member at position c mod (size of that group). A parcel for position q of a group
// of s may take any column congruent to q modulo s below the larger of s and the size of the group that it comes from;
// which one depends on how far apart the two groups are, so that a large group's members share the work of sending to
// small ones. A rank that serves several columns sends one message per different next rank in a round, and members of a
// larger group wait for nobody: rounds keep their numbers, small groups skip those that they do not need in epoch 1.

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/bruck_exchange.h"
#include "algorithms/given_groups.h"
#include "algorithms/properties.h"
#include "algorithms/table.h"
#include "base/index.h"

namespace colltopo {

namespace {

/// Which column the parcels from one group to the ranks of another take.
struct Columns {
  Rank from_size, to_size;
  Rank distance;  // between the two groups, in the order of epoch 2; 0: the same group

  Rank bound() const { return std::max(from_size, to_size); }
  Rank column(Rank position) const {
    const Rank choices = (bound() - position - 1) / to_size + 1;
    return position + to_size * (distance == 0 ? 0 : (distance - 1) % choices);
  }
  /// Calls visit(column, position in the other group) for the columns that are used and that the member at `place` of a
  /// group of `size` serves, in increasing order.
  template <typename Visit>
  void served(Rank place, Rank size, Visit visit) const {
    for (Rank c = place; c < bound(); c += size) {
      if (const Rank position = c % to_size; column(position) == c) visit(c, position);
    }
  }
};

/// What both epochs know about one rank.
struct Standpoint {
  const Groups& groups;
  Rank rank, group, place, size;  // size: of its group

  Standpoint(const Groups& all, Rank me)
      : groups(all), rank(me), group(all.group_of(me)), place(all.position_of(me)), size(all.size(group)) {}

  Rank group_at(Rank offset) const {
    const Rank n = groups.groups(), g = (group + offset) % n;
    return g < 0 ? g + n : g;
  }
  Columns columns_to(Rank distance) const { return {size, groups.size(group_at(distance)), distance}; }
};

/// The parcels that this rank's group sends through this rank, and where their blocks lie between the epochs: a
/// parcel's blocks side by side, in the order of the members that they come from.
struct Outbound {
  struct Parcel {
    Rank distance, column, destination;
    Chunk first;  // scratch slot of the block from position 0; not used within the group, nor by a group of one rank
  };
  std::vector<Parcel> parcels;     // by (distance, column)
  std::vector<std::size_t> begin;  // [distance] index into parcels
  Chunk slots = 0;

  explicit Outbound(const Standpoint& here) {
    for (Rank distance = 0; distance < here.groups.groups(); ++distance) {
      begin.push_back(parcels.size());
      here.columns_to(distance).served(here.place, here.size, [&](Rank column, Rank position) {
        parcels.push_back({distance, column, here.groups.member(here.group_at(distance), position), slots});
        if (distance > 0 && here.size > 1) slots += here.size;
      });
    }
  }
};

class WithinGroup {
 public:
  WithinGroup(const Standpoint& here, const Outbound& outbound)
      : here_(here), outbound_(outbound), through_(index(here.size)) {
    for (Rank distance = 0; distance < here.groups.groups(); ++distance) {
      const Columns columns = here.columns_to(distance);
      for (Rank place = 0; place < here.size; ++place) {
        columns.served(place, here.size, [&](Rank, Rank position) {
          through_[index(place)].push_back(here.groups.member(here.group_at(distance), position));
        });
      }
    }
  }

  template <typename Visit>
  void parcels(Rank distance, Rank unit, Rank hop, Visit visit) const {
    const Rank travelled = distance % unit + hop;
    visit(Rank{0}, static_cast<Chunk>(through_[index(wrapped(distance - travelled))].size()));
  }
  Rank rank_at(Rank offset, Rank) const { return here_.groups.member(here_.group, wrapped(offset)); }
  void source(Rank distance, Rank, Runs& runs) const {
    for (const Rank destination : through_[index(wrapped(distance))]) runs.push_back({Buffer::input, destination, 1});
  }
  void target(Rank distance, Rank, Runs& runs) const {
    const Rank origin = wrapped(-distance);
    for (const Outbound::Parcel& parcel : outbound_.parcels) {
      if (parcel.distance > 0)
        runs.push_back({Buffer::scratch, parcel.first + origin, 1});
      else
        runs.push_back({Buffer::output, here_.groups.member(here_.group, origin), 1});
    }
  }

 private:
  Rank wrapped(Rank offset) const {
    const Rank place = here_.place + offset;
    return place < 0 ? place + here_.size : place < here_.size ? place : place - here_.size;
  }

  const Standpoint& here_;
  const Outbound& outbound_;
  std::vector<std::vector<Rank>>
      through_;  // [position] destinations of the blocks that pass this member, as in Outbound
};

class BetweenGroups {
 public:
  BetweenGroups(const Standpoint& here, const Outbound& outbound) : here_(here), outbound_(outbound) {}

  template <typename Visit>
  void parcels(Rank distance, Rank unit, Rank hop, Visit visit) const {
    const Rank travelled = distance % unit + hop;
    const Rank from_size = here_.groups.size(here_.group_at(-travelled));
    const Columns columns{from_size, here_.groups.size(here_.group_at(distance - travelled)), distance};
    columns.served(here_.place, here_.size, [&](Rank column, Rank) { visit(column, from_size); });
  }
  Rank rank_at(Rank offset, Rank column) const {
    const Rank group = here_.group_at(offset);
    return here_.groups.member(group, column % here_.groups.size(group));
  }
  void source(Rank distance, Rank column, Runs& runs) const {
    std::size_t i = outbound_.begin[index(distance)];
    while (outbound_.parcels[i].column != column) ++i;
    const Outbound::Parcel& parcel = outbound_.parcels[i];
    runs.push_back(here_.size == 1 ? Run{Buffer::input, parcel.destination, 1}
                                   : Run{Buffer::scratch, parcel.first, here_.size});
  }
  void target(Rank distance, Rank, Runs& runs) const {
    const Rank from = here_.group_at(-distance);
    for (Rank p = 0; p < here_.groups.size(from); ++p)
      runs.push_back({Buffer::output, here_.groups.member(from, p), 1});
  }

 private:
  const Standpoint& here_;
  const Outbound& outbound_;
};

struct Radices {
  int intra, inter;
};

Radices radices_of(const Groups& groups, const AlgorithmOptions& options) {
  return {fitted_radix(options.values, "intra-radix", groups.largest()),
          fitted_radix(options.values, "inter-radix", groups.groups())};
}

Rank divisor_below_root(Rank ranks) {
  Rank divisor = 1;
  for (Rank d = 2; d <= ranks / d; ++d) {
    if (ranks % d == 0) divisor = d;
  }
  return divisor;
}

std::shared_ptr<const Groups> tra2_groups(const Shape& shape, const AlgorithmOptions& options) {
  return given_groups(shape, options, divisor_below_root(shape.ranks));
}

Program tra2(const Shape& shape, Rank rank, const AlgorithmOptions& options) {
  const std::shared_ptr<const Groups> shared = tra2_groups(shape, options);
  const Groups& groups = *shared;
  const Radices radices = radices_of(groups, options);
  const Standpoint here(groups, rank);
  const Outbound outbound(here);
  ProgramBuilder program(shape, rank);

  // The rank's own blocks join their parcels, which makes a parcel one run when it leaves.
  Runs own_input{{Buffer::input, rank, 1}}, own_place{{Buffer::output, rank, 1}};
  for (const Outbound::Parcel& parcel : outbound.parcels) {
    if (parcel.distance == 0 || here.size == 1) continue;
    own_input.push_back({Buffer::input, parcel.destination, 1});
    own_place.push_back({Buffer::scratch, parcel.first + here.place, 1});
  }
  program.copy(own_input, own_place);

  add_bruck_rounds(program, here.size, bruck_rounds(here.size, radices.intra), WithinGroup(here, outbound), 0,
                   outbound.slots);
  const auto rounds_within = static_cast<Step>(bruck_rounds(groups.largest(), radices.intra).size());
  add_bruck_rounds(program, groups.groups(), bruck_rounds(groups.groups(), radices.inter),
                   BetweenGroups(here, outbound), rounds_within, outbound.slots);
  return std::move(program).build();
}

std::string describe_tra2(const Shape& shape, const AlgorithmOptions& options) {
  const std::shared_ptr<const Groups> groups = tra2_groups(shape, options);
  const Radices radices = radices_of(*groups, options);
  return fmt::format("{} intra_radix={} inter_radix={}", sizes_of_groups(*groups), radices.intra, radices.inter);
}

bool is_tra(const Shape& shape, const AlgorithmOptions& options) { return is_one_level(*tra2_groups(shape, options)); }

// All variants share the groups.
std::vector<AlgorithmOptions> tra2_variants(const Shape& shape, const AlgorithmOptions& given) {
  AlgorithmOptions with_groups = given;
  with_groups.groups = tra2_groups(shape, given);
  with_groups.values.forget("group");
  const Groups& groups = *with_groups.groups;
  std::vector<AlgorithmOptions> all;
  for (const int intra : radices_to_try(given.values, "intra-radix", groups.largest())) {
    for (const int inter : radices_to_try(given.values, "inter-radix", groups.groups())) {
      all.push_back(with_groups);
      all.back().values.set("intra-radix", intra);
      all.back().values.set("inter-radix", inter);
    }
  }
  return all;
}

Step tra2_steps(const Shape& shape, const AlgorithmOptions& options) {
  const std::shared_ptr<const Groups> groups = tra2_groups(shape, options);
  const Radices radices = radices_of(*groups, options);
  return static_cast<Step>(bruck_count(groups->largest(), radices.intra).rounds +
                           bruck_count(groups->groups(), radices.inter).rounds);
}

Counted count_tra2(const Shape& shape, const AlgorithmOptions& options) {
  const std::shared_ptr<const Groups> groups = tra2_groups(shape, options);
  const Radices radices = radices_of(*groups, options);
  const BruckCount within = bruck_count(groups->largest(), radices.intra);
  const BruckCount between = bruck_count(groups->groups(), radices.inter);
  return {.rounds_within = within.rounds,
          .shards_within = within.bundles * groups->groups(),
          .rounds_between = between.rounds,
          .shards_between = between.bundles * shape.ranks / groups->groups()};
}

}  // namespace

Algorithm tra2_algorithm() {
  return {
      .name = "tra2",
      .about = "two-layer tunable-radix all-to-all (Fan et al., IV): within groups, then between them",
      .collectives = {Collective::alltoall},
      .options = {radix_option("intra-radix", "radix of tra2 within groups", "about the square root of the group"),
                  radix_option("inter-radix", "radix of tra2 between groups", "about the square root of the groups"),
                  group_option("the ranks of a node; without nodes the divisor below the square root")},
      .refusal = refusal_of_groups,
      .chunks = [](const Shape&, const AlgorithmOptions&) { return Chunk{1}; },
      .program = tra2,
      .steps = tra2_steps,
      .describe = describe_tra2,
      .properties = properties_of_alltoall,
      .variants = tra2_variants,
      .repeats = is_tra,
      .counted = count_tra2,
      .aggregates = true,
  };
}

}  // namespace colltopo
