// Calls whose blocks have sizes of their own, by every algorithm that serves them and by schedule files: values and
// gaps as computed by hand, and no message whose ends differ in its length.
#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <thread>

#include "colltopo/algorithms.h"
#include "colltopo/chunking.h"
#include "colltopo/forest.h"
#include "colltopo/rings.h"
#include "colltopo/routed.h"
#include "colltopo/synthesis.h"
#include "colltopo/text.h"
#include "colltopo/uneven.h"
#include "colltopo/verify.h"
#include "ranks.h"
#include "uneven.h"
#include "uneven_operation.h"

namespace colltopo {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr int k_sizes[] = {2, 3, 4, 5, 7, 8, 13, 16};

std::vector<std::string> rows_that_serve(Collective call) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms())
    if (serves(algorithm, call)) names.emplace_back(algorithm.name);
  return names;
}

/// Each rank draws the places of its blocks by itself, and all draw the same traffic.
std::mt19937 own_random(int rank, unsigned seed) { return std::mt19937(seed * 100 + static_cast<unsigned>(rank)); }

using Function = int (*)(colltopo_comm*, const colltopo_call*);

void expect_alltoallv(int ranks, const std::string& call, Function function, const std::string& algorithm) {
  Ranks all(ranks);
  all.run([&](int rank, colltopo_comm* comm) {
    ASSERT_EQ(colltopo_comm_set(comm, (call + "_algorithm").c_str(), algorithm.c_str()), COLLTOPO_SUCCESS)
        << colltopo_last_error();
    unsigned seed = 0;
    for (const Pattern pattern : k_patterns) {
      for (int again = 0; again < 2; ++again) {
        std::mt19937 random = own_random(rank, ++seed);
        Exchange exchange(traffic(ranks, pattern, seed), rank, random);
        ASSERT_EQ(exchange.run(comm, function), COLLTOPO_SUCCESS) << algorithm << " seed " << seed;
        ASSERT_TRUE(exchange.is_right()) << algorithm << " rank " << rank << " of " << ranks << " seed " << seed;
      }
    }
  });
  // Rounds tell their lengths, and their receivers have room for more.
  const Algorithm* const row = algorithm_named(algorithm.substr(0, algorithm.find(':')));
  if (row != nullptr && row->aggregates) return;
  EXPECT_EQ(all.unequal_lengths(), 0) << algorithm;
}

void expect_allgatherv(int ranks, const std::string& algorithm) {
  Ranks all(ranks);
  all.run([&](int rank, colltopo_comm* comm) {
    ASSERT_EQ(colltopo_comm_set(comm, "allgatherv_algorithm", algorithm.c_str()), COLLTOPO_SUCCESS)
        << colltopo_last_error();
    unsigned seed = 0;
    for (const Pattern pattern : k_patterns) {
      for (const bool in_place : {false, true}) {
        // Displacements are each rank's own, counts are not.
        std::mt19937 random = own_random(rank, ++seed);
        Gathering gathering(traffic(ranks, pattern, seed), rank, in_place, random);
        ASSERT_EQ(gathering.run(comm), COLLTOPO_SUCCESS) << algorithm << " seed " << seed;
        ASSERT_TRUE(gathering.is_right())
            << algorithm << " rank " << rank << " of " << ranks << " seed " << seed << (in_place ? " in place" : "");
      }
    }
  });
  EXPECT_EQ(all.unequal_lengths(), 0) << algorithm;
}

TEST(Uneven, allgatherv_gives_right_values_by_every_row_of_allgather) {
  const std::vector<std::string> names = rows_that_serve(Collective::allgatherv);
  EXPECT_THAT(names, testing::IsSupersetOf({"ring", "bruck", "swing", "recursive-doubling"}));
  for (const int ranks : k_sizes) {
    for (const std::string& algorithm : names) {
      if (algorithm_named(algorithm)->refusal({Collective::allgather, ranks, 1, 0}, {}).empty())
        expect_allgatherv(ranks, algorithm);
    }
  }
}

TEST(Uneven, alltoallv_and_alltoallw_give_right_values_by_every_row_that_serves_them) {
  const std::pair<Collective, Function> calls[] = {{Collective::alltoallv, colltopo_alltoallv},
                                                   {Collective::alltoallw, colltopo_alltoallw}};
  for (const auto& [collective, function] : calls) {
    const std::vector<std::string> names = rows_that_serve(collective);
    EXPECT_THAT(names, testing::ElementsAre("tra", "tra2", "linear", "pairwise", "node-pairs"));
    for (const int ranks : k_sizes)
      for (const std::string& algorithm : names)
        expect_alltoallv(ranks, std::string(name(collective)), function, algorithm);
  }
}

/// Rank j gives, or gets, traffic[j][0].
void gather_and_scatter(int rank, int root, bool in_place, const Traffic& all, colltopo_comm* comm,
                        std::mt19937& random) {
  const bool is_root = rank == root, held = in_place && is_root;
  const auto own = static_cast<std::size_t>(rank);
  TestBlocks blocks(Exchange::column(all, 0), random), filled = blocks;
  for (std::size_t peer = 0; peer < all.size(); ++peer) filled.fill(peer, static_cast<int>(peer), 0);
  std::vector<unsigned char> shard;
  for (std::size_t i = 0; i < blocks.bytes[own]; ++i) shard.push_back(TestBlocks::value(rank, 0, i));

  if (held) blocks.fill(own, rank, 0);
  colltopo_blocks sides = {nullptr, nullptr, is_root ? blocks.bytes.data() : nullptr,
                           is_root ? blocks.at.data() : nullptr};
  colltopo_call call{};
  call.input = held ? nullptr : shard.data();
  call.output = is_root ? blocks.memory.data() : nullptr;
  call.in_place = held ? 1 : 0;
  call.count = shard.size();
  call.blocks = &sides;
  call.element_size = 1;
  call.root = root;
  ASSERT_EQ(colltopo_gatherv(comm, &call), COLLTOPO_SUCCESS);
  if (is_root) {
    ASSERT_EQ(blocks.memory, filled.memory) << "root " << root;
  }

  const std::vector<unsigned char> sent = filled.memory;
  std::vector<unsigned char> received(shard.size(), 0);
  sides = {is_root ? filled.bytes.data() : nullptr, is_root ? filled.at.data() : nullptr, nullptr, nullptr};
  call.input = is_root ? filled.memory.data() : nullptr;
  call.output = held ? nullptr : received.data();
  ASSERT_EQ(colltopo_scatterv(comm, &call), COLLTOPO_SUCCESS);
  ASSERT_EQ(filled.memory, sent);
  if (!held) {
    ASSERT_EQ(received, shard) << "root " << root << " rank " << rank;
  }
}

TEST(Uneven, gatherv_and_scatterv_give_right_values_from_any_root_and_in_place) {
  EXPECT_THAT(rows_that_serve(Collective::gatherv), testing::ElementsAre("linear"));
  EXPECT_THAT(rows_that_serve(Collective::scatterv), testing::ElementsAre("linear"));
  for (const int ranks : k_sizes) {
    Ranks all(ranks);
    all.run([&](int rank, colltopo_comm* comm) {
      ASSERT_EQ(colltopo_comm_set(comm, "gatherv_algorithm", "linear"), COLLTOPO_SUCCESS);
      ASSERT_EQ(colltopo_comm_set(comm, "scatterv_algorithm", "linear"), COLLTOPO_SUCCESS);
      unsigned seed = 0;
      for (const Pattern pattern : k_patterns) {
        for (int root = 0; root < ranks; root += 1 + root / 2) {
          std::mt19937 random = own_random(rank, ++seed);
          gather_and_scatter(rank, root, seed % 2 == 0, traffic(ranks, pattern, seed), comm, random);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    });
    EXPECT_EQ(all.unequal_lengths(), 0);
  }
}

std::string file_of(Schedule schedule, const std::string& name) {
  schedule.proof = proof_of(verify(schedule));
  const std::string path = testing::TempDir() + "uneven_" + name + ".sched";
  std::ofstream out(path);
  write_schedule(out, schedule);
  return "file:" + path;
}

TEST(Uneven, alltoallv_gives_right_values_by_routed_schedules_of_every_method) {
  for (const char* const spec : {"torus:2x3", "bipartite:2:3", "hypercube:3"}) {
    const Topology topology = topology_of(spec);
    for (const RoutingMethod& method : routing_methods()) {
      if (!method.refusal(topology, {}).empty()) continue;
      const Schedule schedule =
          routed_alltoall(std::string(method.name), topology, chunked(topology, method.make(topology, {}).routing, 12));
      expect_alltoallv(schedule.shape.ranks, "alltoallv", colltopo_alltoallv,
                       file_of(schedule, "alltoall_" + std::string(method.name)));
    }
  }
}

TEST(Uneven, allgatherv_gives_right_values_by_forests_and_rings) {
  for (const char* const spec : {"mesh:4", "torus:2x3", "kautz:7:2", "hypercube:3"}) {
    const Topology topology = topology_of(spec);
    const Schedule forest = forest_schedule(topology, pack_forest(topology, {.collective = Collective::allgather}));
    expect_allgatherv(forest.shape.ranks, file_of(forest, "forest"));
    if (std::string(spec) == "kautz:7:2") continue;  // one way
    const SpanningTree tree = spanning_tree(topology, TreeSearch::breadth_first);
    const Schedule ring = ring_schedule("lr1", Collective::allgather, topology, tree, lr1_order(topology, tree));
    expect_allgatherv(ring.shape.ranks, file_of(ring, "lr1"));
  }
}

// Pipelining cuts blocks once more.
TEST(Uneven, allgatherv_gives_right_values_in_segments) {
  Ranks all(5);
  all.run([&](int rank, colltopo_comm* comm) {
    ASSERT_EQ(colltopo_comm_set(comm, "allgatherv_algorithm", "ring"), COLLTOPO_SUCCESS);
    ASSERT_EQ(colltopo_comm_set(comm, "segment_bytes", "100"), COLLTOPO_SUCCESS);
    for (unsigned seed = 1; seed < 12; ++seed) {
      std::mt19937 random = own_random(rank, seed);
      Gathering gathering(traffic(5, k_patterns[seed % 6], seed), rank, seed % 2 == 0, random);
      ASSERT_EQ(gathering.run(comm), COLLTOPO_SUCCESS);
      ASSERT_TRUE(gathering.is_right()) << "rank " << rank << " seed " << seed;
    }
  });
  EXPECT_EQ(all.unequal_lengths(), 0);
}

TEST(Uneven, schedules_that_pass_blocks_on_are_declined_on_all_ranks_with_a_reason) {
  const Algorithm& tra = *algorithm_named("tra");
  const std::string file = file_of(generate(tra, {Collective::alltoall, 4, 1, 0}, {}), "tra");
  Ranks all(4);
  std::atomic<int> declined = 0;
  all.run([&](int rank, colltopo_comm* comm) {
    ASSERT_EQ(colltopo_comm_set(comm, "alltoallv_algorithm", file.c_str()), COLLTOPO_SUCCESS);
    std::mt19937 random = own_random(rank, 1);
    Exchange exchange(traffic(4, Pattern::any, 1), rank, random);
    if (exchange.run(comm, colltopo_alltoallv) == COLLTOPO_DECLINED) ++declined;
  });
  EXPECT_EQ(declined, 4);
  EXPECT_THAT(all.said, Contains(HasSubstr("passes shards on, whose sizes only their two ends know")));
}

// What a row says of itself is what its programs do.
TEST(Uneven, rows_serve_what_their_programs_can) {
  for (const int ranks : k_sizes) {
    for (const Algorithm& algorithm : algorithms()) {
      for (const CollectiveRow& call : calls()) {
        if (algorithm.aggregates || !uneven(call.collective) || !serves(algorithm, call.collective)) continue;
        const Shape shape{call.schedules, ranks, 1, 0};
        if (!algorithm.refusal(shape, {}).empty()) continue;
        const Schedule schedule = generate(algorithm, shape, {});
        for (const Program& program : schedule.programs)
          EXPECT_TRUE(serves(program, call.sizes)) << algorithm.name << " " << call.name << " on " << ranks;
      }
    }
  }
}

// Whatever part of the blocks goes by way of others, and by whatever rounds.
TEST(Uneven, aggregation_gives_right_values_with_any_limit_radix_and_groups) {
  for (const int ranks : {2, 3, 5, 8, 13}) {
    for (const char* const limit : {"0", "1", "100", "2000", "8K"}) {
      for (const char* const algorithm :
           {"tra:radix=2", "tra:radix=3", "tra:radix=16", "tra2:group=2", "tra2:group=3"}) {
        Ranks all(ranks);
        all.run([&](int rank, colltopo_comm* comm) {
          ASSERT_EQ(colltopo_comm_set(comm, "alltoallv_algorithm", algorithm), COLLTOPO_SUCCESS);
          ASSERT_EQ(colltopo_comm_set(comm, "aggregate_bytes", limit), COLLTOPO_SUCCESS);
          unsigned seed = 0;
          for (const Pattern pattern : k_patterns) {
            std::mt19937 random = own_random(rank, ++seed);
            Exchange exchange(traffic(ranks, pattern, seed), rank, random);
            ASSERT_EQ(exchange.run(comm, colltopo_alltoallv), COLLTOPO_SUCCESS);
            ASSERT_TRUE(exchange.is_right()) << algorithm << " up to " << limit << " rank " << rank << " seed " << seed;
          }
        });
      }
    }
  }
}

// A call of one ends with messages that the other may not meet.
TEST(Uneven, aggregated_calls_of_both_collectives_and_direct_ones_follow_each_other) {
  constexpr int ranks = 6;
  Ranks all(ranks);
  all.run([&](int rank, colltopo_comm* comm) {
    ASSERT_EQ(colltopo_comm_set(comm, "alltoallv_algorithm", "tra"), COLLTOPO_SUCCESS);
    ASSERT_EQ(colltopo_comm_set(comm, "alltoallw_algorithm", "tra2:group=2"), COLLTOPO_SUCCESS);
    for (unsigned seed = 1; seed <= 60; ++seed) {
      std::mt19937 random = own_random(rank, seed);
      Exchange exchange(traffic(ranks, k_patterns[seed % 6], seed), rank, random);
      ASSERT_EQ(exchange.run(comm, seed % 3 == 0 ? colltopo_alltoallw : colltopo_alltoallv), COLLTOPO_SUCCESS);
      ASSERT_TRUE(exchange.is_right()) << "rank " << rank << " seed " << seed;
    }
  });
}

TEST(Uneven, counts_that_change_in_every_call_hold_no_more_memory_than_a_few) {
  constexpr int ranks = 8;
  Ranks all(ranks);
  all.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "alltoallv_algorithm", "linear");
    colltopo_comm_set(comm, "allgatherv_algorithm", "ring");
    std::size_t before = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
      std::mt19937 random = own_random(rank, seed);
      Exchange exchange(traffic(ranks, Pattern::any, seed), rank, random);
      ASSERT_EQ(exchange.run(comm, colltopo_alltoallv), COLLTOPO_SUCCESS);
      ASSERT_TRUE(exchange.is_right());
      Gathering gathering(traffic(ranks, Pattern::any, seed), rank, false, random);
      ASSERT_EQ(gathering.run(comm), COLLTOPO_SUCCESS);
      ASSERT_TRUE(gathering.is_right());
      if (seed == 100) before = colltopo_comm_memory(comm);
    }
    EXPECT_LE(colltopo_comm_memory(comm), before + 4096);
  });
}

/// `far`: every other one has the tag that is four million away from the one before.
void run_operations(int rank, int ranks, int collective, colltopo_comm* comm, bool far) {
  std::vector<std::unique_ptr<UnevenOperation>> all;
  std::mt19937 order(static_cast<unsigned>(rank));
  const auto finish = [&] {
    for (std::size_t left = all.size(); left > 0;) {
      left = 0;
      std::vector<std::size_t> turn(all.size());
      std::iota(turn.begin(), turn.end(), std::size_t{0});
      std::shuffle(turn.begin(), turn.end(), order);
      for (const std::size_t i : turn) left += all[i]->progress() ? 0 : 1;
      std::this_thread::yield();
    }
    for (const auto& one : all) ASSERT_TRUE(one->is_right()) << "rank " << rank << " of " << ranks;
  };
  unsigned seed = 0;
  for (const Pattern pattern : k_patterns)
    for (int again = 0; again < 2; ++again) {
      std::mt19937 random = own_random(rank, ++seed);
      // The first tags are those whose rounds would come near the tags of blocking calls.
      const int number = static_cast<int>(seed);
      const int tag = far        ? (-100 - number / 2) ^ (number % 2 << 22)
                      : seed < 3 ? -(1 << 22) - 10 - number
                                 : -100 - number;
      all.push_back(std::make_unique<UnevenOperation>(comm, collective, traffic(ranks, pattern, (seed + 1) / 2), rank,
                                                      tag, random));
      all.back()->start();
    }
  finish();
  for (int again = 0; again < 3; ++again) {
    for (const auto& one : all) one->start_again();
    std::mt19937 random = own_random(rank, 99);
    Exchange between(traffic(ranks, Pattern::any, 99), rank, random);
    const colltopo_blocks blocks = {between.input.bytes.data(), between.input.at.data(), between.output.bytes.data(),
                                    between.output.at.data()};
    colltopo_call call{};
    call.input = between.input.memory.data();
    call.output = between.output.memory.data();
    call.blocks = &blocks;
    call.element_size = 1;
    ASSERT_EQ(colltopo_run(comm, collective, &call), COLLTOPO_SUCCESS);
    ASSERT_TRUE(between.is_right());
    finish();
  }
}

TEST(Uneven, operations_pass_blocks_on_many_at_once_and_again_and_beside_blocking_calls) {
  for (const int ranks : {2, 3, 5, 8}) {
    for (const char* const limit : {"0", "100", "8K"}) {
      for (const char* const algorithm : {"tra:radix=2", "tra2:group=2", "node-pairs:group=2"}) {
        for (const int collective : {COLLTOPO_ALLTOALLV, COLLTOPO_ALLTOALLW, COLLTOPO_NEIGHBORHOOD}) {
          Ranks all(ranks);
          const bool far = std::string_view(limit) == "100";
          if (far) all.other_tags = -std::numeric_limits<int>::max();
          all.run([&](int rank, colltopo_comm* comm) {
            for (const char* const call : {"alltoallv", "alltoallw", "neighborhood"})
              ASSERT_EQ(colltopo_comm_set(comm, (std::string(call) + "_algorithm").c_str(), algorithm),
                        COLLTOPO_SUCCESS);
            ASSERT_EQ(colltopo_comm_set(comm, "aggregate_bytes", limit), COLLTOPO_SUCCESS);
            run_operations(rank, ranks, collective, comm, far);
          });
        }
      }
    }
  }
}

}  // namespace
}  // namespace colltopo
