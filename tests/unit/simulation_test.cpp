// Simulation at scale against whole schedules and against closed formulas (De Sensi et al., Table 2).
#include <gmock/gmock.h>

#include "colltopo/algorithms.h"
#include "colltopo/cost.h"
#include "simulation/simulation.h"

namespace colltopo::simulation {
namespace {

struct Made {
  Subject subject;
  Schedule whole;
};

Subject subject_of(const char* name, Collective collective, const Topology& topology) {
  const Algorithm& algorithm = *algorithm_named(name);
  AlgorithmOptions options;
  options.dimensions = topology.arrangement();
  Shape shape{collective, topology.hosts(), 1, 0};
  shape.chunks = algorithm.chunks(shape, options);
  return {name, shape, [=, &algorithm](Rank rank) { return algorithm.program(shape, rank, options); }};
}

Made made(const char* name, Collective collective, const Topology& topology) {
  Subject subject = subject_of(name, collective, topology);
  AlgorithmOptions options;
  options.dimensions = topology.arrangement();
  Schedule whole = generate(*algorithm_named(name), subject.shape, options);
  return {std::move(subject), std::move(whole)};
}

struct Case {
  const char* algorithm;
  Collective collective;
  const char* network;
};

TEST(Simulation, by_symmetry_finds_what_all_programs_load) {
  for (const Case& one : std::vector<Case>{{"swing", Collective::allreduce, "torus:8x8"},
                                           {"swing", Collective::allreduce, "torus:16x4"},
                                           {"swing-latency", Collective::allreduce, "torus:8x8"},
                                           {"bucket", Collective::allreduce, "torus:4x6"},
                                           {"mirrored", Collective::allreduce, "torus:8x8"},
                                           {"hamiltonian", Collective::allreduce, "torus:8x8"},
                                           {"ring", Collective::allgather, "torus:6x6"},
                                           {"linear", Collective::alltoall, "torus:4x4x4"},
                                           {"recursive-doubling", Collective::allreduce, "hyperx:4x4"},
                                           {"swing", Collective::allreduce, "hammingmesh:2x2:4x4"},
                                           {"bruck", Collective::allgather, "torus:5x5"},
                                           {"tra", Collective::alltoall, "switch:9"},
                                           {"ring", Collective::allreduce, "fattree:4"},
                                           {"binomial", Collective::bcast, "torus:4x4"}}) {
    const Topology topology = topology_of(one.network);
    const Made both = made(one.algorithm, one.collective, topology);
    const Cost whole = cost_of(both.whole, topology);
    const std::vector<double> loads = link_loads(both.whole, topology);
    for (const bool symmetry : {true, false}) {
      SCOPED_TRACE(std::string(one.algorithm) + " on " + one.network);
      const Result result = simulate(both.subject, topology, symmetry);
      ASSERT_EQ(result.cost.steps.size(), whole.steps.size());
      for (std::size_t step = 0; step < whole.steps.size(); ++step) {
        EXPECT_EQ(result.cost.steps[step].messages, whole.steps[step].messages);
        EXPECT_EQ(result.cost.steps[step].most_messages_of_a_rank, whole.steps[step].most_messages_of_a_rank);
        EXPECT_EQ(result.cost.steps[step].most_messages_on_a_link, whole.steps[step].most_messages_on_a_link);
        EXPECT_DOUBLE_EQ(result.cost.steps[step].longest_latency_s, whole.steps[step].longest_latency_s);
        EXPECT_NEAR(result.cost.steps[step].busiest_link_s_per_byte, whole.steps[step].busiest_link_s_per_byte, 1e-18);
      }
      ASSERT_EQ(result.loads.size(), loads.size());
      for (std::size_t link = 0; link < loads.size(); ++link) EXPECT_NEAR(result.loads[link], loads[link], 1e-12);
    }
  }
}

TEST(Simulation, reads_few_programs_where_ranks_are_alike) {
  const Topology topology = topology_of("torus:16x16");
  const Result result = simulate(subject_of("swing", Collective::allreduce, topology), topology, true);
  EXPECT_EQ(result.read * result.alike, 256);
  EXPECT_LE(result.read, 16);
  EXPECT_GT(result.compared, 0);
}

// Bandwidth deficiency of Table 2: the time of the links over that of an allreduce at full bandwidth, 2 n / (2 D B).
double deficiency(const char* algorithm, const char* network) {
  const Topology topology = topology_of(network);
  const Result result = simulate(subject_of(algorithm, Collective::allreduce, topology), topology, true);
  double seconds_per_byte = 0;
  for (const StepCost& step : result.cost.steps) seconds_per_byte += step.busiest_link_s_per_byte;
  const double ports = 2.0 * static_cast<double>(topology.sides().size());
  return seconds_per_byte * topology.link(0).bandwidth * ports / 2;
}

TEST(Simulation, meets_table_2_of_the_swing_paper) {
  // Swing on two dimensions: 1.19 in the limit, on three 1.03, on four 1.008; bucket and rings 1.
  EXPECT_NEAR(deficiency("swing", "torus:64x64"), 1.19, 0.01);
  EXPECT_NEAR(deficiency("swing", "torus:8x8x8"), 1.03, 0.015);
  EXPECT_NEAR(deficiency("swing", "torus:8x8x8x8"), 1.008, 0.01);
  EXPECT_NEAR(deficiency("bucket", "torus:16x16"), 1, 0.01);
  EXPECT_NEAR(deficiency("hamiltonian", "torus:16x16"), 1, 0.01);
}

TEST(FairShares, are_max_min) {
  // Two flows share a link of 1 B/s; one goes on over a link of 0.25 B/s, so the other has 0.75.
  TopologyBuilder builder("line", 3);
  builder.link(0, 1, 1, 0).link(1, 2, 0.25, 0).link(2, 0, 1, 0);
  const Topology topology = std::move(builder).build();
  EXPECT_DOUBLE_EQ(fair_seconds({{{0, 1}, 1.0}, {{0}, 1.5}}, topology), 4);
  EXPECT_NEAR(fair_seconds({{{0, 1}, 1.0}, {{0}, 6}}, topology), 7, 1e-12);  // 3 of 6 in 4 s, then alone
  EXPECT_DOUBLE_EQ(fair_seconds({}, topology), 0);
}

TEST(FairShares, take_as_long_as_the_busiest_link) {
  const Topology topology = topology_of("torus:4x4");
  for (const char* const name : {"swing", "bucket", "recursive-doubling"}) {
    const Made both = made(name, Collective::allreduce, topology);
    EXPECT_NEAR(fair_seconds(both.whole, topology, 1 << 20), model_seconds(cost_of(both.whole, topology), 1 << 20, 0),
                1e-9)
        << name;
  }
}

}  // namespace
}  // namespace colltopo::simulation
