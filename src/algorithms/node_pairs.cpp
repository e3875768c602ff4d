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
  std::vector<Pair> pairs;  // by sender, then receiver
  Rank collects = -1, hands_out = -1;
  bool is_carried() const { return collects >= 0; }
};

class Exchange {
 public:
  Exchange(const Groups& groups, const Pairs* pairs) : groups_(groups), pairs_(pairs) {}

  Rank groups() const { return groups_.groups(); }
  Rank group_at(Rank group, Rank distance) const {
    const Rank other = (group + distance) % groups();
    return other < 0 ? other + groups() : other;
  }
  bool has(Rank from, Rank to) const { return pairs_ == nullptr || std::ranges::binary_search(pairs_->to(from), to); }

  /// `distance`, from 1, of the group behind.
  Freight freight(Rank group, Rank distance) const {
    const Rank other = group_at(group, distance);
    Freight all;
    for (Rank i = 0; i < groups_.size(group); ++i) {
      const Rank from = groups_.member(group, i);
      for_each_to(from, other, [&](Rank to) { all.pairs.push_back({from, to}); });
    }
    if (all.pairs.size() < 2) return all;
    const auto alone = [&](Rank Pair::*end) {
      return std::ranges::all_of(all.pairs, [&](const Pair& pair) { return pair.*end == all.pairs.front().*end; });
    };
    all.collects = alone(&Pair::from) ? all.pairs[0].from : groups_.member(group, (distance - 1) % groups_.size(group));
    all.hands_out = alone(&Pair::to) ? all.pairs[0].to : groups_.member(other, (distance - 1) % groups_.size(other));
    return all;
  }

 private:
  template <class Visit>
  void for_each_to(Rank from, Rank group, const Visit& visit) const {
    if (pairs_ == nullptr) {
      for (Rank i = 0; i < groups_.size(group); ++i) visit(groups_.member(group, i));
      return;
    }
    for (const Rank to : pairs_->to(from))
      if (groups_.group_of(to) == group) visit(to);
  }

  const Groups& groups_;
  const Pairs* pairs_;
};

using ByPeer = std::map<Rank, Runs>;

/// What a rank sends and receives in each of the three steps.
struct Steps {
  ByPeer sends[3], receives[3];
  Chunk slots = 0;

  Run new_slot() { return {Buffer::scratch, slots++, 1}; }
};

Run block(Buffer buffer, Rank rank) { return {buffer, rank, 1}; }

void send_away(const Exchange& exchange, Rank group, Rank rank, Steps& steps) {
  for (Rank distance = 1; distance < exchange.groups(); ++distance) {
    const Freight freight = exchange.freight(group, distance);
    for (const auto& [from, to] : freight.pairs) {
      const bool own = from == rank;
      if (!freight.is_carried() || freight.collects == rank) {
        if (!own && !freight.is_carried()) continue;
        const Run run = own ? block(Buffer::input, to) : steps.new_slot();
        if (!own) steps.receives[0][from].push_back(run);
        steps.sends[1][freight.is_carried() ? freight.hands_out : to].push_back(run);
      } else if (own) {
        steps.sends[0][freight.collects].push_back(block(Buffer::input, to));
      }
    }
  }
}

void get_from_afar(const Exchange& exchange, Rank group, Rank rank, Steps& steps) {
  for (Rank distance = 1; distance < exchange.groups(); ++distance) {
    const Freight freight = exchange.freight(exchange.group_at(group, -distance), distance);
    for (const auto& [from, to] : freight.pairs) {
      const bool own = to == rank;
      if (!freight.is_carried() || freight.hands_out == rank) {
        if (!own && !freight.is_carried()) continue;
        const Run run = own ? block(Buffer::output, from) : steps.new_slot();
        if (!own) steps.sends[2][to].push_back(run);
        steps.receives[1][freight.is_carried() ? freight.collects : from].push_back(run);
      } else if (own) {
        steps.receives[2][freight.hands_out].push_back(block(Buffer::output, from));
      }
    }
  }
}

std::shared_ptr<const Groups> groups_of(const Shape& shape, const AlgorithmOptions& options) {
  return given_groups(shape, options, 1);
}

Program node_pairs(const Shape& shape, Rank rank, const AlgorithmOptions& options) {
  const std::shared_ptr<const Groups> groups = groups_of(shape, options);
  const Exchange exchange(*groups, options.pairs.get());
  const Rank group = groups->group_of(rank);
  Steps steps;
  for (Rank i = 0; i < groups->size(group); ++i) {
    const Rank other = groups->member(group, i);
    if (other != rank && exchange.has(rank, other)) steps.sends[0][other].push_back(block(Buffer::input, other));
    if (other != rank && exchange.has(other, rank)) steps.receives[0][other].push_back(block(Buffer::output, other));
  }
  send_away(exchange, group, rank, steps);
  get_from_afar(exchange, group, rank, steps);
  ProgramBuilder program(shape, rank);
  if (exchange.has(rank, rank)) program.copy({block(Buffer::input, rank)}, {block(Buffer::output, rank)});
  const Step before = groups->largest() > 1 ? 1 : 0;  // alone, nobody has a first step
  for (const Step step : {0, 1, 2}) {
    program.step(step + before);
    for (const auto& [peer, runs] : steps.sends[step]) program.send(runs, peer);
    for (const auto& [peer, runs] : steps.receives[step]) program.recv(runs, peer);
  }
  return std::move(program).build();
}

Step steps(const Shape& shape, const AlgorithmOptions& options) {
  const std::shared_ptr<const Groups> groups = groups_of(shape, options);
  if (groups->groups() == 1 || groups->largest() == 1) return shape.ranks > 1 ? 1 : 0;
  return 3;
}

std::string describe(const Shape& shape, const AlgorithmOptions& options) {
  const std::shared_ptr<const Groups> groups = groups_of(shape, options);
  return groups->equal() ? fmt::format("group={}", groups->largest())
                         : fmt::format("groups={} up-to={}", groups->groups(), groups->largest());
}

// Means over the ranks, as if groups were equal.
Counted counted(const Shape& shape, const AlgorithmOptions& options) {
  const std::shared_ptr<const Groups> groups = groups_of(shape, options);
  const double size = static_cast<double>(shape.ranks) / groups->groups(), others = groups->groups() - 1;
  const double away = shape.ranks - size;
  return {.rounds_within = 2 * (size - 1),
          .shards_within = size - 1 + 2 * away * (size - 1) / size,
          .rounds_between = others / size,
          .shards_between = away};
}

// Where nobody shares a group, or all do, it is what linear is.
std::vector<AlgorithmOptions> variants(const Shape& shape, const AlgorithmOptions& given) {
  const std::shared_ptr<const Groups> groups = groups_of(shape, given);
  if (groups->groups() == 1 || groups->largest() == 1) return {};
  return {given};
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
      .steps = steps,
      .describe = describe,
      .properties = properties_of_alltoall,
      .variants = variants,
      .counted = counted,
      .aggregates = true,
  };
}

}  // namespace colltopo
