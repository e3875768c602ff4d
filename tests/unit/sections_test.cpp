// Proof and cost by section against those of the whole schedule.
#include <gmock/gmock.h>

#include <random>
#include <sstream>

#include "colltopo/algorithms.h"
#include "colltopo/error.h"
#include "colltopo/routed.h"
#include "colltopo/text.h"
#include "colltopo/verify_sections.h"
#include "networks.h"
#include "schedules.h"

namespace colltopo {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

SectionedSchedule routed(const Topology& topology, std::uint32_t seed, Chunk chunks = 5) {
  return routed_sections("routed", topology, chunked(topology, random_routing(topology, seed, 3), chunks, 0),
                         LayerMethod::lash);
}

TEST(Sections, are_those_of_the_schedule_lowered_whole) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const Topology topology = random_network(seed, 7, static_cast<NodeId>(seed % 3));
    const Chunked chunks = chunked(topology, random_routing(topology, seed, 3), 5, 0);
    const Schedule made = whole(routed_sections("routed", topology, chunks, LayerMethod::lash));
    EXPECT_THAT(made, Verifies());
    EXPECT_TRUE(verify_on(made, topology).empty());
    // Lanes are numbered otherwise, but the same chunks take the same links.
    EXPECT_EQ(link_loads(made, topology), link_loads(routed_alltoall("routed", topology, chunks), topology));
    EXPECT_TRUE(whole(sections_of(made)) == made);
  }
}

// More ranks than sections are made at once.
TEST(Sections, are_written_in_their_order_and_read_again) {
  const Topology topology = random_network(3, 72, 0);
  const SectionedSchedule sections = routed(topology, 3);
  std::ostringstream file;
  write_schedule(file, sections);
  std::istringstream in(file.str());
  EXPECT_TRUE(read_schedule(in, "file") == whole(sections));
  SectionedSchedule wrong = sections;
  wrong.program = [&](Rank rank) { return sections.program(rank == 70 || rank == 71 ? 0 : rank); };
  std::ostringstream nothing;
  EXPECT_THAT([&] { write_schedule(nothing, wrong); }, ThrowsMessage<Error>(HasSubstr("program 70 is of rank 0")));
}

TEST(Sections, cost_what_the_whole_costs) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const Topology topology = random_network(seed, 6, 2);
    const SectionedSchedule sections = routed(topology, seed);
    const Schedule schedule = whole(sections);
    const SectionsOn on = examine_on(sections, topology);
    ASSERT_TRUE(on.violations.empty());
    const Cost cost = cost_of(schedule, topology);
    EXPECT_EQ(on.cost.messages, cost.messages);
    EXPECT_EQ(on.cost.busiest_link, cost.busiest_link);
    EXPECT_DOUBLE_EQ(on.cost.busiest_link_s_per_byte, cost.busiest_link_s_per_byte);
    EXPECT_EQ(on.cost.neighbours_only, cost.neighbours_only);
    ASSERT_EQ(on.cost.steps.size(), cost.steps.size());
    for (std::size_t i = 0; i < cost.steps.size(); ++i) {
      EXPECT_EQ(on.cost.steps[i].step, cost.steps[i].step);
      EXPECT_EQ(on.cost.steps[i].messages, cost.steps[i].messages);
      EXPECT_EQ(on.cost.steps[i].most_messages_of_a_rank, cost.steps[i].most_messages_of_a_rank);
      EXPECT_EQ(on.cost.steps[i].most_messages_on_a_link, cost.steps[i].most_messages_on_a_link);
      EXPECT_DOUBLE_EQ(on.cost.steps[i].longest_latency_s, cost.steps[i].longest_latency_s);
    }
    EXPECT_EQ(on.routes, schedule.routes.size());
  }
}

TEST(Sections, without_routes_cost_what_the_whole_costs) {
  const Topology topology = topology_of("torus:3x3");
  const Schedule schedule = generate(*algorithm_named("tra"), {Collective::alltoall, 9, 1, 0}, {});
  const SectionsOn on = examine_on(sections_of(schedule), topology);
  const Cost cost = cost_of(schedule, topology);
  EXPECT_TRUE(on.violations.empty());
  EXPECT_EQ(on.cost.messages, cost.messages);
  EXPECT_EQ(on.cost.steps.size(), cost.steps.size());
  EXPECT_DOUBLE_EQ(on.cost.busiest_link_s_per_byte, cost.busiest_link_s_per_byte);
  EXPECT_EQ(on.cost.busiest_link, cost.busiest_link);
}

/// One op of one program changed, left out, doubled or moved.
Schedule damaged(const Schedule& schedule, std::mt19937& random) {
  Schedule result = schedule;
  const auto rank = static_cast<Rank>(random() % static_cast<std::size_t>(schedule.shape.ranks));
  const Program& program = schedule.programs[static_cast<std::size_t>(rank)];
  const std::size_t at = random() % program.size(), other = random() % program.size();
  const unsigned kind = static_cast<unsigned>(random() % 6);
  ProgramBuilder builder(schedule.shape, rank);
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (kind == 0 && i == at) continue;
    Op op = program.op(kind == 1 && i == at ? other : kind == 1 && i == other ? at : i);
    Runs source(op.source.begin(), op.source.end()), target(op.target.begin(), op.target.end());
    if (i == at) {
      if (kind == 2) op.lane += 1;
      if (kind == 3) op.step += 1;
      for (Runs* runs : {&source, &target})
        for (Run& run : *runs)
          if (kind == 4)
            run.first = (run.first + schedule.shape.chunks) % (schedule.shape.chunks * schedule.shape.ranks);
    }
    builder.add(op, source, target);
    if (kind == 5 && i == at) builder.add(op, source, target);
  }
  result.programs[static_cast<std::size_t>(rank)] = std::move(builder).build();
  return result;
}

// verify() of the whole asks the symbolic run for all that the direct proof does not find right.
TEST(Sections, a_damaged_one_is_wrong_exactly_where_the_whole_is) {
  std::mt19937 random(3);
  int wrong = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const Topology topology = random_network(seed % 9 + 1, static_cast<NodeId>(2 + seed % 5), 1);
    const Schedule broken = damaged(whole(routed(topology, seed)), random);
    const Verdict by_section = verify(sections_of(broken)), of_whole = verify(broken);
    EXPECT_EQ(by_section.valid(), of_whole.valid()) << seed;
    if (of_whole.valid()) {
      EXPECT_EQ(proof_of(by_section), proof_of(of_whole)) << seed;
    }
    wrong += of_whole.valid() ? 0 : 1;
  }
  EXPECT_GT(wrong, 100);
}

TEST(Sections, a_route_that_does_not_follow_links_is_named) {
  const Topology topology = topology_of("ring:4");
  Schedule schedule = whole(routed(topology, 1));
  schedule.routes[2].links.front() = schedule.routes.back().links.back();
  const SectionsOn on = examine_on(sections_of(schedule), topology);
  const std::vector<Violation> of_whole = verify_on(schedule, topology);
  ASSERT_FALSE(on.violations.empty());
  EXPECT_EQ(to_string(on.violations.front()), to_string(of_whole.front()));
}

TEST(Sections, a_cycle_in_a_layer_is_found) {
  const Topology topology = topology_of("ring:5");
  Schedule schedule = whole(routed(topology, 2));
  for (Route& route : schedule.routes) route.layer = 0;
  const bool cycle = !verify_on(schedule, topology).empty();
  EXPECT_EQ(!examine_on(sections_of(schedule), topology).violations.empty(), cycle);
  EXPECT_TRUE(examine_on(sections_of(schedule), topology, Fabric::lossy).violations.empty());
}

}  // namespace
}  // namespace colltopo
