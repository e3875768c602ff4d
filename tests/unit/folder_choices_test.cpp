// Prepared folders: rules that are for this network, files that fit, sizes, lanes, and where folders are looked for.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "colltopo/algorithms.h"
#include "colltopo/text.h"
#include "colltopo/topology.h"
#include "colltopo/verify.h"
#include "comm/folder_choices.h"
#include "folders.h"
#include "ranks.h"

namespace colltopo {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::size_t k_any = std::numeric_limits<std::size_t>::max();

/// alltoall on ring:4: up to 100 bytes tra, up to 999 auto, then the file; with 2 lanes always the file.
void write_rules(const std::string& folder, const std::string& spec) {
  const std::string topology = fingerprint(topology_of(spec));
  std::ofstream(folder + "/rules.json") << R"({"rule_file_version": 3, "module": "topo", "collectives": {"alltoall": [
    {"topology": ")" << topology << R"(", "lanes": 2, "rules": [{"alg": "file:a.sched"}]},
    {"topology": ")" << topology << R"(", "rules": [
      {"msg_size_max": 100, "alg": "tra:radix=2"}, {"msg_size_min": 101, "msg_size_max": 999, "alg": "auto"},
      {"msg_size_min": 1000, "alg": "file:a.sched"}, {"alg": "file:missing.sched"}]},
    {"rules": [{"alg": "linear"}]}]}})";
}

RuleQuery query_on(const std::string& spec, Lane lanes = 0) {
  const Topology topology = topology_of(spec);
  RuleQuery query;
  query.collective = Collective::alltoall;
  query.ranks = topology.hosts();
  query.one_per_node = true;
  query.fingerprint = fingerprint(topology);
  query.lanes = lanes;
  return query;
}

TEST(FolderChoices, are_the_rules_for_the_network_then_the_files) {
  const std::string folder = folder_named("choices_rules");
  write_rules(folder, "ring:4");
  file_schedule(folder + "/a.sched", "ring:4");
  std::vector<std::string> faults;
  const std::string file = "file:" + folder + "/a.sched";
  EXPECT_THAT(choices_in(folder, query_on("ring:4"), 1024, &faults),
              ElementsAre(FolderChoice{0, 100, -1, "tra:radix=2"}, FolderChoice{101, 999, -1, "auto"},
                          FolderChoice{1000, k_any, -1, file}, FolderChoice{1024, k_any, -1, file}));
  EXPECT_THAT(choices_in(folder, query_on("ring:4", 2), 1024, &faults).front(), (FolderChoice{0, k_any, -1, file}));
  EXPECT_THAT(choices_in(folder, query_on("ring:5"), 1024, &faults), IsEmpty());
  EXPECT_THAT(faults, IsEmpty());
}

TEST(FolderChoices, come_back_from_their_text) {
  const std::vector<FolderChoice> choices{{0, 100, -1, "tra:radix=2"}, {101, k_any, 3, "file:/a b/c.sched"}};
  EXPECT_EQ(folder_choices_of(text_of(choices)), choices);
}

TEST(FolderChoices, of_rules_that_are_wrong_are_passed_over_and_named) {
  const std::string folder = folder_named("choices_wrong");
  std::ofstream(folder + "/rules.json") << R"({"collectives": {"alltoall": [{"rules": [{"alg": "none"}]}]}})";
  std::vector<std::string> faults;
  EXPECT_THAT(choices_in(folder, query_on("ring:4"), 0, &faults), IsEmpty());
  EXPECT_THAT(faults, ElementsAre(HasSubstr("alg is 'none'")));
}

TEST(FolderChoices, of_a_folder_that_nobody_named_count_where_nobody_else_may_write) {
  char name[] = "/tmp/colltopo_choices.XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::string folder = std::string(name) + "/prepared";
  std::filesystem::create_directory(folder);
  write_rules(folder, "ring:4");
  file_schedule(folder + "/a.sched", "ring:4");
  std::vector<std::string> faults, distrusted;
  const auto found = [&] {
    distrusted.clear();
    return choices_in(folder, query_on("ring:4"), 1024, &faults, &distrusted).size();
  };
  EXPECT_EQ(found(), 4U);
  EXPECT_THAT(distrusted, IsEmpty());
  chmod((folder + "/a.sched").c_str(), 0666);  // its rule and itself
  EXPECT_EQ(found(), 2U);
  EXPECT_THAT(distrusted, Contains(HasSubstr("a.sched may be written to by all users")));
  chmod((folder + "/rules.json").c_str(), 0666);
  EXPECT_EQ(found(), 0U);
  chmod((folder + "/rules.json").c_str(), 0644);
  chmod((folder + "/a.sched").c_str(), 0644);
  chmod(folder.c_str(), 01777);
  EXPECT_EQ(found(), 0U);
  EXPECT_THAT(distrusted, ElementsAre(HasSubstr(folder + " has mode 1777); coll_topo_schedules does not name")));
  EXPECT_THAT(choices_in(folder, query_on("ring:4"), 1024, &faults), SizeIs(4));  // named
  EXPECT_THAT(faults, IsEmpty());
  std::filesystem::remove_all(name);
}

TEST(FolderChoices, are_looked_for_beside_the_topology_and_at_home) {
  const std::string folder = folder_named("choices_beside");
  std::ofstream(folder + "/topology.json") << "{}";
  const std::string home = folder_named("choices_home");
  const char* const before = std::getenv("HOME");
  const std::string kept = before == nullptr ? "" : before;
  setenv("HOME", home.c_str(), 1);
  EXPECT_EQ(standard_folders(folder + "/topology.json"), "");
  std::ofstream(folder + "/rules.json") << "{}";
  EXPECT_EQ(standard_folders(folder + "/topology.json"), folder);
  EXPECT_EQ(standard_folders("ring:4"), "");
  const std::string mine = home + "/.colltopo/schedules/ring";
  std::filesystem::create_directories(mine);
  EXPECT_EQ(standard_folders("ring:4"), "");
  std::ofstream(mine + "/rules.json") << "{}";
  EXPECT_EQ(standard_folders("ring:4"), mine);
  setenv("HOME", kept.c_str(), 1);
}

/// All-to-alls of these bytes per shard on ring:4 with one rank per host; what was said.
std::vector<std::string> said_at(const std::vector<std::size_t>& sizes, std::map<std::string, std::string> settings) {
  Ranks job(4);
  job.node_of = {0, 1, 2, 3};
  job.host_names = {"a", "b", "c", "d"};
  settings.insert({{"verbose", "1"}, {"topology", "ring:4"}, {"choice", "model"}});
  job.run([&](int rank, colltopo_comm* comm) {
    for (const auto& [name, value] : settings) colltopo_comm_set(comm, name.c_str(), value.c_str());
    for (const std::size_t bytes : sizes) {
      std::vector<unsigned char> input, output(4 * bytes);
      for (int to = 0; to < 4; ++to) input.insert(input.end(), bytes, static_cast<unsigned char>(16 * rank + to));
      colltopo_call call{};
      call.input = input.data();
      call.output = output.data();
      call.count = bytes;
      call.element_size = 1;
      if (colltopo_alltoall(comm, &call) != COLLTOPO_SUCCESS) continue;
      for (std::size_t i = 0; i < output.size(); ++i) ASSERT_EQ(output[i], 16 * static_cast<int>(i / bytes) + rank);
    }
  });
  return job.said;
}

TEST(FolderChoices, serve_the_sizes_that_their_rules_name) {
  const std::string folder = folder_named("choices_serve");
  write_rules(folder, "ring:4");
  file_schedule(folder + "/a.sched", "ring:4");
  // From the largest to the smallest, so that no decision is kept for sizes that others have.
  const auto said = said_at({4000, 1000, 999, 101, 100, 8}, {{"schedules", folder}});
  EXPECT_THAT(said, Contains(HasSubstr("alltoall of 4000 bytes on 4 ranks, 4 nodes: file:")));
  EXPECT_THAT(said, Contains(testing::AllOf(HasSubstr("alltoall of 999 bytes"), HasSubstr("(model"))));
  EXPECT_THAT(said, Contains(HasSubstr("alltoall of 100 bytes on 4 ranks, 4 nodes: tra radix=2 (rules of a folder")));
  EXPECT_THAT(said, testing::Not(Contains(HasSubstr("alltoall of 8 bytes"))));  // decided with 100
}

TEST(FolderChoices, are_none_where_the_setting_says_so) {
  const std::string folder = folder_named("choices_off");
  write_rules(folder, "ring:4");
  file_schedule(folder + "/a.sched", "ring:4");
  std::ofstream topology(folder + "/topology.json");
  write_topology(topology, topology_of("ring:4"));
  topology.close();
  const std::map<std::string, std::string> beside{{"topology", folder + "/topology.json"}, {"hosts", "a,b,c,d"}};
  EXPECT_THAT(said_at({4000}, beside), Contains(HasSubstr("file:" + folder + "/a.sched")));
  std::map<std::string, std::string> off = beside;
  off["schedules"] = "none";
  EXPECT_THAT(said_at({4000}, off), testing::Not(Contains(HasSubstr("file:"))));
}

}  // namespace
}  // namespace colltopo
