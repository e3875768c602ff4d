// Which links routes hold while they wait for others, numbered.
//
// A dependency joins a link to one that leaves its head, so a link has as many as its head has links out: a route's
// dependencies are found without a search, and whether one is known is a look into a vector.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "colltopo/topology.h"

namespace colltopo {

using DependencyId = std::uint32_t;

class Dependencies {
 public:
  explicit Dependencies(const Topology& topology);

  std::size_t links() const { return first_.size() - 1; }
  std::size_t size() const { return first_.back(); }
  /// `wanted` leaves the head of `held`.
  DependencyId between(LinkId held, LinkId wanted) const {
    return first_[static_cast<std::size_t>(held)] + place_[static_cast<std::size_t>(wanted)];
  }
  /// The dependencies of `held` are numbered from this, in the order of links_out() of its head.
  DependencyId first_of(LinkId held) const { return first_[static_cast<std::size_t>(held)]; }
  LinkId wanted(LinkId held, DependencyId dependency) const {
    return topology_.links_out(topology_.link(held).head)[dependency - first_of(held)];
  }
  std::size_t count_of(LinkId held) const { return topology_.links_out(topology_.link(held).head).size(); }

 private:
  const Topology& topology_;
  std::vector<DependencyId> first_;  // [link], and the end
  std::vector<DependencyId> place_;  // [link] among the links out of its tail
};

/// Dependencies without a cycle, and the order of links that proves it, kept up to date as routes are added (Pearce and
/// Kelly 2006).
class AcyclicLayer {
 public:
  explicit AcyclicLayer(const Dependencies& dependencies);

  /// Takes the route if that leaves no cycle; otherwise nothing changes and it returns false.
  bool take(std::span<const LinkId> route);

 private:
  enum class State : std::uint8_t { absent, present, forbidden };
  struct Arc {
    LinkId held, wanted;
  };

  bool add(Arc arc);
  void undo(Arc arc);
  bool reaches(LinkId from, LinkId target);
  void collect_before(LinkId from, std::int32_t least);
  void reorder();

  const Dependencies& dependencies_;
  std::vector<State> state_;                           // [dependency]
  std::vector<std::vector<LinkId>> wanted_, holders_;  // [link]
  std::vector<std::int32_t> order_;                    // [link] every dependency goes upwards
  std::vector<bool> seen_;                             // [link] false between searches
  std::vector<LinkId> after_, before_, stack_;         // of the search at hand
  std::vector<std::int32_t> places_;
  std::vector<Arc> added_;  // by the route at hand
};

}  // namespace colltopo
