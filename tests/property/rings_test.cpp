// Rings on random trees: without contention, and as short as an exhaustive search finds them.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "clusters.h"
#include "colltopo/rings.h"

namespace colltopo {
namespace {

constexpr TreeSearch k_searches[] = {TreeSearch::breadth_first, TreeSearch::depth_first, TreeSearch::random};

void expect_ring(const SpanningTree& tree, const std::vector<Rank>& order) {
  std::vector<Rank> sorted = order, all(tree.machines.size());
  std::iota(all.begin(), all.end(), 0);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, all);
  EXPECT_TRUE(facts_of(tree, order).contention_free());
}

/// The least longest path of all rings without contention, every order of machines tried.
int shortest_of_all(const SpanningTree& tree) {
  std::vector<Rank> order(tree.machines.size());
  std::iota(order.begin(), order.end(), 0);
  int least = 1 << 20;
  do {
    const RingFacts facts = facts_of(tree, order);
    if (facts.contention_free()) least = std::min(least, facts.longest_path);
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return least;
}

TEST(RingsOnRandomTrees, lr3_is_as_short_as_the_shortest_of_all_rings) {
  int longest = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const int machines = 2 + static_cast<int>(seed % 6), switches = 1 + static_cast<int>(seed % 13);
    const Topology topology = random_cluster(switches, machines, 0, seed);
    const SpanningTree tree = spanning_tree(topology, TreeSearch::random, seed);
    const int least = shortest_of_all(tree);
    EXPECT_EQ(facts_of(tree, lr3_order(topology, tree)).longest_path, least) << "seed " << seed;
    longest = std::max(longest, least);
  }
  EXPECT_GE(longest, 6);  // the trees were not all easy
}

TEST(RingsOnRandomTrees, lr3_is_as_short_as_all_rings_of_eight_machines_far_apart) {
  for (unsigned seed = 1; seed <= 25; ++seed) {
    const Topology topology = random_cluster(24, 8, 0, seed);
    const SpanningTree tree = spanning_tree(topology, TreeSearch::random, seed);
    EXPECT_EQ(facts_of(tree, lr3_order(topology, tree)).longest_path, shortest_of_all(tree)) << "seed " << seed;
  }
}

TEST(RingsOnRandomTrees, all_are_free_of_contention_and_lr3_is_never_longer) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const int switches = 2 + static_cast<int>(seed);
    const Topology topology = random_cluster(switches, 1 + 3 * switches, switches, seed);
    for (const TreeSearch search : k_searches) {
      const SpanningTree tree = spanning_tree(topology, search, seed);
      const std::vector<Rank> walked = lr1_order(topology, tree), shortest = lr3_order(topology, tree);
      expect_ring(tree, walked);
      expect_ring(tree, shortest);
      EXPECT_LE(facts_of(tree, shortest).longest_path, facts_of(tree, walked).longest_path) << "seed " << seed;
    }
  }
}

TEST(RingsOnRandomTrees, lr2_has_two_hops_wherever_theorem_2_allows_it_and_lr3_finds_them) {
  int allowed = 0, forbidden = 0;
  for (unsigned seed = 1; seed <= 120; ++seed) {
    const int switches = 2 + static_cast<int>(seed % 7);
    const Topology topology = random_cluster(switches, (2 + static_cast<int>(seed % 4)) * switches, 0, seed);
    const SpanningTree tree = spanning_tree(topology, TreeSearch::depth_first, seed);
    const int shortest = facts_of(tree, lr3_order(topology, tree)).longest_path;
    if (two_hop_obstacle(tree)) {
      EXPECT_GT(shortest, 2) << "seed " << seed;
      ++forbidden;
    } else {
      const std::vector<Rank> order = lr2_order(topology, tree);
      expect_ring(tree, order);
      EXPECT_LE(facts_of(tree, order).longest_path, 2) << "seed " << seed;
      EXPECT_LE(shortest, 2) << "seed " << seed;
      ++allowed;
    }
  }
  EXPECT_GE(std::min(allowed, forbidden), 10);
}

TEST(RingsOnRandomTrees, the_root_does_not_matter_to_lr3) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Topology topology = random_cluster(12, 9, 0, seed);  // a tree: only the root is left to chance
    std::vector<int> lengths;
    for (std::uint64_t root = 1; root <= 6; ++root) {
      const SpanningTree tree = spanning_tree(topology, TreeSearch::breadth_first, root);
      lengths.push_back(facts_of(tree, lr3_order(topology, tree)).longest_path);
    }
    EXPECT_EQ(std::count(lengths.begin(), lengths.end(), lengths.front()), 6) << "seed " << seed;
  }
}

TEST(RingsOnRandomTrees, a_seed_makes_the_same_tree_again) {
  const Topology topology = random_cluster(30, 60, 30, 5);
  for (const TreeSearch search : k_searches)
    EXPECT_EQ(lr3_order(topology, spanning_tree(topology, search, 9)),
              lr3_order(topology, spanning_tree(topology, search, 9)));
}

}  // namespace
}  // namespace colltopo
