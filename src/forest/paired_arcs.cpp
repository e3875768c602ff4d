// Edges sorted by their lower end, so that those of two nodes meet.
#include "forest/paired_arcs.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace colltopo {

PairedArcs::PairedArcs(NodeId nodes, std::span<const CapacityEdge> edges)
    : first(static_cast<std::size_t>(nodes) + 1, 0), of_edge(edges.size()) {
  const auto ends = [&](std::size_t edge) { return std::minmax(edges[edge].tail, edges[edge].head); };
  std::vector<std::size_t> order(edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::tuple(ends(a), edges[a].tail, a) < std::tuple(ends(b), edges[b].tail, b);
  });

  struct Pair {
    NodeId tail, head;
    std::size_t there, back;  // edges; edges.size(): none
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < order.size();) {
    std::size_t turn = i, end = i;  // edges from the lower node, then those from the higher
    while (end < order.size() && ends(order[end]) == ends(order[i])) {
      if (edges[order[end]].tail == ends(order[i]).first) turn = end + 1;
      ++end;
    }
    const auto [low, high] = ends(order[i]);
    for (std::size_t j = 0; j < std::max(turn - i, end - turn); ++j)
      pairs.push_back(
          {low, high, i + j < turn ? order[i + j] : edges.size(), turn + j < end ? order[turn + j] : edges.size()});
    i = end;
  }

  for (const Pair& pair : pairs) {
    ++first[static_cast<std::size_t>(pair.tail) + 1];
    ++first[static_cast<std::size_t>(pair.head) + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  head.resize(2 * pairs.size());
  mate.resize(2 * pairs.size());
  capacity.assign(2 * pairs.size(), 0);
  std::vector<Arc> next(first.begin(), first.end() - 1);
  for (const Pair& pair : pairs) {
    const Arc there = next[static_cast<std::size_t>(pair.tail)]++;
    const Arc back = next[static_cast<std::size_t>(pair.head)]++;
    head[there] = pair.head;
    head[back] = pair.tail;
    mate[there] = back;
    mate[back] = there;
    for (const auto& [edge, arc] : {std::pair(pair.there, there), std::pair(pair.back, back)}) {
      if (edge == edges.size()) continue;
      of_edge[edge] = arc;
      capacity[arc] = edges[edge].capacity;
    }
  }
}

}  // namespace colltopo
