// Disjoint, shortest and bounded paths of a pair: what they promise, against independent conditions.
#include <algorithm>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "colltopo/error.h"
#include "synthesis/paths/path_sets.h"

namespace colltopo {

using namespace synthesis;
namespace {

using testing::ElementsAre;

Topology random_graph(NodeId hosts, NodeId switches, int links, unsigned seed) {
  std::mt19937 random(seed);
  TopologyBuilder builder("random " + std::to_string(seed), hosts, switches);
  const NodeId nodes = hosts + switches;
  for (NodeId node = 0; node < nodes; ++node) builder.link(node, (node + 1) % nodes);
  for (int i = 0; i < links; ++i) {
    const auto tail = static_cast<NodeId>(random() % static_cast<unsigned>(nodes));
    const auto head = static_cast<NodeId>(random() % static_cast<unsigned>(nodes));
    if (tail != head) builder.link(tail, head);
  }
  return std::move(builder).build();
}

/// Links follow each other from source to target and no node is visited twice.
bool is_simple_path(const Topology& topology, const Path& path, NodeId source, NodeId target) {
  std::set<NodeId> visited{source};
  NodeId node = source;
  for (const LinkId link : path) {
    if (topology.link(link).tail != node) return false;
    node = topology.link(link).head;
    if (!visited.insert(node).second) return false;
  }
  return node == target;
}

std::vector<std::size_t> lengths(const std::vector<Path>& paths) {
  std::vector<std::size_t> lengths;
  for (const Path& path : paths) lengths.push_back(path.size());
  return lengths;
}

/// Whether the links of `paths` are a largest flow of least length: in what remains there is no way from the source to
/// the target, and no cycle of negative length (Bellman-Ford).
bool is_optimal(const Topology& topology, const std::vector<Path>& paths, NodeId source, NodeId target) {
  std::vector<bool> used(topology.links().size());
  for (const Path& path : paths)
    for (const LinkId link : path) used[static_cast<std::size_t>(link)] = true;
  const int far = 1 << 20;
  std::vector<int> anywhere(static_cast<std::size_t>(topology.nodes()), 0);
  std::vector<int> from_source(anywhere.size(), far);
  from_source[static_cast<std::size_t>(source)] = 0;
  bool shrinks = true;
  for (NodeId round = 0; round <= topology.nodes() && shrinks; ++round) {
    shrinks = false;
    for (std::size_t id = 0; id < used.size(); ++id) {
      const Link& link = topology.links()[id];
      const auto [a, b, length] = used[id] ? std::tuple(link.head, link.tail, -1) : std::tuple(link.tail, link.head, 1);
      for (std::vector<int>* distance : {&anywhere, &from_source}) {
        const int near = (*distance)[static_cast<std::size_t>(a)];
        int& there = (*distance)[static_cast<std::size_t>(b)];
        if (near == far || near + length >= there) continue;
        there = near + length;
        shrinks = true;
      }
    }
  }
  return !shrinks && from_source[static_cast<std::size_t>(target)] == far;
}

TEST(DisjointPaths, of_symmetric_graphs_have_the_known_lengths) {
  EXPECT_THAT(lengths(disjoint_paths(topology_of("hypercube:3"), 0, 7)), ElementsAre(3, 3, 3));
  EXPECT_THAT(lengths(disjoint_paths(topology_of("hypercube:3"), 0, 1)), ElementsAre(1, 3, 3));
  EXPECT_THAT(lengths(disjoint_paths(topology_of("bipartite:4:4"), 0, 1)), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(lengths(disjoint_paths(topology_of("bipartite:4:4"), 0, 4)), ElementsAre(1, 3, 3, 3));
  EXPECT_EQ(disjoint_paths(topology_of("torus:3x3x3"), 0, 13).size(), 6U);
}

TEST(DisjointPaths, count_parallel_links) {
  TopologyBuilder builder("double", 2);
  builder.cable(0, 1).cable(0, 1);
  EXPECT_THAT(disjoint_paths(std::move(builder).build(), 0, 1), ElementsAre(Path{0}, Path{2}));
}

TEST(DisjointPaths, give_up_a_short_path_that_blocks_two) {
  // 0-1-2-5 is the shortest path; both of the two disjoint ones share a link with it.
  TopologyBuilder builder("trap", 6);
  builder.link(0, 1).link(1, 2).link(2, 5).link(0, 3).link(3, 2).link(1, 4).link(4, 5);
  for (NodeId node = 1; node < 6; ++node) builder.link(node, 0);
  const Topology trap = std::move(builder).build();
  EXPECT_THAT(disjoint_paths(trap, 0, 5), ElementsAre(Path({0, 5, 6}), Path({3, 4, 2})));
}

TEST(DisjointPaths, are_as_many_as_there_are_and_as_short_as_they_can_be) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Topology graph = random_graph(9, seed % 4, 12 + static_cast<int>(seed % 25), seed);
    for (NodeId source = 0; source < graph.hosts(); ++source) {
      PathsFrom from(graph, source);
      for (NodeId target = 0; target < graph.hosts(); ++target) {
        if (source == target) continue;
        const std::vector<Path> paths = from.disjoint(target);
        std::set<LinkId> links;
        std::size_t total = 0;
        for (const Path& path : paths) {
          ASSERT_TRUE(is_simple_path(graph, path, source, target)) << seed << ": " << source << " to " << target;
          links.insert(path.begin(), path.end());
          total += path.size();
        }
        ASSERT_EQ(links.size(), total) << "a link is used twice";
        ASSERT_TRUE(is_optimal(graph, paths, source, target)) << seed << ": " << source << " to " << target;
        ASSERT_EQ(paths, disjoint_paths(graph, source, target)) << "it depends on what was asked before";
      }
    }
  }
}

TEST(ShortestPathsOfAPair, are_all_of_them_or_a_spread) {
  const Topology torus = topology_of("torus:4x4");
  const PathList all = shortest_paths(torus, 0, 10, 100);  // (0, 0) to (2, 2): four quadrants of six
  EXPECT_EQ(all.paths.size(), 24U);
  EXPECT_FALSE(all.capped);
  EXPECT_EQ(std::set<Path>(all.paths.begin(), all.paths.end()).size(), 24U);
  for (const Path& path : all.paths) EXPECT_TRUE(path.size() == 4 && is_simple_path(torus, path, 0, 10));

  const PathList four = shortest_paths(torus, 0, 10, 4);
  EXPECT_TRUE(four.capped);
  std::set<LinkId> last;
  for (const Path& path : four.paths) last.insert(path.back());
  EXPECT_EQ(last.size(), 4U) << "they should not all arrive by one link";
}

TEST(ShortestPathsOfAPair, are_counted_without_overflow) {
  const Topology torus = topology_of("torus:80x80");
  const PathsFrom from(torus, 0);
  EXPECT_EQ(from.shortest_count(40 * 80 + 40), std::uint64_t{1} << 62);
  const PathList some = from.shortest(40 * 80 + 40, 5);
  EXPECT_TRUE(some.capped);
  EXPECT_THAT(lengths(some.paths), ElementsAre(80, 80, 80, 80, 80));
}

TEST(BoundedPaths, are_those_of_an_exhaustive_search) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Topology graph = random_graph(6, seed % 3, 14, seed);
    for (int most_links = 1; most_links <= 6; ++most_links) {
      std::set<Path> expected;
      const auto extend = [&](const auto& self, Path path, NodeId node, std::set<NodeId> visited) -> void {
        if (node == 5) expected.insert(path);
        if (node == 5 || path.size() == static_cast<std::size_t>(most_links)) return;
        for (const LinkId link : graph.links_out(node)) {
          const NodeId head = graph.link(link).head;
          if (visited.count(head)) continue;
          path.push_back(link);
          visited.insert(head);
          self(self, path, head, visited);
          visited.erase(head);
          path.pop_back();
        }
      };
      extend(extend, {}, 0, {0});
      const PathList list = bounded_paths(graph, 0, 5, most_links, 100000);
      EXPECT_FALSE(list.capped);
      EXPECT_EQ(std::set<Path>(list.paths.begin(), list.paths.end()), expected);
      EXPECT_EQ(list.paths.size(), expected.size());
      if (expected.size() < 2) continue;
      const PathList fewer = bounded_paths(graph, 0, 5, most_links, expected.size() - 1);
      EXPECT_TRUE(fewer.capped);
      EXPECT_TRUE(std::equal(fewer.paths.begin(), fewer.paths.end(), list.paths.begin()));
    }
  }
}

TEST(PathsFrom, names_hosts_that_cannot_be_reached) {
  TopologyBuilder builder("two parts", 3);
  builder.cable(0, 1);
  const Topology parts = std::move(builder).build();
  try {
    PathsFrom(parts, 0);
    FAIL() << "it should throw";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "two parts: host 0 cannot reach host 2; no all-to-all is possible");
  }
}

}  // namespace
}  // namespace colltopo
