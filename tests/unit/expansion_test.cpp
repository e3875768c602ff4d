// A few bytes that ask for much: every row is taken, or refused with the number and the limit, within 10 s and 1 GiB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "colltopo/algorithms.h"
#include "colltopo/demand.h"
#include "colltopo/draw.h"
#include "colltopo/formats.h"
#include "colltopo/import.h"
#include "colltopo/text.h"
#include "colltopo/topology.h"
#include "within_bounds.h"

namespace colltopo {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string imported(const std::string& text, const std::string& format = "") {
  return within_bounds([&] { import_topology(text, "FILE", format); });
}

// Ways of writing `count` names beside each other.
std::string names(const char* prefix, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += prefix + std::to_string(i) + " ";
  return all;
}

TEST(Expansion, of_lists_of_hosts_is_limited) {
  const std::string zeros = "n[" + std::string(2400, '0') + "1-1000000]";
  EXPECT_THAT(imported("SwitchName=s Nodes=" + zeros + "\n"), HasSubstr("more than 262144 names"));
  EXPECT_THAT(imported("SwitchName=s Nodes=n[" + std::string(2400, '0') + "1-100000]\n"), HasSubstr("100000 names of"));
  EXPECT_THAT(imported("SwitchName=s Nodes=n[0-99999]" + std::string(100'000, 'x') + "\n"), HasSubstr("names of"));
  EXPECT_THAT(imported("SwitchName=s Nodes=" + repeated("[0-9]", 2000) + "\n"), HasSubstr("more than 262144 names"));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "SwitchName=s" + std::to_string(i) + " Nodes=n[0-99999]\n";
  EXPECT_THAT(imported(many), HasSubstr("in all lists; expected at most 262144"));
  EXPECT_THAT(imported("- topology: t\n  tree:\n    switches:\n    - switch: s\n      nodes: &n " + zeros + "\n"),
              HasSubstr("more than 262144 names"));
  std::string aliases = "- topology: t\n  block:\n    blocks:\n    - block: b\n      nodes: &n a[0-99999]\n";
  for (int i = 0; i < 1000; ++i) aliases += "    - block: b" + std::to_string(i) + "\n      nodes: *n\n";
  EXPECT_THAT(imported(aliases), HasSubstr("in all lists"));
  EXPECT_EQ(imported("SwitchName=s Nodes=n[0-99999]\n"), "taken");
}

TEST(Expansion, of_sets_of_nodes_is_limited) {
  EXPECT_THAT(imported("graph { {" + names("a", 5000) + "} -- {" + names("b", 5000) + "} }"), HasSubstr("more than"));
  EXPECT_EQ(imported("graph { {" + names("a", 200) + "} -- {" + names("b", 200) + "} }"), "taken");
  std::string defaults = "graph { edge [";
  for (int i = 0; i < 40'000; ++i) defaults += "k" + std::to_string(i) + "=1 ";
  EXPECT_EQ(imported(defaults + "] a -- b " + repeated("{} -- {} ", 50'000) + "}"), "taken");
  EXPECT_THAT(imported("graph { edge [bandwidth=\"" + std::string(500'000, '1') + "\"] a -- b " +
                       repeated("{} -- {} ", 50'000) + "}"),
              HasSubstr("bandwidth of 500000 bytes"));
  EXPECT_THAT(imported("<graphml><key id=\"d\" attr.name=\"label\"><default>" + std::string(400'000, 'x') +
                       "</default></key><graph/></graphml>"),
              HasSubstr("a default of 400000 bytes"));
}

TEST(Expansion, of_dimensions_is_limited) {
  EXPECT_THAT(imported("header\n0:" + repeated(" 0", 10'000) + "\n1:" + repeated(" 0", 10'000) + "\n", "mpich"),
              HasSubstr("expected at most 16"));
  EXPECT_THAT(imported("grid 4" + repeated("x1", 200'000) + " wraps\n0 1\n", "edges"), HasSubstr("expected sides"));
  for (const char* family : {"torus:", "mesh:", "hyperx:"})
    EXPECT_THAT(within_bounds([&] { topology_of(family + ("4" + repeated("x1", 100'000))); }),
                HasSubstr("too many sides"));
  EXPECT_THAT(imported(R"({"colltopo-topology":1,"hosts":1,"links":[],"grid":{"sides":[1)" + repeated(",1", 300'000) +
                       R"(],"wraps":true}})"),
              HasSubstr("allowed are 32"));
}

TEST(Expansion, of_machines_with_thousands_of_parts_is_no_more_than_their_number) {
  std::string packages = "<topology><object type=\"Machine\">";
  for (int i = 0; i < 5000; ++i) packages += "<object type=\"Package\"><object type=\"Core\"/></object>\n";
  EXPECT_EQ(imported(packages + "</object></topology>"), "taken");
  std::string cpus = "<system version=\"1\">", gpus = "<system version=\"1\"><cpu numaid=\"0\">";
  for (int i = 0; i < 5000; ++i) {
    cpus += "<cpu numaid=\"" + std::to_string(i) + "\"><pci busid=\"" + std::to_string(i) + "\"><gpu dev=\"" +
            std::to_string(i) + "\"/></pci></cpu>\n";
    gpus += "<pci busid=\"" + std::to_string(i) + "\"><gpu dev=\"" + std::to_string(i) + "\"><nvlink target=\"" +
            std::to_string((i + 1) % 5000) + "\" count=\"1\"/></gpu></pci>\n";
  }
  EXPECT_THAT(imported(cpus + "</system>"), HasSubstr("more than"));
  EXPECT_EQ(imported(gpus + "</cpu></system>"), "taken");
  std::string keys = R"({"colltopo-topology": 1, "hosts": 2, "links": [{)";
  for (int i = 0; i < 100'000; ++i) keys += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_THAT(imported(keys + "\"\":0}]}"), HasSubstr("more than 1000 keys"));
}

TEST(Expansion, of_what_is_deep_is_refused_or_taken) {
  const auto nested = [](const char* opens, const char* closes, std::size_t depth) {
    return repeated(opens, depth) + repeated(closes, depth);
  };
  for (const std::string& text :
       {"graph {" + nested("{", "}", 200'000) + "}",
        "<topology>" + nested("<object type=\"Group\">", "</object>", 30'000) + "</topology>",
        "<graphml>" + nested("<graph><node id=\"a\">", "</node></graph>", 20'000) + "</graphml>",
        "<system>" + nested("<cpu>", "</cpu>", 80'000) + "</system>",
        "- topology: t\n  tree: " + nested("[", "]", 200'000), "- topology: t\n  tree: " + nested("{a: ", "}", 150'000),
        "- topology: t\n  tree:\n    " + repeated("- ", 300'000) + "\n",
        R"({"colltopo-topology": 1, "hosts": )" + nested("[", "]", 400'000) + "}"})
    EXPECT_THAT(imported(text), StartsWith("FILE")) << text.substr(0, 40);
}

// Families make what is asked for, which a number in a spec is enough for.
TEST(Expansion, of_specs_is_within_bounds) {
  for (const char* spec : {"ring:1000000000",
                           "torus:100000x100000",
                           "torus:1024x1024",
                           "hypercube:31",
                           "twisted-hypercube:40",
                           "complete:1000000",
                           "bipartite:1000000:1000000",
                           "circulant:1000000:1,2,3,4,5,6,7,8,9,10,11,12",
                           "kautz:1000000000:3",
                           "kautz:1000000:1000",
                           "xpander:1000000000:3",
                           "xpander:1048576:15",
                           "jellyfish:1000000000:3",
                           "jellyfish:1048576:15",
                           "slimfly:1000000007",
                           "hyperx:1000x1000x1000",
                           "hyperx:1024x1024",
                           "hammingmesh:1000x1000:1000x1000",
                           "dragonfly:1000000:1000000:1000000",
                           "fattree:1000000",
                           "switch:1000000000",
                           "dgx-a100:1000000",
                           "mi250:1000000",
                           "ring:4/ranks:1000000000",
                           "torus:256x256/injection:1/host-bandwidth:1/injection:1"})
    EXPECT_THAT(within_bounds([&] { topology_of(spec); }), AnyOf("taken", HasSubstr(spec))) << spec;
}

std::string text_of(const Schedule& schedule) {
  std::ostringstream out;
  write_schedule(out, schedule);
  return out.str();
}

// A sealed file with other lines in place of some.
std::string altered(std::string text, const std::vector<std::pair<std::string, std::string>>& lines) {
  for (const auto& [before, after] : lines) {
    const std::size_t at = text.find(before);
    if (at != std::string::npos) text.replace(at, before.size(), after);
  }
  return sealed(text);
}

std::string read(const std::string& text) {
  return within_bounds([&] {
    std::istringstream in(text);
    read_schedule(in, "FILE");
  });
}

TEST(Expansion, of_numbers_in_schedules_is_limited) {
  const std::string text = text_of(generate(*algorithm_named("pairwise"), {Collective::alltoall, 4, 1, 0}, {}));
  EXPECT_THAT(read(altered(text, {{"chunks 1 ", "chunks 268435456 "}})), HasSubstr("chunks is '268435456'"));
  EXPECT_THAT(read(altered(text, {{"ranks 4 ", "ranks 1073741824 "}})), HasSubstr("ranks is '1073741824'"));
}

TEST(Expansion, of_parametric_schedules_is_limited) {
  for (const char* algorithm : {"linear", "pairwise", "tra", "bruck"})
    for (const char* ranks : {"1073741824", "4194304", "65536"}) {
      ScheduleHeader header;
      header.name = "many";
      header.shape = {Collective::alltoall, 4, 1, 0};
      header.algorithm = algorithm;
      if (!algorithm_named(algorithm)->refusal(header.shape, {}).empty()) continue;
      header.steps = generate(*algorithm_named(algorithm), header.shape, {}).steps();
      std::ostringstream out;
      write_parametric(out, header);
      EXPECT_THAT(read(altered(out.str(), {{"ranks 4 ", "ranks " + std::string(ranks) + " "}})),
                  AnyOf(HasSubstr("expected"), HasSubstr("allowed")))
          << algorithm << " " << ranks;
    }
}

TEST(Expansion, of_steps_in_pictures_is_limited) {
  Schedule schedule = generate(*algorithm_named("pairwise"), {Collective::alltoall, 2, 1, 0}, {});
  for (Program& program : schedule.programs) {
    ProgramBuilder late(schedule.shape, program.rank());
    for (std::size_t i = 0; i < program.size(); ++i) {
      Op op = program.op(i);
      const Runs source(op.source.begin(), op.source.end()), target(op.target.begin(), op.target.end());
      if (is_message(op.action)) op.step = 2147483647;
      late.add(op, source, target);
    }
    program = std::move(late).build();
  }
  EXPECT_THAT(within_bounds([&] { schedule_svg(schedule); }), HasSubstr("2147483647 steps to draw"));
  EXPECT_EQ(within_bounds([&] { schedule_text(schedule); }), "taken");
  EXPECT_EQ(within_bounds([&] { step_svg(schedule, 2147483647); }), "taken");
}

TEST(Expansion, of_demands_is_limited) {
  EXPECT_THAT(within_bounds([] { read_demand("source,target,bytes\n0,1,1\n", "FILE", 1'000'000); }),
              HasSubstr("expected at most 8192"));
  EXPECT_THAT(
      within_bounds([] { read_demand("%%MatrixMarket matrix coordinate real general\n4 4 3\n1 2 5\n", "FILE", 4); }),
      HasSubstr("1 entries; expected 3"));
}

}  // namespace
}  // namespace colltopo
