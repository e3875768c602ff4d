// All-to-all in three steps with one message for each pair of groups: to a member of one's own group, from there to a
// member of the other, from there on.
//
// Which members carry what goes between two groups depends on how far apart they are, so that all members of a group
// take their turns; a rank that alone has something, or gets it, carries it itself. What is for one's own group goes
// straight to its owner, with what that one is to carry. Where only some ranks have something for others
// (AlgorithmOptions::pairs) the rest is left out; between two groups with but one such pair it goes straight as well.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "algorithms/given_groups.h"
#include "algorithms/properties.h"
#include "algorithms/table.h"

namespace colltopo {

namespace {

struct Pair {
  Rank from, to;
};

/// What goes from one group to another, and through whom; without carriers if it goes straight.
struct Freight {
  Rank source, target;             // groups
  const std::vector<Pair>* pairs;  // by sender, then receiver; null: all with all
  Rank collects = -1, hands_out = -1;
  bool is_carried() const { return collects >= 0; }
};

/// What passes between the group of a rank and the others, one way.
class Traffic {
 public:
  /// `pairs`: null, or who has something for whom.
  Traffic(const Groups& groups, const Pairs* pairs, Rank rank, bool leaves)
      : groups_(groups), rank_(rank), group_(groups.group_of(rank)), leaves_(leaves), all_(pairs == nullptr) {
    if (pairs != nullptr) sort_by_distance(*pairs);
  }

  /// By distance, which both ends of a freight count alike.
  template <class Visit>
  void for_each_freight(const Visit& visit) const {
    if (!all_) {
      for (const auto& [distance, pairs] : at_distance_) visit(freight(distance, &pairs));
      return;
    }
    for (Rank distance = 1; distance < groups_.groups(); ++distance) visit(freight(distance, nullptr));
  }
  /// By sender, then receiver; `own`: only those of this rank.
  template <class Visit>
  void for_each_pair(const Freight& freight, bool own, const Visit& visit) const {
    if (freight.pairs != nullptr) {
      for (const Pair& pair : *freight.pairs)
        if (!own || near(pair) == rank_) visit(pair);
      return;
    }
    for_each_member(freight.source, own && leaves_, [&](Rank from) {
      for_each_member(freight.target, own && !leaves_, [&](Rank to) { visit(Pair{from, to}); });
    });
  }
  Rank near(const Pair& pair) const { return leaves_ ? pair.from : pair.to; }
  Rank far(const Pair& pair) const { return leaves_ ? pair.to : pair.from; }

 private:
  void sort_by_distance(const Pairs& pairs) {
    for_each_member(group_, false, [&](Rank member) {
      for (const Rank other : leaves_ ? pairs.to(member) : pairs.from(member)) {
        const Rank away = groups_.group_of(other) - group_, distance = leaves_ ? away : -away;
        if (away != 0)
          at_distance_[distance < 0 ? distance + groups_.groups() : distance].push_back(leaves_ ? Pair{member, other}
                                                                                                : Pair{other, member});
      }
    });
    for (auto& [distance, all] : at_distance_)
      std::ranges::sort(all, {}, [](const Pair& pair) { return std::pair(pair.from, pair.to); });
  }
  template <class Visit>
  void for_each_member(Rank group, bool only_this, const Visit& visit) const {
    if (only_this) return visit(rank_);
    for (Rank i = 0; i < groups_.size(group); ++i) visit(groups_.member(group, i));
  }
  Freight freight(Rank distance, const std::vector<Pair>* pairs) const {
    const Rank n = groups_.groups(), other = (group_ + (leaves_ ? distance : n - distance)) % n;
    Freight freight{leaves_ ? group_ : other, leaves_ ? other : group_, pairs};
    const auto carrier = [&](Rank group, Rank Pair::*end) {
      const Rank size = groups_.size(group);
      const auto same = [&](const Pair& pair) { return pair.*end == pairs->front().*end; };
      return pairs != nullptr && std::ranges::all_of(*pairs, same) ? pairs->front().*end
                                                                   : groups_.member(group, (distance - 1) % size);
    };
    const Rank count = pairs != nullptr ? static_cast<Rank>(pairs->size())
                                        : groups_.size(freight.source) * groups_.size(freight.target);
    if (count < 2) return freight;
    freight.collects = carrier(freight.source, &Pair::from);
    freight.hands_out = carrier(freight.target, &Pair::to);
    return freight;
  }

  const Groups& groups_;
  Rank rank_, group_;
  bool leaves_, all_;
  std::map<Rank, std::vector<Pair>> at_distance_;
};

using ByPeer = std::map<Rank, Runs>;

/// What a rank sends and receives in each of the three steps.
struct Steps {
  ByPeer sends[3], receives[3];
  Chunk slots = 0;

  Run new_slot() { return {Buffer::scratch, slots++, 1}; }
};

Run shard(Buffer buffer, Rank rank) { return {buffer, rank, 1}; }

/// What leaves is handed to its carrier in the first step and goes in the second; what comes in does the same the other
/// way about, in the second step and the third.
void pass(const Groups& groups, const Pairs* pairs, Rank rank, bool leaves, Steps& steps) {
  const Traffic traffic(groups, pairs, rank, leaves);
  const Buffer own = leaves ? Buffer::input : Buffer::output;
  ByPeer& between = leaves ? steps.sends[1] : steps.receives[1];
  ByPeer& with_carrier = leaves ? steps.sends[0] : steps.receives[2];
  ByPeer& as_carrier = leaves ? steps.receives[0] : steps.sends[2];
  traffic.for_each_freight([&](const Freight& freight) {
    const Rank carrier = leaves ? freight.collects : freight.hands_out;
    const Rank beyond = leaves ? freight.hands_out : freight.collects;
    traffic.for_each_pair(freight, carrier != rank, [&](const Pair& pair) {
      if (!freight.is_carried()) {
        between[traffic.far(pair)].push_back(shard(own, traffic.far(pair)));
      } else if (carrier != rank) {
        with_carrier[carrier].push_back(shard(own, traffic.far(pair)));
      } else {
        const bool is_own = traffic.near(pair) == rank;
        const Run run = is_own ? shard(own, traffic.far(pair)) : steps.new_slot();
        if (!is_own) as_carrier[traffic.near(pair)].push_back(run);
        between[beyond].push_back(run);
      }
    });
  });
}

Program node_pairs(const Shape& shape, Rank rank, const AlgorithmOptions& options) {
  const std::shared_ptr<const Groups> groups = given_groups(shape, options);
  const Pairs* const pairs = options.pairs.get();
  const auto has = [&](Rank from, Rank to) { return pairs == nullptr || pairs->has(from, to); };
  const Rank group = groups->group_of(rank);
  Steps steps;
  for (Rank i = 0; i < groups->size(group); ++i) {
    const Rank other = groups->member(group, i);
    if (other != rank && has(rank, other)) steps.sends[0][other].push_back(shard(Buffer::input, other));
    if (other != rank && has(other, rank)) steps.receives[0][other].push_back(shard(Buffer::output, other));
  }
  pass(*groups, pairs, rank, true, steps);
  pass(*groups, pairs, rank, false, steps);
  ProgramBuilder program(shape, rank);
  if (has(rank, rank)) program.copy({shard(Buffer::input, rank)}, {shard(Buffer::output, rank)});
  const Step before = groups->largest() > 1 ? 1 : 0;  // alone, nobody has a first step
  for (const Step step : {0, 1, 2}) {
    program.step(step + before);
    for (const auto& [peer, runs] : steps.sends[step]) program.send(runs, peer);
    for (const auto& [peer, runs] : steps.receives[step]) program.recv(runs, peer);
  }
  return std::move(program).build();
}

Step node_pairs_steps(const Shape& shape, const AlgorithmOptions& options) {
  const std::shared_ptr<const Groups> groups = given_groups(shape, options);
  if (is_one_level(*groups)) return shape.ranks > 1 ? 1 : 0;
  return 3;
}

std::string describe_node_pairs(const Shape& shape, const AlgorithmOptions& options) {
  return sizes_of_groups(*given_groups(shape, options));
}

// Means over the ranks, as if groups were equal.
Counted count_node_pairs(const Shape& shape, const AlgorithmOptions& options) {
  const std::shared_ptr<const Groups> groups = given_groups(shape, options);
  const double size = static_cast<double>(shape.ranks) / groups->groups(), others = groups->groups() - 1;
  const double away = shape.ranks - size;
  return {.rounds_within = 2 * (size - 1),
          .shards_within = size - 1 + 2 * away * (size - 1) / size,
          .rounds_between = others / size,
          .shards_between = away};
}

}  // namespace

Algorithm node_pairs_algorithm() {
  return {
      .name = "node-pairs",
      .about = "one message for each pair of groups, collected and handed out within them",
      .collectives = {Collective::alltoall},
      .options = {group_option("the ranks of a node")},
      .refusal = refusal_of_groups,
      .chunks = [](const Shape&, const AlgorithmOptions&) { return Chunk{1}; },
      .program = node_pairs,
      .steps = node_pairs_steps,
      .describe = describe_node_pairs,
      .properties = properties_of_alltoall,
      .repeats = given_one_level,
      .counted = count_node_pairs,
      .aggregates = true,
  };
}

}  // namespace colltopo
