// Importers and exporters: every sample has what its text says, every broken sample is refused at its line, and what is
// written is read back as it was.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "colltopo/error.h"
#include "colltopo/import.h"

namespace colltopo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string contents_of(const std::string& sample) {
  std::ifstream in(std::string(COLLTOPO_SAMPLES) + "/" + sample, std::ios::binary);
  EXPECT_TRUE(in) << sample;
  return {std::istreambuf_iterator<char>(in), {}};
}

Topology imported(const std::string& sample, const std::string& format = "") {
  return import_topology(contents_of(sample), sample, format);
}

std::string error_of(const std::string& text, const std::string& format = "", const std::string& file = "file") {
  try {
    import_topology(text, file, format);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> host_names(const Topology& topology) {
  std::vector<std::string> names;
  for (NodeId host = 0; host < topology.hosts(); ++host) names.push_back(topology.node_name(host));
  return names;
}

NodeId node_named(const Topology& topology, const std::string& name) {
  for (NodeId node = 0; node < topology.nodes(); ++node)
    if (topology.node_name(node) == name) return node;
  ADD_FAILURE() << "no node " << name << " in " << topology.name();
  return 0;
}

/// Bytes per second of all links between two nodes, and how many they are.
struct Between {
  int links = 0;
  double bandwidth = 0;
};
Between between(const Topology& topology, const std::string& tail, const std::string& head) {
  Between all;
  for (const LinkId id : topology.links_out(node_named(topology, tail))) {
    if (topology.link(id).head != node_named(topology, head)) continue;
    ++all.links;
    all.bandwidth += topology.link(id).bandwidth;
  }
  return all;
}

constexpr double k_gbps = 1e9 / 8;

const std::vector<std::string>& samples() {
  static const std::vector<std::string> k_samples{
      "native.json",     "topology.conf", "topology-blocks.conf", "topology.yaml", "ibnetdiscover.txt",
      "lstopo.xml",      "lstopo-v1.xml", "cluster.graphml",      "cluster.dot",   "links.edges",
      "coordinates.txt", "nccl-topo.xml", "nccl-pair.xml"};
  return k_samples;
}

TEST(Import, every_file_among_the_samples_is_tested) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(COLLTOPO_SAMPLES))
    if (entry.is_regular_file()) files.insert(entry.path().filename());
  EXPECT_EQ(files, std::set<std::string>(samples().begin(), samples().end()));
}

TEST(Import, every_sample_is_recognised_and_connected) {
  for (const std::string& sample : samples()) {
    const Topology topology = imported(sample);
    EXPECT_TRUE(facts_of(topology).connected) << sample;
    EXPECT_GE(topology.hosts(), 2) << sample;
  }
}

TEST(Import, slurm_host_lists_are_expanded_and_spines_share_what_comes_from_below) {
  const Topology topology = imported("topology.conf");
  EXPECT_THAT(host_names(topology),
              ElementsAre("node01", "node02", "node03", "node04", "node05", "node06", "node07", "node08", "node09",
                          "node10", "node11", "node12", "gpu1", "gpu2", "gpu3", "login"));
  EXPECT_EQ(topology.switches(), 6);
  EXPECT_DOUBLE_EQ(between(topology, "node03", "leaf0").bandwidth, k_default_bandwidth);
  EXPECT_DOUBLE_EQ(between(topology, "leaf0", "spine1").bandwidth, 2 * k_default_bandwidth);
  EXPECT_DOUBLE_EQ(between(topology, "spine1", "leaf0").bandwidth, 2 * k_default_bandwidth);
  EXPECT_DOUBLE_EQ(between(topology, "leaf3", "gpu2").bandwidth, 100 * k_gbps) << "LinkSpeed";
  EXPECT_DOUBLE_EQ(between(topology, "leaf3", "spine0").bandwidth, 200 * k_gbps);
}

TEST(Import, options_of_a_format_replace_what_it_assumes) {
  const Topology topology = imported("topology.conf", "slurm:host=50Gbps,uplink=10Gbps,latency=3us");
  EXPECT_DOUBLE_EQ(between(topology, "node03", "leaf0").bandwidth, 50 * k_gbps);
  EXPECT_DOUBLE_EQ(between(topology, "leaf0", "spine1").bandwidth, 10 * k_gbps);
  EXPECT_DOUBLE_EQ(topology.link(0).latency, 3e-6);
  const std::string text = contents_of("topology.conf");
  EXPECT_THAT(error_of(text, "slurm:colour=red"), HasSubstr("option 'colour=red'; expected host="));
  EXPECT_THAT(error_of(text, "slurm:host=fast"), HasSubstr("host=fast; expected a bandwidth"));
  EXPECT_THAT(error_of(text, "slurm:latency=-1us"), HasSubstr("latency=-1us; expected a time"));
  EXPECT_THAT(error_of(text, "chalk"), HasSubstr("format 'chalk' is unknown; expected one of: json"));
  EXPECT_THAT(error_of(text, "graphml"), HasSubstr("expected an XML document <graphml>"));
}

TEST(Import, slurm_brackets_multiply_and_keep_the_width_of_numbers) {
  const Topology topology = import_topology("switchname=s nodes=r[0-1]n[08-10],x\n", "file");
  EXPECT_THAT(host_names(topology), ElementsAre("r0n08", "r0n09", "r0n10", "r1n08", "r1n09", "r1n10", "x"));
}

TEST(Import, slurm_blocks_are_joined_by_one_switch) {
  const Topology topology = imported("topology-blocks.conf");
  EXPECT_EQ(topology.hosts(), 36);
  EXPECT_DOUBLE_EQ(between(topology, "block1", "blocks").bandwidth, 18 * k_default_bandwidth);
}

TEST(Import, slurm_yaml_takes_the_default_of_the_cluster) {
  const Topology topology = imported("topology.yaml");
  EXPECT_EQ(topology.name(), "compute");
  EXPECT_THAT(host_names(topology), ElementsAre("node01", "node02", "node03", "node04"));
  EXPECT_EQ(between(topology, "s1", "sw_root").links, 1);
  const Topology blocks = import_topology(
      "- topology: b\n  block:\n    blocks:\n      - block: b1\n        nodes: n[1-2]\n"
      "- topology: c\n  flat: true\n",
      "file");
  EXPECT_EQ(blocks.name(), "b") << "the first, when none is the default";
  EXPECT_EQ(blocks.switches(), 1);
}

TEST(Import, ibnetdiscover_joins_the_adapters_of_a_host_and_reads_speeds) {
  const Topology topology = imported("ibnetdiscover.txt");
  EXPECT_THAT(host_names(topology), ElementsAre("gpu1", "node01", "node02", "node10"));
  EXPECT_EQ(topology.switches(), 4) << "the aggregation node is none";
  EXPECT_DOUBLE_EQ(between(topology, "gpu1", "MF0;leaf1:MSB7800/U1").bandwidth, 200 * k_gbps);
  EXPECT_DOUBLE_EQ(between(topology, "gpu1", "MF0;leaf2:MSB7800/U1").bandwidth, 200 * k_gbps);
  EXPECT_DOUBLE_EQ(between(topology, "node10", "MF0;leaf2:MSB7800/U1").bandwidth, 4 * 14.0625 * 64 / 66 * k_gbps);
  EXPECT_DOUBLE_EQ(between(topology, "MF0;spine2:MSB7800/U1", "MF0;leaf1:MSB7800/U1").bandwidth, 100 * k_gbps);
  EXPECT_EQ(topology.links().size(), 2 * (5 + 4));
}

TEST(Import, mpich_coordinates_become_levels_of_switches) {
  const Topology topology = imported("coordinates.txt");
  EXPECT_THAT(host_names(topology), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7"));
  EXPECT_EQ(between(topology, "5", "switch 1.7").links, 1);
  EXPECT_EQ(between(topology, "switch 1.10", "switch 1").links, 1);
  EXPECT_DOUBLE_EQ(between(topology, "switch 1", "root").bandwidth, 4 * k_default_bandwidth);
  EXPECT_EQ(import_topology("any header\n0: 3 1 0\n1: 3 2 0\n", "file").switches(), 3) << "one group needs no root";
}

TEST(Import, edge_lists_have_cables_one_way_links_and_units) {
  const Topology topology = imported("links.edges");
  EXPECT_THAT(host_names(topology), ElementsAre("a", "b", "c", "d")) << "c and d are not declared";
  EXPECT_EQ(topology.node_name(4), "core switch");
  EXPECT_DOUBLE_EQ(between(topology, "c", "b").bandwidth, 100 * k_gbps);
  EXPECT_DOUBLE_EQ(between(topology, "a", "c").bandwidth, 25e9);
  EXPECT_EQ(between(topology, "d", "b").links, 1);
  EXPECT_EQ(between(topology, "b", "d").links, 0);
  const Topology numbers = import_topology("10 2\n2 1\n", "file");
  EXPECT_THAT(host_names(numbers), ElementsAre("1", "2", "10")) << "hosts are numbered in natural order";
}

TEST(Import, dot_has_scopes_subgraphs_and_ports) {
  const Topology topology = imported("cluster.dot");
  EXPECT_EQ(topology.name(), "cluster");
  EXPECT_THAT(host_names(topology),
              testing::UnorderedElementsAre("node00", "node01", "node02", "node03", "node04", "node05"));
  EXPECT_EQ(topology.switches(), 3);
  EXPECT_DOUBLE_EQ(between(topology, "node02", "leaf0").bandwidth, 100 * k_gbps);
  EXPECT_DOUBLE_EQ(between(topology, "spine", "leaf1").bandwidth, 300 * k_gbps);
  const LinkId first = topology.links_out(node_named(topology, "node00"))[0];
  EXPECT_DOUBLE_EQ(topology.link(first).latency, 600e-9);
}

TEST(Import, dot_edges_go_the_way_their_arrow_points) {
  const Topology topology =
      import_topology("# a comment\ndigraph { a -> b -> c; c -> a [dir=back]; b -> d [dir=both] }", "file");
  EXPECT_EQ(between(topology, "a", "b").links, 1);
  EXPECT_EQ(between(topology, "b", "a").links, 0);
  EXPECT_EQ(between(topology, "a", "c").links, 1);
  EXPECT_EQ(between(topology, "d", "b").links, 1);
}

TEST(Import, graphml_uses_labels_defaults_and_directions) {
  const Topology topology = imported("cluster.graphml");
  EXPECT_THAT(host_names(topology), ElementsAre("node-a", "node-b", "node-c"));
  EXPECT_DOUBLE_EQ(between(topology, "leaf", "node-a").bandwidth, 100 * k_gbps);
  EXPECT_DOUBLE_EQ(between(topology, "leaf", "node-c").bandwidth, 25e9);
  EXPECT_EQ(between(topology, "node-a", "node-b").links, 1);
  EXPECT_EQ(between(topology, "node-b", "node-a").links, 0);
}

TEST(Import, hwloc_gives_cores_under_caches_packages_and_the_machine) {
  const Topology topology = imported("lstopo.xml", "hwloc:l3=33GBps");
  EXPECT_EQ(topology.hosts(), 32);
  EXPECT_EQ(topology.node_name(0), "core:0");
  EXPECT_DOUBLE_EQ(between(topology, "core:5", "l3:1").bandwidth, 10e9);
  EXPECT_DOUBLE_EQ(between(topology, "package:1", "machine:0").bandwidth, 40e9);
  for (const LinkId id : topology.links_out(node_named(topology, "l3:3")))
    EXPECT_DOUBLE_EQ(topology.link(id).bandwidth, topology.is_host(topology.link(id).head) ? 10e9 : 33e9);
  const Topology old = imported("lstopo-v1.xml");
  EXPECT_EQ(old.hosts(), 8);
  EXPECT_EQ(between(old, "core:7", "l3:3").links, 1) << "version 1 says Cache and its depth";
}

TEST(Import, nccl_gives_gpus_under_bridges_and_one_nvswitch) {
  const Topology topology = imported("nccl-topo.xml");
  EXPECT_THAT(host_names(topology), ElementsAre("gpu0", "gpu1", "gpu2", "gpu3"));
  EXPECT_DOUBLE_EQ(between(topology, "gpu2", "nvswitch").bandwidth, 240e9);
  EXPECT_DOUBLE_EQ(between(topology, "nvswitch", "gpu2").bandwidth, 240e9);
  EXPECT_DOUBLE_EQ(between(topology, "gpu0", "pci 0000:45:00.0").bandwidth, 24e9);
  EXPECT_DOUBLE_EQ(between(topology, "gpu3", "pci 0000:85:00.0").bandwidth, 12e9) << "no speed in the file";
  EXPECT_DOUBLE_EQ(between(topology, "cpu0", "cpu1").bandwidth, 24e9);
  EXPECT_EQ(between(topology, "mlx5_0", "pci 0000:45:00.0").links, 1);
}

TEST(Import, nccl_links_between_gpus_go_both_ways_and_hidden_gpus_are_left_out) {
  const Topology topology = imported("nccl-pair.xml");
  EXPECT_DOUBLE_EQ(between(topology, "gpu0", "gpu1").bandwidth, 40e9);
  EXPECT_DOUBLE_EQ(between(topology, "gpu1", "gpu0").bandwidth, 40e9);
  EXPECT_EQ(topology.nodes(), 3);
}

/// Of a line of broken/errors.txt: "FILE:LINE: beginning of the message".
class Broken : public testing::TestWithParam<std::string> {};

TEST_P(Broken, is_refused_at_its_line) {
  const std::string file = GetParam().substr(0, GetParam().find(':'));
  const std::string error = error_of(contents_of("broken/" + file), "", file);
  EXPECT_THAT(error, StartsWith(GetParam()));
  EXPECT_THAT(error, testing::Not(HasSubstr("\n")));
}

std::vector<std::string> broken_samples() {
  std::vector<std::string> lines;
  std::istringstream in(contents_of("broken/errors.txt"));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

INSTANTIATE_TEST_SUITE_P(Import, Broken, testing::ValuesIn(broken_samples()), [](const auto& test) {
  std::string name = test.param.substr(0, test.param.find(':'));
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return name;
});

TEST(Import, damaged_samples_are_read_or_refused_in_one_line) {
  int refused = 0;
  const auto attempt = [&](const std::string& text, const std::string& sample) {
    const std::string error = error_of(text, "", sample);
    refused += error.empty() ? 0 : 1;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_TRUE(error.empty() || error.starts_with(sample + ":")) << error;
  };
  for (const std::string& sample : samples()) {
    const std::string text = contents_of(sample);
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1)) {
      const std::size_t begin = end == 0 ? 0 : text.rfind('\n', end - 1) + 1;  // npos + 1 is 0
      attempt(text.substr(0, end + 1), sample);                                // cut off after the line
      attempt(text.substr(0, (begin + end) / 2), sample);                      // and inside it
      attempt(text.substr(0, end + 1) + text.substr(begin), sample);           // the line twice
      attempt(text.substr(0, begin) + text.substr(end + 1), sample);           // without it
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(Import, nesting_without_end_is_refused) {
  std::string xml, braces = "graph {";
  for (int i = 0; i < 100000; ++i) xml += "<object type=\"Group\">";
  for (int i = 0; i < 100000; ++i) braces += "{";
  EXPECT_THAT(error_of("<topology version=\"2.0\">" + xml), StartsWith("file:1: "));
  EXPECT_THAT(error_of(braces), HasSubstr("braces open; expected fewer"));
  std::string chain;
  for (int i = 0; i < 20000; ++i)
    chain += "SwitchName=s" + std::to_string(i) + " Switches=s" + std::to_string(i + 1) + "\n";
  EXPECT_EQ(import_topology(chain + "SwitchName=s20000 Nodes=a,b\n", "file").switches(), 20001);
}

void expect_same(const Topology& a, const Topology& b, const std::string& what) {
  EXPECT_EQ(fingerprint(a), fingerprint(b)) << what;
  EXPECT_EQ(a.name(), b.name()) << what;
  EXPECT_EQ(a.sides(), b.sides()) << what;
  EXPECT_EQ(a.wraps(), b.wraps()) << what;
  ASSERT_EQ(a.nodes(), b.nodes()) << what;
  for (NodeId node = 0; node < a.nodes(); ++node) EXPECT_EQ(a.node_name(node), b.node_name(node)) << what;
  EXPECT_THAT(b.links(), testing::ElementsAreArray(a.links().begin(), a.links().end())) << what;
}

TEST(Export, what_is_written_is_read_back_as_it_was) {
  std::vector<Topology> all;
  for (const char* spec :
       {"torus:3x4", "mesh:2x3/bandwidth:100Gbps/latency:1.3us", "switch:5", "bipartite:2:3", "ring:12"})
    all.push_back(topology_of(spec));
  for (const std::string& sample : samples()) all.push_back(imported(sample));
  TopologyBuilder odd("a \"name\" <&> \\", 3, 1);
  odd.name_node(0, "host").name_node(1, "with blank").name_node(2, "--").name_node(3, "quote\" back\\ <b>#");
  odd.link(0, 1, 1e9 / 3, 1e-7 / 3).link(0, 1, 1e9 / 3, 1e-7 / 3).link(2, 3, 5, 0).link(3, 2, 6, 0).link(3, 2, 6, 0);
  all.push_back(std::move(odd).build());
  for (const Topology& topology : all) {
    for (const char* format : {"json", "graphml", "dot", "edges"}) {
      const std::string text = export_topology(topology, format);
      const std::string what = topology.name() + " as " + format;
      expect_same(topology, import_topology(text, "file", format), what);
      expect_same(topology, import_topology(text, "file"), what + ", recognised");
    }
  }
}

TEST(Export, formats_that_are_only_read_are_refused) {
  EXPECT_THROW(export_topology(topology_of("ring:3"), "slurm"), Error);
  EXPECT_THROW(export_topology(topology_of("ring:3"), "chalk"), Error);
  EXPECT_EQ(format_of_file_name("a/b.graphml"), "graphml");
  EXPECT_EQ(format_of_file_name("b.gv"), "dot");
  EXPECT_EQ(format_of_file_name("b.json"), "json");
}

}  // namespace
}  // namespace colltopo
