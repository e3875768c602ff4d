// Layers by LASH, by LASH one layer at a time, and by breaking cycles as DF-SSSP does.
#include "colltopo/layers.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/parallel.h"
#include "base/random.h"
#include "routing/dependencies.h"
#include "routing/first_fit.h"

namespace colltopo {

namespace {

// How often lash-sequential fills the layers again: more seldom saves one. Nor more often than takes a few seconds
// where routes are many and so long that they need a lot of layers.
constexpr int k_most_layer_refills = 16;
constexpr double k_most_trials = 5e7;  // of a dependency in a layer

constexpr std::size_t k_routes_of_slice = 4096;  // at least, where threads share routes

constexpr std::array<std::string_view, 4> k_names{"none", "lash", "lash-sequential", "df-sssp"};

/// Calls work(begin, end, number) for `slices` equal parts of [0, count), each on a thread of its own.
template <typename Work>
void for_each_slice(std::size_t count, unsigned slices, const Work& work) {
  for_each_index(slices, static_cast<int>(slices), [&](std::size_t slice, unsigned) {
    work(count * slice / slices, count * (slice + 1) / slices, static_cast<unsigned>(slice));
  });
}

std::vector<RouteId> order_given(RouteLinks routes) {
  std::vector<RouteId> order(routes.size());
  std::iota(order.begin(), order.end(), RouteId{0});
  return order;
}

std::vector<std::int32_t> lash_sequential(const Dependencies& dependencies, RouteLinks routes, int threads) {
  // Long routes have the most dependencies: they are placed while layers are empty.
  std::vector<RouteId> order = order_given(routes);
  std::stable_sort(order.begin(), order.end(),
                   [&](RouteId a, RouteId b) { return routes[a].size() > routes[b].size(); });
  Filled filled = first_fit(dependencies, routes, order, threads);

  // Part of a layer without cycles has none either, so layers that are filled again with their routes, one layer's
  // after the other's, never need more than before (iterated greedy colouring, Culberson 1992).
  Lots lots(1);
  double dependencies_of_routes = 0;
  for (const auto& route : routes) dependencies_of_routes += static_cast<double>(route.size());
  double trials = 0;
  for (int pass = 0; pass < k_most_layer_refills; ++pass) {
    const std::int32_t layers = layers_in(filled.layer_of);
    trials += layers * dependencies_of_routes;
    if (layers <= 1 || trials > k_most_trials) break;
    std::vector<std::int32_t> turn(static_cast<std::size_t>(layers));
    for (std::int32_t layer = 0; layer < layers; ++layer) turn[static_cast<std::size_t>(layer)] = layers - 1 - layer;
    if (pass % 2 == 1) lots.shuffle(turn);
    std::stable_sort(order.begin(), order.end(), [&](RouteId a, RouteId b) {
      return turn[static_cast<std::size_t>(filled.layer_of[a])] < turn[static_cast<std::size_t>(filled.layer_of[b])];
    });
    // The routes of a layer whose turn it is agree with the order of links that they had there.
    std::vector<std::vector<std::int32_t>> orders(filled.orders.size());
    for (std::size_t layer = 0; layer < orders.size(); ++layer)
      orders[static_cast<std::size_t>(turn[layer])] = std::move(filled.orders[layer]);
    filled = first_fit(dependencies, routes, order, threads, std::move(orders));
  }
  return filled.layer_of;
}

/// [route] its dependencies: looked up once, read in every layer.
class RouteDependencies {
 public:
  RouteDependencies(const Dependencies& dependencies, RouteLinks routes, int threads) : first_(routes.size() + 1, 0) {
    for (std::size_t route = 0; route < routes.size(); ++route)
      first_[route + 1] = first_[route] + std::max<std::size_t>(routes[route].size(), 1) - 1;
    ids_.resize(first_.back());
    for_each_slice(routes.size(), worker_count(threads, routes.size() / k_routes_of_slice),
                   [&](std::size_t begin, std::size_t end, unsigned) {
                     for (std::size_t route = begin; route < end; ++route)
                       for (std::size_t i = 1; i < routes[route].size(); ++i)
                         ids_[first_[route] + i - 1] = dependencies.between(routes[route][i - 1], routes[route][i]);
                   });
  }

  std::span<const DependencyId> of(RouteId route) const {
    return std::span(ids_).subspan(first_[route], first_[route + 1] - first_[route]);
  }

 private:
  std::vector<std::size_t> first_;  // [route] into ids_, and the end
  std::vector<DependencyId> ids_;
};

/// One layer of DF-SSSP: a depth-first search that breaks every cycle it meets.
class CycleBreaking {
 public:
  CycleBreaking(const Dependencies& dependencies, const RouteDependencies& of_routes,
                const std::vector<RouteId>& members, int threads)
      : dependencies_(dependencies),
        of_routes_(of_routes),
        uses_(dependencies.size(), 0),
        first_(dependencies.size() + 1, 0),
        colour_(dependencies.links(), Colour::white),
        next_(dependencies.links(), 0),
        moved_(members.empty() ? 0 : members.back() + std::size_t{1}, false) {
    // Each slice of the members has places of its own behind those of the slices before, in the order of the routes. A
    // slice has a counter for every dependency, which pays where it has more to count.
    std::size_t uses = 0;
    for (const RouteId route : members) uses += of_routes_.of(route).size();
    const unsigned slices = worker_count(threads, uses / (uses_.size() + 1));
    std::vector<std::vector<std::uint32_t>> counts(slices, std::vector<std::uint32_t>(uses_.size(), 0));
    for_each_slice(members.size(), slices, [&](std::size_t begin, std::size_t end, unsigned slice) {
      for (std::size_t i = begin; i < end; ++i)
        for (const DependencyId d : of_routes_.of(members[i])) ++counts[slice][d];
    });
    for (DependencyId d = 0; d < uses_.size(); ++d) {
      for (std::vector<std::uint32_t>& count : counts) {
        const std::uint32_t before = uses_[d];
        uses_[d] += count[d];
        count[d] = before;
      }
      first_[d + 1] = first_[d] + uses_[d];
    }
    over_.resize(first_.back());
    for_each_slice(members.size(), slices, [&](std::size_t begin, std::size_t end, unsigned slice) {
      for (std::size_t i = begin; i < end; ++i)
        for (const DependencyId d : of_routes_.of(members[i])) over_[first_[d] + counts[slice][d]++] = members[i];
    });
  }

  /// The routes that have to leave, in increasing order.
  std::vector<RouteId> run() {
    for (std::size_t link = 0; link < colour_.size(); ++link)
      if (colour_[link] == Colour::white) search_from(static_cast<LinkId>(link));
    std::sort(leaving_.begin(), leaving_.end());
    return std::move(leaving_);
  }

 private:
  enum class Colour : std::uint8_t { white, grey, black };
  static std::size_t at(LinkId link) { return static_cast<std::size_t>(link); }

  void push(LinkId link) {
    stack_.push_back(link);
    colour_[at(link)] = Colour::grey;
    next_[at(link)] = 0;
  }

  void search_from(LinkId root) {
    push(root);
    while (!stack_.empty()) {
      const LinkId held = stack_.back();
      if (next_[at(held)] == dependencies_.wanted(held).size()) {
        colour_[at(held)] = Colour::black;
        stack_.pop_back();
        continue;
      }
      const DependencyId place = next_[at(held)]++;
      if (uses_[dependencies_.first_of(held) + place] == 0) continue;
      const LinkId wanted = dependencies_.wanted(held)[place];
      if (colour_[at(wanted)] == Colour::white)
        push(wanted);
      else if (colour_[at(wanted)] == Colour::grey)
        break_cycle(wanted);
    }
  }

  /// From `first` to the end of the stack and back.
  void break_cycle(LinkId first) {
    const auto begin = static_cast<std::size_t>(std::find(stack_.begin(), stack_.end(), first) - stack_.begin());
    DependencyId weakest = dependencies_.between(stack_.back(), first);
    for (std::size_t i = begin + 1; i < stack_.size(); ++i) {
      const DependencyId dependency = dependencies_.between(stack_[i - 1], stack_[i]);
      if (uses_[dependency] < uses_[weakest]) weakest = dependency;
    }
    for (std::size_t i = first_[weakest]; i < first_[weakest + 1]; ++i) leave(over_[i]);
    // The stack is a path of dependencies that are left; what hung on a lost one is searched again.
    std::size_t whole = 1;
    while (whole < stack_.size() && uses_[dependencies_.between(stack_[whole - 1], stack_[whole])] > 0) ++whole;
    for (; stack_.size() > whole; stack_.pop_back()) colour_[at(stack_.back())] = Colour::white;
  }

  void leave(RouteId route) {
    if (moved_[route]) return;
    moved_[route] = true;
    leaving_.push_back(route);
    for (const DependencyId d : of_routes_.of(route)) --uses_[d];
  }

  const Dependencies& dependencies_;
  const RouteDependencies& of_routes_;
  std::vector<std::uint32_t> uses_;  // [dependency] routes that are still here
  std::vector<std::size_t> first_;   // [dependency] into over_
  std::vector<RouteId> over_;
  std::vector<Colour> colour_;      // [link]
  std::vector<DependencyId> next_;  // [link] which of its dependencies is looked at next
  std::vector<bool> moved_;         // [route]
  std::vector<RouteId> leaving_;
  std::vector<LinkId> stack_;
};

std::vector<std::int32_t> df_sssp(const Dependencies& dependencies, RouteLinks routes, int threads) {
  const RouteDependencies of_routes(dependencies, routes, threads);
  std::vector<std::int32_t> layer_of(routes.size(), 0);
  std::vector<RouteId> members(routes.size());
  std::iota(members.begin(), members.end(), RouteId{0});
  for (std::int32_t layer = 0; !members.empty(); ++layer) {
    members = CycleBreaking(dependencies, of_routes, members, threads).run();
    for (const RouteId route : members) layer_of[route] = layer + 1;
  }
  return layer_of;
}

}  // namespace

std::string_view name(LayerMethod method) { return k_names[static_cast<std::size_t>(method)]; }

std::optional<LayerMethod> layer_method_named(std::string_view name) {
  for (std::size_t i = 0; i < k_names.size(); ++i)
    if (k_names[i] == name) return static_cast<LayerMethod>(i);
  return std::nullopt;
}

std::vector<std::int32_t> layers_of(const Topology& topology, RouteLinks routes, LayerMethod method, int threads) {
  const Dependencies dependencies(topology.links().size(), routes);
  switch (method) {
    case LayerMethod::none:
      break;
    case LayerMethod::lash:
      return first_fit(dependencies, routes, order_given(routes), threads).layer_of;
    case LayerMethod::lash_sequential:
      return lash_sequential(dependencies, routes, threads);
    case LayerMethod::df_sssp:
      return df_sssp(dependencies, routes, threads);
  }
  return std::vector<std::int32_t>(routes.size(), 0);
}

std::int32_t layers_in(std::span<const std::int32_t> layers) {
  return layers.empty() ? 0 : *std::max_element(layers.begin(), layers.end()) + 1;
}

LinkId link_in_cycle(const Topology& topology, RouteLinks routes) {
  // Kahn: links that nothing waits for are taken away until none is left, or only cycles and what they wait for.
  const Dependencies dependencies(topology.links().size(), routes);
  std::vector<std::uint32_t> holders(dependencies.links(), 0);
  std::vector<LinkId> free;
  for (std::size_t link = 0; link < holders.size(); ++link)
    for (const LinkId wanted : dependencies.wanted(static_cast<LinkId>(link)))
      ++holders[static_cast<std::size_t>(wanted)];
  for (std::size_t link = 0; link < holders.size(); ++link)
    if (holders[link] == 0) free.push_back(static_cast<LinkId>(link));
  for (std::size_t i = 0; i < free.size(); ++i)
    for (const LinkId wanted : dependencies.wanted(free[i]))
      if (--holders[static_cast<std::size_t>(wanted)] == 0) free.push_back(wanted);
  const auto held = std::find_if(holders.begin(), holders.end(), [](std::uint32_t count) { return count > 0; });
  return held == holders.end() ? -1 : static_cast<LinkId>(held - holders.begin());
}

}  // namespace colltopo
