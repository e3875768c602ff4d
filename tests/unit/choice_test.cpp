// What auto chooses, and why.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "colltopo/choice.h"

namespace colltopo {
namespace {

using testing::HasSubstr;

Placement on_nodes(Rank ranks, Rank per_node) {
  Placement placement;
  for (Rank r = 0; r < ranks; ++r) placement.node_of.push_back(r / per_node);
  return placement;
}

Candidate named(const std::vector<Candidate>& all, std::string_view name) {
  for (const Candidate& candidate : all) {
    if (candidate.name.starts_with(name)) return candidate;
  }
  ADD_FAILURE() << name << " is not a candidate";
  return {};
}

TEST(Choice, small_blocks_between_many_nodes_go_by_tra2) {
  Chooser chooser(64, on_nodes(64, 16), {}, {});
  const Candidate chosen = chooser.choose({Collective::alltoall, 0, 64, true, true});
  EXPECT_THAT(chosen.name, HasSubstr("tra2"));
}

TEST(Choice, the_radix_grows_with_the_block) {
  Chooser chooser(256, on_nodes(256, 1), {}, {});
  int last = 0;
  for (const std::size_t bytes : {8u, 1024u, 16384u, 1u << 20}) {
    int best = 0;
    double seconds = 1e9;
    for (const Candidate& c : chooser.candidates({Collective::alltoall, 0, bytes, true, true})) {
      if (c.algorithm != nullptr && c.algorithm->name == "tra" && c.seconds < seconds)
        best = c.options.radix, seconds = c.seconds;
    }
    EXPECT_GE(best, last) << bytes;
    last = best;
  }
  EXPECT_GT(last, 8);
}

TEST(Choice, the_previous_component_stays_unless_it_is_beaten_clearly) {
  Chooser chooser(4, on_nodes(4, 4), {}, {});
  const Candidate chosen = chooser.choose({Collective::bcast, 0, 8, true, true});
  EXPECT_EQ(chosen.algorithm, nullptr);
  EXPECT_THAT(chosen.name, HasSubstr("fallback"));
}

TEST(Choice, orders_that_show_are_excluded) {
  Chooser chooser(8, on_nodes(8, 1), {}, {});
  const auto floats = chooser.candidates({Collective::allreduce, 0, 8, true, false});
  EXPECT_THAT(named(floats, "swing-latency").excluded, HasSubstr("floating point"));
  const auto ordered = chooser.candidates({Collective::allreduce, 0, 8, false, false});
  EXPECT_THAT(named(ordered, "ring").excluded, HasSubstr("order of ranks"));
  EXPECT_EQ(named(ordered, "recursive-doubling").excluded, "");
  EXPECT_EQ(ordered.front().excluded, "");
  EXPECT_NE(ordered.back().excluded, "");
}

TEST(Choice, swing_beats_recursive_halving_on_a_torus) {
  Placement placement = on_nodes(64, 1);
  placement.dimensions = {8, 8};
  AlgorithmOptions options;
  options.dimensions = {8, 8};
  Machine machine;
  machine.bandwidth_network = 1e9;  // slower than memory, so that links and not packing decide
  Chooser chooser(64, placement, machine, options);
  const auto all = chooser.candidates({Collective::allreduce, 0, 1 << 20, true, true});
  EXPECT_LT(named(all, "swing").seconds, named(all, "recursive-halving").seconds);
}

TEST(Choice, equal_facts_give_equal_decisions) {
  for (const std::size_t bytes : {1u, 100u, 10000u, 1000000u}) {
    Chooser a(24, on_nodes(24, 4), {}, {}), b(24, on_nodes(24, 4), {}, {});
    for (int c = 0; c < k_collectives; ++c) {
      const Request request{static_cast<Collective>(c), 0, bytes, true, true};
      EXPECT_EQ(a.choose(request).name, b.choose(request).name);
    }
  }
}

}  // namespace
}  // namespace colltopo
