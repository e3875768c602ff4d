// Translations of a grid under which a network and the programs of its ranks look alike.
#pragma once

#include <vector>

#include "simulation/simulation.h"

namespace colltopo::simulation {

/// Translations by multiples of `units` along the sides of a grid whose hosts are numbered row by row.
class Translations {
 public:
  /// `units`: of each side, a divisor of it.
  Translations(const Topology& topology, std::vector<int> sides, std::vector<int> units);

  /// Ranks that are no translation of each other, and all others are of one of these.
  const std::vector<Rank>& representatives() const { return representatives_; }
  /// How many ranks each of them stands for.
  Rank alike() const { return alike_; }
  Rank representative(Rank rank) const;
  /// `node` moved as `from` is when it becomes its representative; switches stay.
  NodeId moved(NodeId node, Rank from) const;
  /// The link that stands for it: out of a representative or, from a switch, into one. -1: the network has none, so it
  /// does not look alike.
  LinkId representative_link(LinkId link) const;
  /// Whether every link has one, as fast and as long.
  bool fit_network() const;

 private:
  std::vector<int> coordinates(Rank rank) const;
  Rank rank_at(const std::vector<int>& coordinates) const;

  const Topology& topology_;
  std::vector<int> sides_, units_;
  std::vector<Rank> representatives_;
  Rank alike_ = 1;
  mutable std::vector<LinkId> known_;  // [link]; -2: not looked for
};

/// The finest that the network and some ranks' programs allow, found side by side. `compared`: how many programs were
/// held against their representatives'. With no translation but by nothing, every rank is its own representative.
Translations translations_of(const Subject& subject, const Topology& topology, const ShortestPaths& paths,
                             Rank* compared);

/// A rank's sends in the order of its program.
std::vector<Message> sends_of(const Program& program);

}  // namespace colltopo::simulation
