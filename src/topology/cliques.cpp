// An edge is in one maximal clique alone if its ends and their common neighbours are one.
#include "topology/cliques.h"

#include <algorithm>
#include <span>

#include "base/index.h"

namespace colltopo {

namespace {

constexpr std::size_t k_fewest_members = 4;

class Search {
 public:
  Search(const std::vector<CliqueEdge>& edges, NodeId vertices)
      : first_(index(vertices) + 1, 0), in_clique_(edges.size()) {
    for (const CliqueEdge& edge : edges) {
      ++first_[index(edge.tail) + 1];
      heads_.push_back(edge.head);
    }
    for (std::size_t vertex = 1; vertex < first_.size(); ++vertex) first_[vertex] += first_[vertex - 1];
  }

  Cliques run(const std::vector<CliqueEdge>& edges) {
    for (std::size_t edge = 0; edge < edges.size(); ++edge) {
      const auto [a, b] = edges[edge];
      if (a > b || in_clique_[edge]) continue;
      std::vector<NodeId> clique = common_neighbours(a, b);
      if (clique.size() + 2 < k_fewest_members) continue;
      clique.push_back(a);
      clique.push_back(b);
      std::sort(clique.begin(), clique.end());
      if (is_alone(clique)) take(std::move(clique));
    }
    return {std::move(cliques_), std::move(in_clique_)};
  }

 private:
  std::span<const NodeId> neighbours(NodeId vertex) const {
    return std::span(heads_).subspan(first_[index(vertex)], first_[index(vertex) + 1] - first_[index(vertex)]);
  }

  std::vector<NodeId> common_neighbours(NodeId a, NodeId b) const {
    std::vector<NodeId> common;
    std::ranges::set_intersection(neighbours(a), neighbours(b), std::back_inserter(common));
    return common;
  }

  /// Whether every two members are joined and have no common neighbours but the others.
  bool is_alone(const std::vector<NodeId>& clique) const {
    std::vector<NodeId> outside;  // neighbours of members, one after the other
    for (const NodeId member : clique) {
      const std::size_t before = outside.size();
      std::ranges::set_difference(neighbours(member), clique, std::back_inserter(outside));
      const std::size_t inside = neighbours(member).size() - (outside.size() - before);
      if (inside + 1 != clique.size()) return false;
    }
    std::sort(outside.begin(), outside.end());
    return std::adjacent_find(outside.begin(), outside.end()) == outside.end();
  }

  void take(std::vector<NodeId> clique) {
    for (const NodeId member : clique)
      for (const NodeId other : clique) {
        if (member == other) continue;
        const std::span<const NodeId> heads = neighbours(member);
        const auto found = std::ranges::lower_bound(heads, other);
        in_clique_[first_[index(member)] + static_cast<std::size_t>(found - heads.begin())] = true;
      }
    cliques_.push_back(std::move(clique));
  }

  std::vector<std::size_t> first_;  // [vertex] into heads_, and the end
  std::vector<NodeId> heads_;       // [edge]
  std::vector<bool> in_clique_;     // [edge]
  std::vector<std::vector<NodeId>> cliques_;
};

}  // namespace

Cliques cliques_of(const std::vector<CliqueEdge>& edges, NodeId vertices) { return Search(edges, vertices).run(edges); }

}  // namespace colltopo
