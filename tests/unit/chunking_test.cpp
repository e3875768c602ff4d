// Shares to whole chunks.
#include <gmock/gmock.h>

#include "colltopo/chunking.h"
#include "colltopo/error.h"
#include "networks.h"

namespace colltopo {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Two cables from 0 to 1: links 0 and 2 go there, 1 and 3 back.
Topology two_cables() {
  TopologyBuilder builder("two cables", 2);
  builder.cable(0, 1).cable(0, 1);
  return std::move(builder).build();
}

Routing over_two_cables(double first_share) {
  Routing routing(2);
  routing.add(0, 1, first_share, std::vector<LinkId>{0});
  routing.add(0, 1, 1 - first_share, std::vector<LinkId>{2});
  routing.add(1, 0, 0.5, std::vector<LinkId>{1});
  routing.add(1, 0, 0.5, std::vector<LinkId>{3});
  return routing;
}

TEST(CommonChunks, are_the_lowest_common_denominator) {
  EXPECT_EQ(common_chunks(std::vector<double>{1}, 1), 1);
  EXPECT_EQ(common_chunks(std::vector<double>{0.5, 0.5}, 64), 2);
  EXPECT_EQ(common_chunks(std::vector<double>{1.0 / 3, 2.0 / 3, 0.25, 0.75}, 64), 12);
  EXPECT_EQ(common_chunks(std::vector<double>{1.0 / 7 + 1e-9, 6.0 / 7 - 1e-9}, 64), 7);
}

TEST(CommonChunks, are_none_where_they_would_be_too_many) {
  EXPECT_EQ(common_chunks(std::vector<double>{1.0 / 3, 2.0 / 3, 0.25, 0.75}, 11), 0);
  EXPECT_EQ(common_chunks(std::vector<double>{0.7071, 0.2929}, 64), 0);
}

TEST(Chunked, weights_with_a_common_factor_lose_nothing) {
  const Topology cables = two_cables();
  const Chunked result = chunked(cables, over_two_cables(2.0 / 3));
  EXPECT_EQ(result.chunks, 6);
  EXPECT_NEAR(result.time, 2.0 / 3, 1e-12);
  EXPECT_NEAR(result.loss(), 0, 1e-12);
  EXPECT_NEAR(result.routing.path(0).weight, 4.0 / 6, 1e-12);
}

TEST(Chunked, too_few_chunks_cost_what_is_said) {
  const Chunked result = chunked(two_cables(), over_two_cables(0.6), 2);
  EXPECT_EQ(result.chunks, 2);
  EXPECT_NEAR(result.time_before, 0.6, 1e-12);
  EXPECT_NEAR(result.time, 0.5, 1e-12);  // even better than the shares that were given
  const Chunked whole = chunked(two_cables(), over_two_cables(0.6), 1);
  EXPECT_EQ(whole.chunks, 1);
  EXPECT_NEAR(whole.loss(), 1 / 0.6 - 1, 1e-12);
  EXPECT_EQ(whole.routing.paths(), 2U);  // paths of no chunks are gone
}

TEST(Chunked, paths_that_a_solver_left_almost_empty_are_gone) {
  const Chunked result = chunked(two_cables(), over_two_cables(1e-10));
  EXPECT_EQ(result.chunks, 2);
  EXPECT_EQ(result.routing.paths(), 3U);
}

// Every pair of a complete bipartite network is halfway between two equal paths: rounded alone, each would take the
// first, and its links would carry everything.
TEST(Chunked, halves_rounded_to_one_chunk_are_spread_over_the_links) {
  TopologyBuilder builder("two ways", 8, 2);
  for (NodeId host = 0; host < 8; ++host)
    for (const NodeId node : {8, 9}) builder.cable(host, node);
  const Topology topology = std::move(builder).build();
  Routing routing(8);
  for (NodeId s = 0; s < 8; ++s)
    for (NodeId t = 0; t < 8; ++t)
      for (const LinkId way : {0, 1})
        if (s != t) routing.add(s, t, 0.5, std::vector<LinkId>{4 * s + 2 * way, 4 * t + 2 * way + 1});
  const Chunked result = chunked(topology, routing, 1);
  EXPECT_EQ(routing_fault(topology, result.routing), "");
  EXPECT_NEAR(result.time_before, 3.5, 1e-12);
  EXPECT_NEAR(result.time, 4, 1e-12);  // 7 whole shards over 2 links
}

TEST(Chunked, random_routings_keep_their_pairs_and_lose_little) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const Topology topology = random_network(seed, 4 + static_cast<NodeId>(seed % 9), static_cast<NodeId>(seed % 3));
    const Routing routing = random_routing(topology, seed, 3);
    const Chunked result = chunked(topology, routing, 16);
    EXPECT_EQ(routing_fault(topology, result.routing), "") << topology.name();
    EXPECT_NEAR(result.time_before, all_to_all_time(topology, link_loads(topology, routing)), 1e-9);
    EXPECT_NEAR(result.time, all_to_all_time(topology, link_loads(topology, result.routing)), 1e-9);
    EXPECT_LE(result.loss(), 0.02) << topology.name();
    EXPECT_LE(result.chunks, 16);
    for (std::size_t i = 0; i < result.routing.paths(); ++i) {
      const double chunks = result.routing.path(i).weight * result.chunks;
      EXPECT_NEAR(chunks, std::round(chunks), 1e-9);
      EXPECT_GE(chunks, 0.5);
    }
  }
}

// Pair 1 has ten times as much as pair 0 and they share a link: what pair 0 rounds to hardly matters.
TEST(WholeChunks, of_demands_weigh_what_a_pair_has) {
  const std::vector<std::int32_t> a{0}, b{1}, c{2};
  Shares shares;
  shares.capacity = {1, 1, 1};
  shares.demand = {1, 10};
  shares.weights = {0.5, 0.5};
  shares.resources = {a, b, b, c};
  shares.end_pair();
  shares.weights.insert(shares.weights.end(), {0.45, 0.55});
  shares.end_pair();
  const ChunkCounts two = whole_chunks(shares, 2, true);
  EXPECT_NEAR(two.time_before, 5.5, 1e-12);
  EXPECT_EQ(two.counts, (std::vector<Chunk>{2, 0, 1, 1}));  // 5, where pair 0 keeps away from pair 1
  EXPECT_NEAR(two.time, 5, 1e-12);
  const ChunkCounts one = whole_chunks(shares, 1, true);
  EXPECT_NEAR(one.time, 10, 1e-12);
  EXPECT_EQ(one.counts[0], 1) << "nothing of pair 0 where pair 1 may be";
}

TEST(WholeChunks, of_steps_count_the_busiest_of_each) {
  // One pair, two paths over two steps: (0 then 2) and (1 then 3), with links of unequal speed in the second step.
  const std::vector<std::int32_t> first{0, 2}, second{1, 3};
  Shares shares;
  shares.capacity = {1, 1, 1, 3};
  shares.step = {0, 0, 1, 1};
  shares.weights = {0.45, 0.55};
  shares.resources = {first, second};
  shares.end_pair();
  const ChunkCounts counts = whole_chunks(shares, 4);
  EXPECT_NEAR(counts.time_before, 0.55 + 0.45, 1e-12);
  EXPECT_EQ(counts.counts[0] + counts.counts[1], counts.chunks);
  EXPECT_NEAR(counts.time, 1, 1e-12);
  EXPECT_EQ(counts.chunks, 2);
}

TEST(WholeChunks, exactly_as_many_as_asked_for) {
  const std::vector<std::int32_t> resource{0};
  Shares shares;
  shares.capacity = {1};
  shares.weights = {1};
  shares.resources = {resource};
  shares.end_pair();
  EXPECT_EQ(whole_chunks(shares, 5, true).counts, std::vector<Chunk>{5});
  EXPECT_EQ(whole_chunks(shares, 5).chunks, 1);
}

TEST(WholeChunks, refuse_shares_that_are_not_whole) {
  Routing routing(2);
  routing.add(0, 1, 0.5, std::vector<LinkId>{0});
  EXPECT_THAT([&] { chunked(two_cables(), routing); }, ThrowsMessage<Error>(HasSubstr("pair 0 sum to 0.5")));
  EXPECT_THAT([&] { chunked(two_cables(), over_two_cables(0.5), 0); },
              ThrowsMessage<Error>(HasSubstr("at most 0 chunks")));
}

}  // namespace
}  // namespace colltopo
