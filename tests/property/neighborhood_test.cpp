// Exchanges among neighbours: right values by every algorithm, whoever has something for whom; and what the steps
// through nodes send.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "colltopo/algorithms.h"
#include "ranks.h"
#include "uneven.h"

namespace colltopo {
namespace {

using Graph = std::vector<std::vector<Rank>>;  // [from] to

Graph random_graph(int ranks, unsigned seed) {
  std::mt19937 random(seed);
  Graph graph(static_cast<std::size_t>(ranks));
  const auto edges = random() % static_cast<unsigned>(4 * ranks + 1);
  const auto any = [&] { return random() % static_cast<unsigned>(ranks); };
  for (unsigned i = 0; i < edges; ++i) graph[any()].push_back(static_cast<Rank>(any()));
  return graph;
}

/// Traffic where the graph has edges alone.
Traffic along(const Graph& graph, Traffic traffic) {
  const Pairs pairs(graph);
  for (std::size_t from = 0; from < traffic.size(); ++from)
    for (std::size_t to = 0; to < traffic.size(); ++to)
      if (!std::ranges::binary_search(pairs.to(static_cast<Rank>(from)), static_cast<Rank>(to))) traffic[from][to] = 0;
  return traffic;
}

void expect_right(int ranks, const std::string& algorithm, unsigned first_seed, bool tells_neighbors) {
  Ranks all(ranks);
  const Graph graph = random_graph(ranks, first_seed);
  all.run([&](int rank, colltopo_comm* comm) {
    ASSERT_EQ(colltopo_comm_set(comm, "neighborhood_algorithm", algorithm.c_str()), COLLTOPO_SUCCESS);
    const std::vector<Rank>& to = graph[static_cast<std::size_t>(rank)];
    if (tells_neighbors) {
      ASSERT_EQ(colltopo_neighbors(comm, to.data(), to.size()), COLLTOPO_SUCCESS);
    }
    unsigned seed = first_seed;
    for (const Pattern pattern : k_patterns) {
      std::mt19937 random(++seed * 100 + static_cast<unsigned>(rank));
      Exchange exchange(along(graph, traffic(ranks, pattern, seed)), rank, random);
      ASSERT_EQ(exchange.run(comm, colltopo_neighborhood), COLLTOPO_SUCCESS) << algorithm << " seed " << seed;
      ASSERT_TRUE(exchange.is_right()) << algorithm << " rank " << rank << " of " << ranks << " seed " << seed;
    }
  });
}

TEST(Neighborhood, has_right_values_by_every_row_that_serves_it) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms())
    if (serves(algorithm, Collective::neighborhood)) names.emplace_back(algorithm.name);
  EXPECT_THAT(names, testing::ElementsAre("tra", "tra2", "linear", "pairwise", "node-pairs"));
  for (const int ranks : {2, 3, 5, 8, 13})
    for (const std::string& algorithm : names)
      for (unsigned seed = 0; seed < 3; ++seed) expect_right(ranks, algorithm, seed * 10, true);
}

TEST(Neighborhood, goes_through_groups_of_any_size_on_any_graph) {
  for (const int ranks : {4, 7, 12})
    for (const char* const algorithm : {"node-pairs:group=1", "node-pairs:group=2", "node-pairs:group=5"})
      for (unsigned seed = 0; seed < 20; ++seed) expect_right(ranks, algorithm, 1000 + seed * 10, seed % 4 != 0);
}

Schedule through_nodes(int ranks, Rank group, const Graph* graph) {
  AlgorithmOptions options;
  options.values.set("group", group);
  if (graph != nullptr) options.pairs = std::make_shared<const Pairs>(*graph);
  return generate(*algorithm_named("node-pairs"), {Collective::alltoall, ranks, 1, 0}, options);
}

/// Messages from one group to another.
std::map<std::pair<Rank, Rank>, int> between_groups(const Schedule& schedule, Rank group) {
  std::map<std::pair<Rank, Rank>, int> messages;
  for (const Program& program : schedule.programs) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      const Rank from = program.rank() / group, to = op.peer / group;
      if (op.action == Action::send && from != to) ++messages[{from, to}];
    }
  }
  return messages;
}

TEST(NodePairs, sends_one_message_from_one_node_to_another) {
  const auto messages = between_groups(through_nodes(24, 6, nullptr), 6);
  EXPECT_EQ(messages.size(), 4u * 3u);
  for (const auto& [pair, number] : messages) EXPECT_EQ(number, 1) << pair.first << " to " << pair.second;
}

TEST(NodePairs, sends_none_between_nodes_without_an_edge) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Graph graph = random_graph(24, seed);
    std::set<std::pair<Rank, Rank>> edges;
    for (Rank from = 0; from < 24; ++from)
      for (const Rank to : graph[static_cast<std::size_t>(from)])
        if (from / 6 != to / 6) edges.insert({from / 6, to / 6});
    const auto messages = between_groups(through_nodes(24, 6, &graph), 6);
    EXPECT_EQ(messages.size(), edges.size()) << seed;
    for (const auto& [pair, number] : messages) {
      EXPECT_EQ(number, 1) << "seed " << seed;
      EXPECT_TRUE(edges.contains(pair)) << "seed " << seed;
    }
  }
}

// Its members take turns: 12 nodes away, no rank of a node of 4 sends more than a third of the messages.
TEST(NodePairs, shares_the_work_among_the_ranks_of_a_node) {
  const Schedule schedule = through_nodes(13 * 4, 4, nullptr);
  for (const Program& program : schedule.programs) {
    int away = 0;
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      away += op.action == Action::send && op.peer / 4 != program.rank() / 4 ? 1 : 0;
    }
    EXPECT_EQ(away, 3) << program.rank();
  }
}

}  // namespace
}  // namespace colltopo
