// Schedules that repeat under a group: for small networks of every family what a rank makes of a file is written out
// whole, proved by the ordinary verifier, run on numbers, and as heavy on every link as the proof of one orbit says.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "colltopo/error.h"
#include "colltopo/symmetric_alltoall.h"
#include "colltopo/text.h"
#include "colltopo/turns.h"
#include "colltopo/verify_symmetric.h"
#include "schedules.h"

namespace colltopo {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pointwise;
using testing::ThrowsMessage;

struct Case {
  const char* spec;
  std::int32_t orbits;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.spec; }

SymmetricSynthesis made(const Topology& topology, double gap = 0.01) {
  SynthesisOptions options;
  options.gap = gap;
  options.threads = 1;
  return symmetric_alltoall(topology, symmetry_of(topology), options, 16);
}

std::string text_of(const SymmetricSchedule& schedule) {
  std::ostringstream out;
  write_symmetric(out, schedule);
  return std::move(out).str();
}

SymmetricSchedule read_back(const std::string& text) {
  std::istringstream in(text);
  return read_symmetric(in, "made.sched");
}

class Families : public testing::TestWithParam<Case> {};

TEST_P(Families, what_ranks_make_of_one_orbit_is_the_schedule_that_the_verifier_proves) {
  const Topology topology = topology_of(GetParam().spec);
  SymmetricSynthesis synthesis = made(topology);
  SymmetricSchedule& symmetric = synthesis.schedule;
  EXPECT_EQ(symmetric.symmetry.orbits(), GetParam().orbits);
  EXPECT_EQ(symmetric.symmetry.fault(), "");
  const SymmetricVerdict verdict = verify_symmetric_on(symmetric, topology, Fabric::lossy);
  ASSERT_THAT(verdict.violations, IsEmpty()) << to_string(verdict.violations.front());
  EXPECT_LE(synthesis.bound.time, 1.0101 * synthesis.bound.time_lower);

  const Schedule whole = expanded(symmetric, topology);
  const Verdict ordinary = verify(whole);
  ASSERT_TRUE(ordinary.valid()) << to_string(ordinary.violations.front());
  EXPECT_EQ(proof_of(ordinary), proof_of_symmetric());
  EXPECT_THAT(verify_on(whole, topology, Fabric::lossy), IsEmpty());
  // The proof of orbits finds cycles exactly where that of links does.
  EXPECT_EQ(verify_symmetric_on(symmetric, topology).violations.empty(), verify_on(whole, topology).empty());
  EXPECT_THAT(link_loads(symmetric, topology), Pointwise(DoubleNear(1e-9), link_loads(whole, topology)));
  const Cost cost = cost_of(whole, topology);
  EXPECT_NEAR(cost.busiest_link_s_per_byte, verdict.busiest_link_s_per_byte, 1e-9 * cost.busiest_link_s_per_byte);
  EXPECT_EQ(cost.messages, verdict.routes);
  EXPECT_EQ(cost.steps.front().most_messages_on_a_link, verdict.most_messages_on_a_link);
  EXPECT_NEAR(cost.steps.front().longest_latency_s, verdict.longest_latency_s, 1e-15);
  double slowest = topology.links()[0].bandwidth;
  for (const Link& link : topology.links()) slowest = std::min(slowest, link.bandwidth);
  EXPECT_NEAR(cost.busiest_link_s_per_byte * slowest, synthesis.bound.time, 1e-9 * synthesis.bound.time);

  Trial trial;
  trial.count = 13;
  EXPECT_TRUE(runs_right(whole, trial));
  trial.count = 3;
  trial.segments = 2;
  trial.protocol = Protocol::eager;
  EXPECT_TRUE(runs_right(whole, trial));

  // A file says the same, and by its index a rank reads what the whole has for it.
  const std::string text = text_of(symmetric);
  EXPECT_EQ(read_back(text), symmetric);
  for (const Rank rank : {0, topology.hosts() / 2, topology.hosts() - 1}) {
    std::istringstream in(text);
    EXPECT_EQ(read_program(in, "made.sched", rank), whole.programs[static_cast<std::size_t>(rank)]);
  }
  EXPECT_EQ(sealed(text), text);
}

INSTANTIATE_TEST_SUITE_P(Small, Families,
                         testing::Values(Case{"ring:5", 1}, Case{"ring:8", 1}, Case{"torus:4x4", 1},
                                         Case{"torus:3x4x2", 1}, Case{"hypercube:4", 1}, Case{"twisted-hypercube:4", 4},
                                         Case{"complete:7", 1}, Case{"bipartite:4:4", 1}, Case{"kautz:20:4", 1},
                                         Case{"kautz:12:2", 2}, Case{"kautz:12:3", 1}, Case{"kautz:16:4", 16},
                                         Case{"slimfly:3", 2}, Case{"slimfly:4", 2}, Case{"slimfly:5", 2},
                                         Case{"circulant:15:1,4", 1}, Case{"circulant:12:3,6,4", 1},
                                         Case{"hyperx:3x4", 1}, Case{"hammingmesh:2x2:2x2", 1},
                                         Case{"dragonfly:4:2:2", 4}, Case{"fattree:4", 1}, Case{"switch:6", 1},
                                         Case{"dgx-a100:2", 1}, Case{"mi250:2:8", 8},
                                         Case{"torus:3x3/host-bandwidth:2", 1}, Case{"ring:4/ranks:2", 1}));

// The dihedral group of a triangle, its turn and a flip, on the six hosts of its Cayley graph: it does not commute.
Topology dihedral() {
  TopologyBuilder builder("dihedral", 6);
  for (const NodeId host : {0, 1, 2}) {
    builder.link(host, (host + 1) % 3);          // turned from the right
    builder.link(3 + (host + 1) % 3, 3 + host);  // the other way round behind the flip
    builder.link(host, 3 + host);
    builder.link(3 + host, host);
  }
  return std::move(builder).build();
}

TEST(Symmetric, groups_that_do_not_commute_are_served_as_well) {
  const Topology topology = dihedral();
  // The flip moves host x of the first triangle to -x of the second; the turn goes on in both.
  const Symmetry symmetry(6, {{2, {3, 5, 4, 0, 2, 1}}, {3, {1, 2, 0, 4, 5, 3}}}, {0});
  ASSERT_EQ(symmetry.fault(), "");
  const std::vector<std::int32_t> inverse = symmetry.inverses();
  for (std::int32_t element = 0; element < 6; ++element) {
    const std::vector<std::int32_t> moved = symmetry.moved_by(element);
    const std::vector<std::int32_t> product = symmetry.products(element);
    EXPECT_EQ(product[static_cast<std::size_t>(inverse[static_cast<std::size_t>(element)])], 0);
    for (std::int32_t m = 0; m < 6; ++m)
      EXPECT_EQ(symmetry.host(product[static_cast<std::size_t>(m)], 0),
                moved[static_cast<std::size_t>(symmetry.host(m, 0))]);
  }
  SynthesisOptions options;
  options.threads = 1;
  const SymmetricSchedule schedule = symmetric_alltoall(topology, symmetry, options, 8).schedule;
  EXPECT_THAT(verify_symmetric_on(schedule, topology, Fabric::lossy).violations, IsEmpty());
  const Schedule whole = expanded(schedule, topology);
  EXPECT_THAT(whole, Verifies());
  EXPECT_THAT(verify_on(whole, topology, Fabric::lossy), IsEmpty());
  EXPECT_TRUE(runs_right(whole, Trial{}));
  EXPECT_EQ(read_back(text_of(schedule)), schedule);
}

TEST(Symmetric, generators_that_are_no_automorphisms_are_refused) {
  SymmetricSchedule schedule = made(topology_of("torus:4x4")).schedule;
  const Topology mesh = topology_of("mesh:4x4");
  schedule.topology.clear();
  const auto violations = verify_symmetric_on(schedule, mesh, Fabric::lossy).violations;
  ASSERT_FALSE(violations.empty());
  // A ring of 16 instead of the torus: a group that acts freely, but not on this network.
  schedule.symmetry = Symmetry(16, {turn(16, 1, 16)}, {0});
  EXPECT_THAT(verify_symmetric(schedule), IsEmpty());
  const auto torus = verify_symmetric_on(schedule, topology_of("torus:4x4"), Fabric::lossy).violations;
  ASSERT_FALSE(torus.empty());
  EXPECT_THAT(to_string(torus.front()), HasSubstr("generator 0 is no automorphism of torus:4x4: link"));
}

TEST(Symmetric, permutations_that_are_no_group_are_refused) {
  // Each host is reached once, but the second does not keep to the group of the first.
  SymmetricSchedule schedule = made(topology_of("complete:6")).schedule;
  schedule.symmetry = Symmetry(6, {{2, {3, 4, 5, 1, 0, 2}}, {3, {1, 2, 0, 4, 5, 3}}}, {0});
  const auto violations = verify_symmetric(schedule);
  ASSERT_FALSE(violations.empty());
  EXPECT_THAT(to_string(violations.front()), HasSubstr("its symmetries are not a group: generator 0"));
  EXPECT_THAT(
      [] {
        Symmetry(6, {{2, {1, 0, 2, 3, 4, 5}}}, {0, 2, 4});
      },
      ThrowsMessage<Error>(HasSubstr("host 2 is reached from the representatives twice")));
  EXPECT_THAT([] { Symmetry(4, {{2, {1, 1, 3, 2}}}, {0, 2}); }, ThrowsMessage<Error>(HasSubstr("takes node 1 to 1")));
}

TEST(Symmetric, paths_and_targets_that_do_not_fit_are_refused) {
  const Topology topology = topology_of("torus:4x4");
  const SymmetricSchedule good = made(topology).schedule;
  const auto first_fault = [&](const SymmetricSchedule& schedule) {
    const auto violations = verify_symmetric_on(schedule, topology, Fabric::lossy).violations;
    return violations.empty() ? std::string() : to_string(violations.front());
  };
  SymmetricSchedule bad = good;
  bad.paths[0].nodes[2].link = (bad.paths[0].nodes[2].link + 7) % 64;
  EXPECT_NE(first_fault(bad), "");
  bad = good;
  bad.paths[0].nodes.back().link = 64;
  EXPECT_THAT(first_fault(bad), HasSubstr("the topology has links 0..63"));
  bad = good;
  bad.splits[0].back().lanes = {1, good.shape.chunks};
  EXPECT_THAT(first_fault(bad), HasSubstr("chunks, expected"));
  bad = good;
  bad.splits[0].pop_back();
  EXPECT_THAT(first_fault(bad), HasSubstr("targets end before"));
  bad = good;
  ++bad.shape.chunks;
  for (Split& split : bad.splits[0]) ++split.lanes.front();
  EXPECT_THAT(first_fault(bad), HasSubstr("its paths are for"));
}

TEST(Symmetric, every_altered_line_of_a_file_is_named) {
  const std::string text = text_of(made(topology_of("fattree:4")).schedule);
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  for (std::size_t altered = 0; altered < lines.size(); ++altered) {
    std::string damaged;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::string line = lines[i];
      if (i == altered) line[line.size() / 2] = line[line.size() / 2] == '1' ? '2' : '1';
      damaged += line + "\n";
    }
    if (damaged == text) continue;
    const std::string place = "made.sched:" + std::to_string(altered + 1) + ":";
    EXPECT_THAT([&] { read_back(damaged); }, ThrowsMessage<Error>(HasSubstr(place)));
    std::istringstream stream(damaged);
    bool refused = false;
    try {
      read_program(stream, "made.sched", 5);
    } catch (const Error&) {
      refused = true;
    }
    // A rank does not read paths; damage that leaves them where they are is for those who do.
    EXPECT_TRUE(refused || lines[altered].starts_with("from ") || lines[altered].starts_with("paths "));
  }
}

TEST(Symmetric, sealed_nonsense_is_refused_by_its_line) {
  const std::string text = text_of(made(topology_of("torus:4x4")).schedule);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return sealed(changed.replace(at, from.size(), to));
  };
  const auto refusal = [](const std::string& damaged) -> std::string {
    std::istringstream in(damaged);
    try {
      read_program(in, "made.sched", 3);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(with("turn 4 order 4", "turn 3 order 4")), HasSubstr("expected their product to divide 16"));
  EXPECT_THAT(refusal(with("turn 4 order 4", "turn 1 order 4")),
              HasSubstr("is reached from the representatives twice"));
  EXPECT_THAT(refusal(with("turn 4 order 4", "twist 4 order 4")), HasSubstr("expected \"move\""));
  EXPECT_THAT(refusal(with("representatives 0", "representatives 16")),
              HasSubstr("representative 16, expected a host"));
  EXPECT_THAT(refusal(with("to 1+", "to 2+")), HasSubstr("expected those from 1 on"));
  EXPECT_THAT(refusal(with("collective alltoall", "collective allgather")), HasSubstr("expected them of alltoall"));
  EXPECT_THAT(refusal(with("orbits 1", "orbits 3")), HasSubstr("expected a divisor of the 16 ranks"));
}

TEST(Symmetric, what_a_name_promises_is_proved_on_the_links) {
  EXPECT_EQ(symmetry_of(topology_of("slimfly:5")).elements(), 25);
  EXPECT_EQ(symmetry_of(topology_of("kautz:72:8")).elements(), 72);  // letters of a field of nine
  EXPECT_EQ(symmetry_of(topology_of("kautz:80:4")).elements(), 20);
  // Networks that are not what their names say: a cable less, another graph, parameters of no family.
  for (const char* spec : {"slimfly:5/drop-links:1:1", "kautz:20:4/drop-links:0-19"})
    EXPECT_EQ(symmetry_of(topology_of(spec)).elements(), 1) << spec;
  for (const char* name : {"slimfly:5", "kautz:50:4", "kautz:50:1", "kautz:50:0", "kautz", "slimfly:x", ""}) {
    TopologyBuilder builder(name, 50);
    for (NodeId host = 0; host < 50; ++host) builder.cable(host, (host + 1) % 50);
    EXPECT_EQ(symmetry_of(std::move(builder).build()).elements(), 50) << name;
    TopologyBuilder line(name, 50);
    for (NodeId host = 0; host < 49; ++host) line.cable(host, host + 1);
    EXPECT_EQ(symmetry_of(std::move(line).build()).elements(), 1) << name;
  }
}

TEST(Symmetric, networks_without_symmetry_have_the_identity) {
  const Symmetry symmetry = turns_of(topology_of("jellyfish:16:4"));
  EXPECT_EQ(symmetry.elements(), 1);
  EXPECT_EQ(symmetry.orbits(), 16);
}

}  // namespace
}  // namespace colltopo
