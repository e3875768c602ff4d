// Planes, and the tables of a network that follow from them.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/forwarding.h"
#include "colltopo/routed.h"
#include "networks.h"
#include "schedules.h"

namespace colltopo {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

std::vector<std::span<const LinkId>> links_of(const std::vector<Route>& routes) {
  std::vector<std::span<const LinkId>> links;
  for (const Route& route : routes) links.emplace_back(route.links);
  return links;
}

std::int32_t most(const std::vector<std::int32_t>& planes) { return *std::ranges::max_element(planes) + 1; }

/// The fewest planes of routes to one host, by trying every assignment.
std::int32_t fewest_by_trying(const Topology& topology, const std::vector<std::vector<LinkId>>& routes) {
  const auto agree = [&](const std::vector<LinkId>& a, const std::vector<LinkId>& b) {
    for (const LinkId x : a)
      for (const LinkId y : b)
        if (x != y && topology.link(x).tail == topology.link(y).tail) return false;
    return true;
  };
  for (std::int32_t planes = 1;; ++planes) {
    std::vector<std::int32_t> plane_of(routes.size(), 0);
    const std::function<bool(std::size_t)> place = [&](std::size_t at) {
      if (at == routes.size()) return true;
      for (plane_of[at] = 0; plane_of[at] < planes; ++plane_of[at]) {
        bool fits = true;
        for (std::size_t i = 0; i < at && fits; ++i) fits = plane_of[i] != plane_of[at] || agree(routes[i], routes[at]);
        if (fits && place(at + 1)) return true;
      }
      return false;
    };
    if (place(0)) return planes;
  }
}

Schedule random_schedule(const Topology& topology, std::uint32_t seed, int paths) {
  return routed_alltoall("random", topology, chunked(topology, random_routing(topology, seed, paths), 8));
}

TEST(Planes, of_routes_to_one_host_are_as_few_as_trying_finds) {
  int beyond_the_bound = 0, more_than_needed = 0, cases = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const Topology topology = random_network(seed, 6);
    std::mt19937 random(seed);
    std::vector<std::vector<LinkId>> routes;
    for (NodeId source = 1; source < 6; ++source)
      for (int i = 0; i < 2; ++i) routes.push_back(random_path(topology, source, 0, random));
    const std::vector<std::span<const LinkId>> links(routes.begin(), routes.end());
    const std::int32_t fewest = fewest_by_trying(topology, routes);
    const std::int32_t found = most(planes_of(topology, RouteLinks(links)));
    EXPECT_LE(least_planes(topology, RouteLinks(links)), fewest);
    EXPECT_GE(found, fewest);
    EXPECT_LE(found, fewest + 1);
    beyond_the_bound += fewest > least_planes(topology, RouteLinks(links));
    more_than_needed += found > fewest;
    ++cases;
  }
  EXPECT_LE(more_than_needed, cases / 20);
  EXPECT_GT(beyond_the_bound, 0) << "the cases are too easy to tell anything";
}

TEST(Planes, are_trees_to_every_host_that_hold_all_routes) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const Topology topology = random_network(seed, 7, static_cast<NodeId>(seed % 4));
    const Schedule before = random_schedule(topology, seed, 3);
    const Schedule after = with_planes_as_lanes(before, topology);
    EXPECT_THAT(after, Verifies());
    EXPECT_THAT(verify_on(after, topology, Fabric::lossy), IsEmpty());
    EXPECT_EQ(link_loads(after, topology), link_loads(before, topology));
    const ForwardingTables tables = forwarding_tables(after, topology);
    EXPECT_THAT(tables.exceptions, IsEmpty());
    EXPECT_THAT(forwarding_faults(after, topology, tables), IsEmpty());
    EXPECT_EQ(tables.planes(), most(planes_of(topology, RouteLinks(links_of(before.routes)))));
  }
}

TEST(Planes, two_ways_between_two_hosts_need_two) {
  const Topology ring = topology_of("ring:4");
  Routing both_ways_round(4);
  std::mt19937 random(1);
  for (NodeId source = 0; source < 4; ++source)
    for (NodeId target = 0; target < 4; ++target)
      for (std::vector<LinkId> ways; source != target && ways.size() < 2;) {
        const std::vector<LinkId> path = random_path(ring, source, target, random);
        if (std::ranges::find(ways, path.front()) != ways.end()) continue;
        ways.push_back(path.front());
        both_ways_round.add(source, target, 0.5, path);
      }
  const Schedule schedule =
      with_planes_as_lanes(routed_alltoall("both ways", ring, chunked(ring, both_ways_round)), ring);
  EXPECT_EQ(planes_in(schedule.routes), 2);
  EXPECT_EQ(schedule.routes.size(), 24U);  // 12 pairs, both ways round
}

TEST(Planes, equal_routes_of_a_pair_become_one) {
  TopologyBuilder builder("pair", 2);
  builder.cable(0, 1);
  const Topology pair = std::move(builder).build();
  Schedule schedule;
  schedule.name = "twice";
  schedule.shape = {Collective::alltoall, 2, 2, 0};
  for (Rank rank = 0; rank < 2; ++rank) {
    ProgramBuilder program(schedule.shape, rank);
    const Rank peer = 1 - rank;
    program.copy({{Buffer::input, 2 * rank, 2}}, {{Buffer::output, 2 * rank, 2}}).step(1);
    for (Lane lane = 0; lane < 2; ++lane) {
      program.send({{Buffer::input, 2 * peer + lane, 1}}, peer, lane);
      program.recv({{Buffer::output, 2 * peer + lane, 1}}, peer, lane);
    }
    schedule.programs.push_back(std::move(program).build());
  }
  schedule.routes = {{0, 1, 0, 0, {0}}, {0, 1, 1, 0, {0}}, {1, 0, 0, 0, {1}}, {1, 0, 1, 0, {1}}};
  const Schedule after = with_planes_as_lanes(schedule, pair);
  EXPECT_EQ(after.routes.size(), 2U);
  EXPECT_THAT(after, Verifies());
  EXPECT_THAT(verify_on(after, pair), IsEmpty());
}

// Lanes numbered per pair share no planes: what does not fit needs rules, and the tables still do what routes say.
TEST(Forwarding, lanes_of_any_number_are_followed_with_exceptions) {
  std::size_t exceptions = 0;
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const Topology topology = random_network(seed, 8, static_cast<NodeId>(seed % 3));
    const Schedule schedule = random_schedule(topology, seed, 3);
    const ForwardingTables tables = forwarding_tables(schedule, topology);
    EXPECT_THAT(forwarding_faults(schedule, topology, tables), IsEmpty());
    exceptions += tables.exceptions.size();
  }
  EXPECT_GT(exceptions, 0U);
}

class Tampered : public testing::Test {
 protected:
  const Topology torus_ = topology_of("torus:3x3");
  const Schedule schedule_ = with_planes_as_lanes(random_schedule(torus_, 5, 2), torus_);
  ForwardingTables tables_ = forwarding_tables(schedule_, torus_);
  std::vector<std::string> faults() const { return forwarding_faults(schedule_, torus_, tables_); }
};

TEST_F(Tampered, a_wrong_link_is_named_with_the_lane_and_its_route) {
  const Route& route = schedule_.routes.front();
  for (const LinkId link : torus_.links_out(route.source))
    if (link != route.links.front()) tables_.set(route.lane, route.source, route.target, link);
  EXPECT_THAT(faults(), Contains(HasSubstr("lane " + std::to_string(route.lane) + " from 0 to 1: 0 sends it by")));
}

TEST_F(Tampered, a_loop_is_named) {
  const LinkId there = torus_.links_out(4).front();
  const NodeId next = torus_.link(there).head;
  for (const LinkId back : torus_.links_out(next))
    if (torus_.link(back).head == 4) tables_.set(0, next, 0, back);
  tables_.set(0, 4, 0, there);
  EXPECT_THAT(faults(), Contains(HasSubstr("goes round in a loop")));
}

TEST_F(Tampered, a_missing_entry_and_a_link_of_another_node_are_named) {
  tables_.set(1, 7, 2, -1);
  EXPECT_THAT(faults(), Contains(HasSubstr("plane 1: 7 has no link towards 2")));
  tables_.set(1, 7, 2, torus_.links_out(3).front());
  EXPECT_THAT(faults(), Contains(HasSubstr("which begins at 3")));
}

TEST_F(Tampered, json_tables_come_back_as_they_were) {
  Schedule foreign = random_schedule(torus_, 7, 3);
  for (const Schedule& schedule : {schedule_, foreign}) {
    const ForwardingTables tables = forwarding_tables(schedule, torus_);
    std::stringstream file;
    write_json_routes(file, schedule, torus_, tables);
    const ForwardingTables read = read_json_routes(file, "tables.json", schedule, torus_);
    EXPECT_THAT(forwarding_faults(schedule, torus_, read), IsEmpty());
    EXPECT_EQ(read.exceptions, tables.exceptions);
    for (std::int32_t plane = 0; plane < tables.planes(); ++plane)
      for (NodeId node = 0; node < torus_.nodes(); ++node)
        for (NodeId target = 0; target < torus_.hosts(); ++target)
          EXPECT_EQ(read.link(plane, node, target), tables.link(plane, node, target));
  }
}

TEST_F(Tampered, broken_json_is_refused_with_file_and_field) {
  const auto read = [&](std::string text) {
    std::istringstream in(text);
    read_json_routes(in, "tables.json", schedule_, torus_);
  };
  EXPECT_THAT([&] { read("{\"format\": "); }, ThrowsMessage<Error>(HasSubstr("tables.json:1: ")));
  EXPECT_THAT([&] { read("{}"); }, ThrowsMessage<Error>(HasSubstr("format is not \"colltopo-routes 1\"")));
  EXPECT_THAT([&] { read("{\"format\": 1}"); }, ThrowsMessage<Error>(HasSubstr("format is not")));
  EXPECT_THAT([&] { read("{\"format\": \"colltopo-routes 1\", \"topology\": 5}"); },
              ThrowsMessage<Error>(HasSubstr("tables are those of topology ")));
  std::ostringstream good;
  write_json_routes(good, schedule_, torus_, tables_);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good.str();
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_THAT([&] { read(with("\"planes\": ", "\"plants\": ")); },
              ThrowsMessage<Error>(HasSubstr("tables.json: planes: planes is missing; expected 0..")));
  EXPECT_THAT([&] { read(with("\"link\": ", "\"link\": 99")); }, ThrowsMessage<Error>(HasSubstr("link is 99")));
  EXPECT_THAT([&] { read(with("\"target\": ", "\"target\": \"x\", \"t\": ")); },
              ThrowsMessage<Error>(HasSubstr("node 0: target is \"x\"; expected 0..8")));
  EXPECT_THAT([&] { read(with(fingerprint(torus_), "other")); },
              ThrowsMessage<Error>(HasSubstr("tables are those of topology other")));
}

TEST_F(Tampered, linux_commands_name_every_node_and_entry) {
  std::ostringstream out;
  write_linux_routes(out, schedule_, torus_, tables_, {});
  const std::string text = out.str();
  std::size_t commands = 0;
  for (std::size_t at = text.find("\nroute replace "); at != std::string::npos;
       at = text.find("\nroute replace ", at + 1))
    ++commands;
  EXPECT_EQ(commands, tables_.entries());
  const auto has = [&](const std::string& line) { return text.find("\n" + line + "\n") != std::string::npos; };
  EXPECT_TRUE(has("'8')"));
  const Route& route = schedule_.routes.front();
  const Link& link = torus_.link(route.links.front());
  const std::string plane = "10." + std::to_string(100 + route.lane) + ".0.";
  const std::string expected = "route replace " + plane + std::to_string(route.target) + "/32 via 10.100.0." +
                               std::to_string(link.head) + " dev l" + std::to_string(route.links.front()) +
                               " onlink src " + plane + "0";
  EXPECT_TRUE(has(expected)) << expected;
  EXPECT_EQ(text.find("rule add"), std::string::npos);
  EXPECT_THAT(
      [&] {
        write_linux_routes(out, schedule_, torus_, tables_, {"l", "10.300"});
      },
      ThrowsMessage<Error>(HasSubstr("expected the first two octets")));
  EXPECT_THAT(
      [&] {
        write_linux_routes(out, schedule_, torus_, tables_, {"l", "10.255"});
      },
      ThrowsMessage<Error>(HasSubstr("have room for 1")));
}

TEST(Forwarding, needs_routes_of_this_topology) {
  const Topology ring = topology_of("ring:4");
  Schedule schedule = random_schedule(ring, 1, 2);
  EXPECT_THAT([&] { forwarding_tables(schedule, topology_of("torus:2x2")); },
              ThrowsMessage<Error>(HasSubstr("its routes are those of topology")));
  schedule.routes.clear();
  EXPECT_THAT([&] { forwarding_tables(schedule, ring); }, ThrowsMessage<Error>(HasSubstr("it has no routes")));
}

}  // namespace
}  // namespace colltopo
