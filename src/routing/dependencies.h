// Which links routes hold while they wait for others, numbered.
//
// Only what some route needs is numbered: in a dense network a link could be followed by thousands, but seldom is.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "colltopo/layers.h"

namespace colltopo {

using DependencyId = std::uint32_t;

class Dependencies {
 public:
  /// Those of the routes.
  Dependencies(std::size_t links, RouteLinks routes);

  std::size_t links() const { return first_.size() - 1; }
  std::size_t size() const { return wanted_.size(); }
  /// Some route has `wanted` behind `held`.
  DependencyId between(LinkId held, LinkId wanted) const;
  /// Those between each link of one of the routes and the next.
  void along(std::span<const LinkId> route, std::vector<DependencyId>& dependencies) const;
  /// What is wanted by holders of `held`, in increasing order; numbered from first_of(held).
  std::span<const LinkId> wanted(LinkId held) const {
    return std::span(wanted_).subspan(first_of(held), first_[static_cast<std::size_t>(held) + 1] - first_of(held));
  }
  DependencyId first_of(LinkId held) const { return first_[static_cast<std::size_t>(held)]; }

 private:
  std::vector<DependencyId> first_;  // [link] into wanted_, and the end
  std::vector<LinkId> wanted_;       // [dependency]
};

/// Dependencies without a cycle, and the order of links that proves it, kept up to date as routes are added (Pearce and
/// Kelly 2006).
class AcyclicLayer {
 public:
  /// `order`: [link] the order to begin with; empty: by number. The nearer it is to the one that the routes will need,
  /// the less has to be searched.
  explicit AcyclicLayer(const Dependencies& dependencies, std::vector<std::int32_t> order = {});

  /// [link] every dependency goes upwards.
  const std::vector<std::int32_t>& order() const { return order_; }

  /// Takes the route if that leaves no cycle; otherwise nothing changes and it returns false. `dependencies`: those
  /// along it.
  bool take(std::span<const LinkId> route, std::span<const DependencyId> dependencies);

 private:
  enum class State : std::uint8_t { absent, present, forbidden };

  static constexpr int k_memory_bits = 16;
  static std::size_t memory_of(LinkId from, LinkId to);

  bool is_known_to_return(std::span<const LinkId> route) const;
  bool returns(std::span<const LinkId> route);
  void forbid(std::span<const LinkId> part);
  void add(LinkId held, LinkId wanted, DependencyId dependency);
  void collect_after(LinkId from, std::int32_t most);
  void collect_before(LinkId from, std::int32_t least);
  void reorder();

  const Dependencies& dependencies_;
  std::vector<State> state_;                           // [dependency]
  std::vector<std::pair<LinkId, LinkId>> leads_;       // [memory] a link and one that it leads to, found before
  std::vector<std::vector<LinkId>> wanted_, holders_;  // [link]
  std::vector<std::int32_t> order_;
  std::vector<std::int32_t> limits_;            // [place on the route at hand], and the end
  std::vector<std::int32_t> place_;             // [link] on the route at hand; -1: elsewhere
  std::vector<bool> seen_;                      // [link] false between searches
  std::vector<LinkId> after_, before_, stack_;  // of the search at hand
  std::vector<std::int32_t> places_;
};

}  // namespace colltopo
