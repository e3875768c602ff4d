// Topologies: the families' counts against their formulas, spec strings and files, right and wrong, paths and cuts.
#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "colltopo/error.h"
#include "colltopo/topology.h"

namespace colltopo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(const std::string& spec) {
  try {
    topology_of(spec);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string file_error_of(const std::string& text) {
  std::istringstream in(text);
  try {
    read_topology(in, "net.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

struct Expected {
  std::string spec;
  int hosts, switches, links, degree, diameter;
};

class Families : public testing::TestWithParam<Expected> {};

TEST_P(Families, have_the_counts_of_their_formulas) {
  const Expected& expected = GetParam();
  const TopologyFacts facts = facts_of(topology_of(expected.spec));
  EXPECT_EQ(facts.hosts, expected.hosts);
  EXPECT_EQ(facts.switches, expected.switches);
  EXPECT_EQ(facts.links, expected.links);
  EXPECT_EQ(facts.largest_degree, expected.degree);
  EXPECT_EQ(facts.diameter, expected.diameter);
  EXPECT_TRUE(facts.connected);
}

INSTANTIATE_TEST_SUITE_P(
    Topology, Families,
    testing::Values(Expected{"ring:8", 8, 0, 16, 2, 4}, Expected{"ring:2", 2, 0, 2, 1, 1},
                    Expected{"mesh:4x4", 16, 0, 48, 4, 6}, Expected{"torus:3x3x3", 27, 0, 162, 6, 3},
                    Expected{"torus:2x4", 8, 0, 24, 3, 3}, Expected{"torus:1x5", 5, 0, 10, 2, 2},
                    Expected{"hypercube:3", 8, 0, 24, 3, 3}, Expected{"complete:8", 8, 0, 56, 7, 1},
                    Expected{"bipartite:4:4", 8, 0, 32, 4, 2}, Expected{"switch:16", 16, 1, 32, 1, 2},
                    Expected{"kautz:12:2", 12, 0, 24, 2, 3}, Expected{"kautz:16:4", 16, 0, 60, 4, 2},
                    Expected{"kautz:1000:4", 1000, 0, 4000, 4, 5}, Expected{"kautz:3:2", 3, 0, 6, 2, 1}),
    [](const auto& test) {
      std::string name = test.param.spec;
      for (char& letter : name)
        if (letter == ':') letter = '_';
      return name;
    });

TEST(Topology, average_distance_of_the_27_host_torus_is_54_over_26) {
  // 6 hosts at one hop, 12 at two, 8 at three.
  EXPECT_DOUBLE_EQ(facts_of(topology_of("torus:3x3x3")).average_distance, (6 + 24 + 24) / 26.0);
}

TEST(Topology, hypercube_neighbours_differ_in_one_bit) {
  const Topology cube = topology_of("hypercube:4");
  for (const Link& link : cube.links()) {
    const int differing = link.tail ^ link.head;
    EXPECT_EQ(differing & (differing - 1), 0) << link.tail << " " << link.head;
  }
}

TEST(Topology, kautz_links_follow_imase_and_itoh) {
  // -(2u) - 1 and -(2u) - 2 modulo 6; no host is its own neighbour, for 3 divides 6.
  const Topology kautz = topology_of("kautz:6:2");
  std::vector<int> heads;
  for (const Link& link : kautz.links()) heads.push_back(link.head);
  EXPECT_THAT(heads, ElementsAre(5, 4, 3, 2, 1, 0, 5, 4, 3, 2, 1, 0));
}

TEST(Topology, irregular_graphs_are_told_apart) {
  EXPECT_TRUE(facts_of(topology_of("torus:3x5")).regular);
  EXPECT_FALSE(facts_of(topology_of("mesh:3x5")).regular);
  EXPECT_FALSE(facts_of(topology_of("bipartite:3:4")).regular);
}

TEST(Topology, one_way_links_can_leave_hosts_unreachable) {
  TopologyBuilder builder("one way", 2);
  builder.link(0, 1);
  const Topology topology = std::move(builder).build();
  EXPECT_FALSE(facts_of(topology).connected);
  EXPECT_EQ(facts_of(topology).diameter, -1);
  EXPECT_THROW(ShortestPaths(topology).path(1, 0), Error);
}

TEST(Topology, bisections_of_known_graphs) {
  const double link = k_default_bandwidth;
  EXPECT_DOUBLE_EQ(facts_of(topology_of("ring:8")).bisection, 2 * link);
  EXPECT_DOUBLE_EQ(facts_of(topology_of("torus:4x4")).bisection, 8 * link);
  EXPECT_DOUBLE_EQ(facts_of(topology_of("hypercube:3")).bisection, 4 * link);
  EXPECT_DOUBLE_EQ(facts_of(topology_of("complete:6")).bisection, 9 * link);
  EXPECT_DOUBLE_EQ(facts_of(topology_of("switch:8")).bisection, 4 * link);
}

TEST(Topology, narrow_cuts_count_their_links_right) {
  for (const char* spec : {"mesh:3x4", "bipartite:2:5", "switch:5"}) {
    const Topology topology = topology_of(spec);
    for (const Cut& cut : narrow_cuts(topology)) {
      double out = 0, in = 0;
      NodeId hosts = 0;
      for (const Link& link : topology.links()) {
        const bool tail = cut.inside[static_cast<std::size_t>(link.tail)];
        const bool head = cut.inside[static_cast<std::size_t>(link.head)];
        out += tail && !head ? link.bandwidth : 0;
        in += !tail && head ? link.bandwidth : 0;
      }
      for (NodeId host = 0; host < topology.hosts(); ++host) hosts += cut.inside[static_cast<std::size_t>(host)];
      EXPECT_DOUBLE_EQ(cut.bandwidth_out, out) << spec;
      EXPECT_DOUBLE_EQ(cut.bandwidth_in, in) << spec;
      EXPECT_EQ(cut.hosts_inside, hosts) << spec;
      EXPECT_GT(hosts, 0);
      EXPECT_LT(hosts, topology.hosts());
    }
  }
}

TEST(Topology, paths_are_connected_and_shortest) {
  for (const char* spec : {"ring:7", "mesh:3x4", "torus:4x3x2", "hypercube:4", "bipartite:3:4", "switch:6",
                           "complete:5", "torus:4x4/routes:lowest", "fattree:4/routes:lowest", "torus:4x4/routes:hash",
                           "fattree:4/routes:hash", "kautz:10:3/routes:hash"}) {
    const Topology topology = topology_of(spec);
    const ShortestPaths paths(topology);
    for (NodeId source = 0; source < topology.hosts(); ++source) {
      const std::vector<int> distances = distances_from(topology, source);
      for (NodeId target = 0; target < topology.hosts(); ++target) {
        const std::vector<LinkId> path = paths.path(source, target);
        EXPECT_EQ(static_cast<int>(path.size()), distances[static_cast<std::size_t>(target)]) << spec;
        NodeId at = source;
        for (const LinkId id : path) {
          EXPECT_EQ(topology.link(id).tail, at) << spec;
          at = topology.link(id).head;
        }
        EXPECT_EQ(at, target) << spec;
      }
    }
  }
}

/// [link] with one unit from each host to each other.
std::vector<int> loads_of_all_pairs(const std::string& spec) {
  const Topology topology = topology_of(spec);
  const ShortestPaths paths(topology);
  std::vector<int> load(topology.links().size(), 0);
  for (NodeId source = 0; source < topology.hosts(); ++source)
    for (NodeId target = 0; target < topology.hosts(); ++target)
      for (const LinkId id : paths.path(source, target)) ++load[static_cast<std::size_t>(id)];
  return load;
}

TEST(Topology, dimension_order_loads_even_tori_evenly) {
  // Each pair sends one unit; every link of a 4x4 torus then carries pairs * average distance / links = 8.
  EXPECT_THAT(loads_of_all_pairs("torus:4x4"), testing::Each(8));
}

TEST(Topology, networks_that_say_how_they_route_are_less_even) {
  // K3,3: between two hosts of a side, hops by the first host of the other; its links have one message of their own and
  // one for each of the two others.
  const auto busiest = [](const std::string& spec) { return std::ranges::max(loads_of_all_pairs(spec)); };
  EXPECT_EQ(busiest("bipartite:3:3/routes:lowest"), 5);
  EXPECT_GT(busiest("torus:4x4/routes:hash"), 8);
  EXPECT_GT(busiest("torus:4x4/routes:lowest"), 8);
}

TEST(Topology, routes_are_by_node_and_target) {
  const Topology topology = topology_of("torus:4x4/routes:hash");
  const ShortestPaths paths(topology);
  for (NodeId source = 0; source < 16; ++source) {
    for (NodeId target = 0; target < 16; ++target) {
      const std::vector<LinkId> path = paths.path(source, target);
      if (path.size() < 2) continue;
      const std::vector<LinkId> rest = paths.path(topology.link(path.front()).head, target);
      EXPECT_TRUE(std::ranges::equal(std::span(path).subspan(1), rest)) << source << " to " << target;
    }
  }
}

TEST(Topology, routes_outlive_modifiers_and_files) {
  for (const char* spec : {"torus:4x4/routes:hash/bandwidth:1Gbps", "torus:4x4/routes:hash/drop-links:1",
                           "torus:4x4/routes:hash/ranks:2", "torus:4x4/routes:hash/injection:2"}) {
    const Topology topology = topology_of(spec);
    EXPECT_EQ(topology.single_paths(), SinglePaths::hashed) << spec;
    std::stringstream file;
    write_topology(file, topology);
    EXPECT_EQ(read_topology(file, "file").single_paths(), SinglePaths::hashed) << spec;
  }
  EXPECT_EQ(fingerprint(topology_of("torus:4x4/routes:hash")), fingerprint(topology_of("torus:4x4")));
  EXPECT_EQ(topology_of("torus:4x4").single_paths(), SinglePaths::unknown);
}

TEST(Topology, routes_that_are_unknown_are_refused) {
  EXPECT_EQ(error_of("ring:4/routes:random"), "ring:4/routes:random: routes 'random'; expected lowest or hash");
  EXPECT_THAT(file_error_of(R"({"colltopo-topology": 1, "hosts": 1, "links": [], "routes": 3})"),
              HasSubstr("routes: 3; expected \"lowest\" or \"hash\""));
}

TEST(Topology, sides_are_known_for_grids_only) {
  EXPECT_THAT(topology_of("torus:3x4").sides(), ElementsAre(3, 4));
  EXPECT_THAT(topology_of("ring:5").sides(), ElementsAre(5));
  EXPECT_THAT(topology_of("hypercube:3").sides(), ElementsAre(2, 2, 2));
  EXPECT_TRUE(topology_of("torus:3x4").wraps());
  EXPECT_FALSE(topology_of("mesh:3x4").wraps());
  EXPECT_TRUE(topology_of("switch:4").sides().empty());
}

TEST(Topology, modifiers_set_every_link) {
  const Topology ring = topology_of("ring:4/bandwidth:100Gbps/latency:500ns");
  for (const Link& link : ring.links()) {
    EXPECT_DOUBLE_EQ(link.bandwidth, 12.5e9);
    EXPECT_DOUBLE_EQ(link.latency, 5e-7);
  }
  EXPECT_DOUBLE_EQ(topology_of("ring:4/bandwidth:3GBps").link(0).bandwidth, 3e9);
}

TEST(Topology, fingerprint_tells_graphs_apart_and_forgets_speed) {
  EXPECT_EQ(fingerprint(topology_of("ring:4")), fingerprint(topology_of("ring:4/bandwidth:100Gbps/latency:3us")));
  std::set<std::string> all;
  const std::vector<std::string> specs = {"ring:8",        "mesh:8",     "mesh:4x2", "mesh:2x4", "hypercube:3",
                                          "bipartite:4:4", "complete:8", "switch:8", "switch:7"};
  for (const std::string& spec : specs) all.insert(fingerprint(topology_of(spec)));
  EXPECT_EQ(all.size(), specs.size());
}

TEST(Topology, fingerprint_stays_what_it_is) {
  // In schedule files since version 1: a change would orphan them.
  EXPECT_EQ(fingerprint(topology_of("torus:3x3x3")), "27h0s162l-70bbb674a828bb32");
  EXPECT_EQ(fingerprint(topology_of("switch:4")), "4h1s8l-272c1f1f99405fa0");
}

TEST(Topology, wrong_specs_name_the_fault_and_what_is_allowed) {
  EXPECT_THAT(error_of("tours:3x3"),
              StartsWith("tours:3x3: unknown topology family 'tours'; expected one of: ring mesh torus hypercube "));
  EXPECT_EQ(error_of("torus:3x0"), "torus:3x0: side '0'; expected a whole number in 1..1048576");
  EXPECT_EQ(error_of("torus:3x"), "torus:3x: side ''; expected a whole number in 1..1048576");
  EXPECT_EQ(error_of("ring:8:2"), "ring:8:2: 2 parameters; expected ring:HOSTS");
  EXPECT_EQ(error_of("ring"), "ring: 0 parameters; expected ring:HOSTS");
  EXPECT_EQ(error_of("ring:8q"), "ring:8q: number of hosts '8q'; expected a whole number in 2..1048576");
  EXPECT_EQ(error_of("hypercube:99"), "hypercube:99: number of dimensions '99'; expected a whole number in 1..20");
  EXPECT_EQ(error_of("kautz:4:4"), "kautz:4:4: degree '4'; expected a whole number in 1..3");
  EXPECT_EQ(error_of("torus:99999x99999"),
            "torus:99999x99999: too many hosts; expected a product of sides up to 1048576");
  EXPECT_EQ(error_of("ring:8/speed:9"),
            "ring:8/speed:9: unknown modifier 'speed'; expected one of: bandwidth latency routes ranks host-bandwidth "
            "injection drop-links drop-hosts");
  EXPECT_THAT(error_of("ring:8/bandwidth:25"), HasSubstr("bandwidth '25'; expected a number above 0 and one of bps"));
  EXPECT_THAT(error_of("ring:8/bandwidth"), HasSubstr("bandwidth ''; expected"));
  EXPECT_THAT(error_of("ring:8/latency:-1us"), HasSubstr("latency '-1us'; expected a number of 0 or more"));
}

TEST(Topology, knows_the_bandwidth_of_its_slowest_link) {
  EXPECT_EQ(topology_of("mesh:1").slowest_bandwidth(), 0) << "no links";
  EXPECT_EQ(topology_of("ring:4").slowest_bandwidth(), k_default_bandwidth);
  EXPECT_EQ(topology_of("ring:4/bandwidth:8Gbps/host-bandwidth:0.5").slowest_bandwidth(), 0.5e9);
  TopologyBuilder builder("net", 3);
  builder.link(0, 1, 5e9).link(1, 0, 5e9).link(1, 2, 7e9).link(2, 1, 7e9).link(2, 0, 2e9).link(0, 2, 9e9);
  const Topology network = std::move(builder).build();
  EXPECT_EQ(network.slowest_bandwidth(), 2e9);
  EXPECT_EQ(facts_of(network).slowest_link, 2e9);
  const std::vector<std::string> cable{"2-0"};
  EXPECT_EQ(without_links(network, cable).slowest_bandwidth(), 5e9);
}

TEST(Topology, file_gives_back_what_was_written) {
  TopologyBuilder builder("two racks", 3, 2);
  builder.name_node(0, "node \"a\"")
      .name_node(4, "spine")
      .link(0, 3, 1e9, 2e-6)
      .link(3, 4, 4e9, 1e-7)
      .link(4, 1)
      .cable(1, 2);
  for (const Topology& topology : {std::move(builder).build(), topology_of("torus:2x3"), topology_of("switch:4")}) {
    std::stringstream file;
    write_topology(file, topology);
    const Topology again = read_topology(file, "again");
    EXPECT_EQ(again.name(), topology.name());
    EXPECT_EQ(again.hosts(), topology.hosts());
    EXPECT_EQ(again.switches(), topology.switches());
    EXPECT_TRUE(
        std::equal(again.links().begin(), again.links().end(), topology.links().begin(), topology.links().end()));
    EXPECT_EQ(again.sides(), topology.sides());
    EXPECT_EQ(again.wraps(), topology.wraps());
    for (NodeId node = 0; node < topology.nodes(); ++node) EXPECT_EQ(again.node_name(node), topology.node_name(node));
    EXPECT_EQ(fingerprint(again), fingerprint(topology));
  }
}

TEST(Topology, wrong_files_name_the_place) {
  EXPECT_THAT(file_error_of("{\n  \"hosts\": 3,\n  oops\n}"), HasSubstr("net.json:3: syntax error"));
  EXPECT_THAT(file_error_of("{\n  \"hosts\": 1e999999}"), HasSubstr("net.json:2: number overflow parsing '1e999999'"));
  EXPECT_THAT(file_error_of("[]"), HasSubstr("net.json:1: top: not an object"));
  EXPECT_THAT(file_error_of(R"({"hosts": 2, "links": []})"), HasSubstr("net.json:1: top: no \"colltopo-topology\""));
  EXPECT_THAT(file_error_of(R"({"colltopo-topology": 2, "hosts": 2, "links": []})"), HasSubstr("version 1"));
  EXPECT_THAT(file_error_of(R"({"colltopo-topology": 1, "hosts": 2, "links": [{"tail": 0}]})"),
              HasSubstr("net.json:1: links[0]: no \"head\""));
  EXPECT_THAT(file_error_of(R"({"colltopo-topology": 1, "hosts": 2, "links": [{"tail": 0, "head": 7}]})"),
              HasSubstr("link 0 -> 7 leaves the topology; nodes are 0..1"));
  EXPECT_THAT(file_error_of(R"({"colltopo-topology": 1, "hosts": 2, "links": [{"tail": 1, "head": 1}]})"),
              HasSubstr("joins a node with itself"));
  EXPECT_THAT(
      file_error_of(R"({"colltopo-topology": 1, "hosts": 2, "links": [{"tail": 0, "head": 1, "bandwidth": 0}]})"),
      HasSubstr("bandwidth 0; it must be above 0"));
  EXPECT_THAT(
      file_error_of(R"({"colltopo-topology": 1, "hosts": 4, "links": [], "grid": {"sides": [2, 3], "wraps": true}})"),
      HasSubstr("sides 2x3 are not a grid of 4 hosts"));
  EXPECT_THAT(
      file_error_of(R"({"colltopo-topology": 1, "hosts": 4, "links": [], "grid": {"sides": [2, 2], "wraps": true}})"),
      HasSubstr("such a grid has no switches and 8 links"));
}

TEST(Topology, files_with_keys_that_nobody_reads_or_names_given_twice_are_refused) {
  EXPECT_THAT(
      file_error_of(R"({"colltopo-topology": 1, "hosts": 2, "links": [{"tail": 0, "head": 1, "bandwith": 1e6}]})"),
      HasSubstr("links[0]: unknown key 'bandwith'; expected tail, head, bandwidth, latency"));
  EXPECT_THAT(file_error_of(R"({"colltopo-topology": 1, "host": 3, "hosts": 2, "links": []})"),
              HasSubstr("top: unknown key 'host'"));
  EXPECT_THAT(file_error_of(R"({"colltopo-topology": 1, "hosts": 2, "links": [], "grid": {"side": [2]}})"),
              HasSubstr("grid: unknown key 'side'"));
  EXPECT_THAT(file_error_of("{\"colltopo-topology\": 1, \"hosts\": 4,\n\"hosts\": 2, \"links\": []}"),
              HasSubstr("net.json:2: key 'hosts' twice"));
  EXPECT_THAT(file_error_of(R"({"colltopo-topology": 1, "hosts": 2, "links": [{"tail": 0, "head": 1, "tail": 1}]})"),
              HasSubstr("net.json:1: key 'tail' twice"));
  EXPECT_THAT(file_error_of(R"({"colltopo-topology": 1, "hosts": ["a", "a"], "links": []})"),
              HasSubstr("net.json:1: hosts: two nodes are called 'a'"));
  EXPECT_THAT(file_error_of(R"({"colltopo-topology": 1, "hosts": ["s0"], "switches": 1, "links": []})"),
              HasSubstr("two nodes are called 's0'"));
  EXPECT_EQ(
      file_error_of(R"({"colltopo-topology": 1, "hosts": 2, "links": [{"tail": 1, "head": 1}]})").find("net.json", 1),
      std::string::npos);
}

TEST(Topology, a_grid_has_each_of_its_links_once) {
  // As many links as a ring of four has, between neighbours, but 0 -> 1 twice and 1 -> 0 never.
  TopologyBuilder ring("ring", 4);
  ring.link(0, 1).link(0, 1).cable(1, 2).cable(2, 3).cable(3, 0).grid({4}, true);
  try {
    std::move(ring).build();
    FAIL() << "it was taken for a ring";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("link 0 -> 1 twice"));
  }
}

TEST(Topology, bandwidths_whose_ratio_or_sum_is_no_number_are_refused) {
  for (const double fastest : {1e308, 1.7e308}) {
    TopologyBuilder builder("extremes", 2);
    builder.link(0, 1, fastest).link(0, 1, fastest).link(1, 0, fastest > 1.5e308 ? fastest : 1e-308);
    EXPECT_THROW(std::move(builder).build(), Error);
  }
}

}  // namespace
}  // namespace colltopo
