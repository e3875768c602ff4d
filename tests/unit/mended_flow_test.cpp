// After something breaks: the old routing and the lengths that proved it lead to a proved one in far less work.
#include <numeric>

#include <gmock/gmock.h>

#include "colltopo/chunking.h"
#include "colltopo/synthesis.h"
#include "team_of_threads.h"

namespace colltopo {
namespace {

Synthesis mcf(const Topology& topology, const SynthesisOptions& options) {
  return routing_method_named("mcf")->make(topology, options);
}

std::uint64_t trees(const Synthesis& synthesis) {
  return std::accumulate(synthesis.trees.begin(), synthesis.trees.end(), std::uint64_t{0});
}

/// A network, its routing in chunks as a schedule holds it, and the lengths that prove it, all on what is left of it.
struct Broken {
  explicit Broken(const std::string& whole, const std::string& links)
      : before(topology_of(whole)), after(topology_of(whole + "/drop-links:" + links)) {
    options.threads = 1;
    const Synthesis old = mcf(before, options);
    start = carried_over(before, chunked(before, old.routing).routing, after);
    lengths = carried_over(before, old.bound.lengths, after);
    cold = mcf(after, options);
    options.start = &start;
  }

  Topology before, after;
  SynthesisOptions options;
  Routing start;
  std::vector<double> lengths;
  Synthesis cold;  // from nothing
};

/// What it claims is so.
void expect_proved(const Broken& broken, const Synthesis& synthesis) {
  const Topology& topology = broken.after;
  EXPECT_LE(synthesis.bound.gap(), broken.options.gap);
  EXPECT_EQ(routing_fault(topology, synthesis.routing), "");
  EXPECT_NEAR(all_to_all_time(topology, link_loads(topology, synthesis.routing)), synthesis.bound.time,
              1e-12 * synthesis.bound.time);
  EXPECT_NEAR(time_lower_bound(topology, synthesis.bound.lengths), synthesis.bound.time_lower,
              1e-9 * synthesis.bound.time_lower);
  EXPECT_LE(synthesis.bound.time_lower, broken.cold.bound.time);
}

/// By the lengths that proved the old flow, with this part of the trees that a new flow needs at most.
Synthesis expect_mended(Broken& broken, double part) {
  broken.options.start_lengths = broken.lengths;
  Synthesis warm = mcf(broken.after, broken.options);
  expect_proved(broken, warm);
  EXPECT_LE(static_cast<double>(trees(warm)), static_cast<double>(trees(broken.cold)) * part);
  return warm;
}

TEST(MendedFlow, grows_a_part_of_the_trees_that_a_new_flow_needs) {
  for (const char* const links : {"1:1", "3:1"}) {
    Broken broken("kautz:200:4", links);
    expect_mended(broken, 4.0 / 5);
  }
}

TEST(MendedFlow, proves_what_a_torus_loses_with_links_of_its_narrowest_cuts) {
  // Three links lie on three cuts, which the busiest links draw together.
  for (const char* const links : {"1:1", "3:1"}) {
    Broken broken("torus:12x12", links);
    const Synthesis warm = expect_mended(broken, 9.0 / 10);  // from nothing a cut ends the rounds as well
    // Half of the hosts send to the other half over 23 links where there were 24.
    EXPECT_GE(warm.bound.time, 72.0 * 72 / 23 * (1 - 1e-9));
    EXPECT_GT(warm.bound.time_lower, time_lower_bound(broken.after, broken.lengths) * 1.001);
  }
}

TEST(MendedFlow, does_without_the_lengths_where_links_are_equally_busy) {
  Broken broken("jellyfish:200:4", "1:1");
  expect_proved(broken, mcf(broken.after, broken.options));
}

TEST(MendedFlow, gives_way_to_sweeps_over_everything_where_the_lengths_prove_little) {
  Broken broken("kautz:100:4", "1:1");
  std::vector<double> lengths(broken.after.links().size(), 0);
  lengths.front() = 1;
  broken.options.start_lengths = lengths;
  expect_proved(broken, mcf(broken.after, broken.options));
}

TEST(MendedFlow, proves_the_same_on_all_members_of_a_team) {
  Broken broken("kautz:100:4", "1:1");
  broken.options.start_lengths = broken.lengths;
  std::vector<Synthesis> made(3);
  TeamOfThreads(3).run([&](Team& member) {
    SynthesisOptions own = broken.options;
    own.team = &member;
    made[static_cast<std::size_t>(member.rank())] = mcf(broken.after, own);
  });
  expect_proved(broken, made.front());
  for (const Synthesis& one : made) {
    EXPECT_EQ(one.bound.time_lower, made.front().bound.time_lower);
    EXPECT_EQ(one.trees, made.front().trees);
  }
}

TEST(CarriedOver, lengths_go_with_their_links) {
  TopologyBuilder builder("before", 3), rebuilt("after", 3);
  builder.link(0, 1).link(1, 2).link(2, 0);
  rebuilt.link(2, 0).link(0, 2).link(0, 1);
  const Topology before = std::move(builder).build(), after = std::move(rebuilt).build();
  const std::vector<double> lengths{1, 2, 3};
  std::vector<double> expected;
  for (const Link& link : after.links()) expected.push_back(link.tail == 2 ? 3 : link.head == 1 ? 1 : 0);
  EXPECT_EQ(carried_over(before, lengths, after), expected);
}

}  // namespace
}  // namespace colltopo
