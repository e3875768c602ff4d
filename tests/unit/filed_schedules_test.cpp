// Schedules out of folders: found by the network and the places of ranks on it, whatever the order of ranks.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "colltopo/algorithms.h"
#include "colltopo/error.h"
#include "colltopo/node_network.h"
#include "colltopo/placement.h"
#include "colltopo/text.h"
#include "colltopo/verify.h"
#include "comm/machine_network.h"
#include "folders.h"
#include "ranks.h"

namespace colltopo {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Under the collective's name.
void file_in(const std::string& folder, const std::string& spec, Collective collective = Collective::alltoall,
             Rank root = 0) {
  file_schedule(folder + "/" + std::string(name(collective)) + ".sched", spec, collective, root);
}

std::int64_t number(int from, int to, std::size_t i) { return 1000 * from + 10 * to + static_cast<std::int64_t>(i); }

/// An all-to-all of `count` elements per pair, every element checked; returns the code.
int alltoall(int ranks, int rank, colltopo_comm* comm, std::size_t count) {
  std::vector<std::int64_t> input, output(static_cast<std::size_t>(ranks) * count, -1);
  for (int to = 0; to < ranks; ++to)
    for (std::size_t i = 0; i < count; ++i) input.push_back(number(rank, to, i));
  colltopo_call call{};
  call.input = input.data();
  call.output = output.data();
  call.count = count;
  call.element_size = sizeof(std::int64_t);
  const int code = colltopo_alltoall(comm, &call);
  if (code != COLLTOPO_SUCCESS) return code;
  for (int from = 0; from < ranks; ++from)
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(output[static_cast<std::size_t>(from) * count + i], number(from, rank, i));
  return code;
}

/// A job with the settings; what was said.
std::vector<std::string> said_by(Ranks& job, int ranks, const std::map<std::string, std::string>& settings) {
  job.run([&](int rank, colltopo_comm* comm) {
    for (const auto& [name, value] : settings)
      ASSERT_EQ(colltopo_comm_set(comm, name.c_str(), value.c_str()), COLLTOPO_SUCCESS) << colltopo_last_error();
    for (int i = 0; i < 2; ++i) alltoall(ranks, rank, comm, 512);
    alltoall(ranks, rank, comm, 2);
  });
  return job.said;
}

std::vector<std::string> names_of(const std::vector<int>& host_of) {
  std::vector<std::string> names;
  for (const int host : host_of) names.push_back("node" + std::to_string(host));
  return names;
}

TEST(FiledSchedules, serve_ranks_in_the_order_of_hosts) {
  const std::string folder = folder_named("filed_order");
  file_in(folder, "torus:2x2");
  Ranks job(4);
  job.node_of = {0, 1, 2, 3};
  job.host_names = names_of(job.node_of);
  const auto said = said_by(job, 4, {{"topology", "torus:2x2"}, {"schedules", folder}, {"verbose", "1"}});
  EXPECT_THAT(said,
              Contains(HasSubstr("4096 bytes on 4 ranks, 4 nodes: file:" + folder + "/alltoall.sched (found by")));
  EXPECT_THAT(said, testing::Not(Contains(HasSubstr("16 bytes on 4 ranks, 4 nodes: file:"))));
}

// Prices know no path between the halves; the job goes on without.
TEST(FiledSchedules, a_network_in_two_parts_is_no_fault_of_the_job) {
  const std::string file = folder_named("filed_parts") + "/parts.json";
  std::ofstream(file) << R"({"colltopo-topology": 1, "name": "parts", "hosts": ["node0", "node1", "node2", "node3"],
    "switches": [], "links": [{"tail": 0, "head": 1}, {"tail": 1, "head": 0}, {"tail": 2, "head": 3}, {"tail": 3, "head": 2}]})";
  Ranks job(4);
  job.node_of = {0, 1, 2, 3};
  job.host_names = names_of(job.node_of);
  job.run([&](int rank, colltopo_comm* comm) {
    ASSERT_EQ(colltopo_comm_set(comm, "topology", file.c_str()), COLLTOPO_SUCCESS) << colltopo_last_error();
    ASSERT_EQ(colltopo_comm_set(comm, "alltoall_algorithm", "linear"), COLLTOPO_SUCCESS);
    EXPECT_EQ(alltoall(4, rank, comm, 2), COLLTOPO_SUCCESS) << colltopo_last_error();
  });
}

TEST(FiledSchedules, serve_ranks_by_the_names_of_their_hosts) {
  const std::string folder = folder_named("filed_names");
  file_in(folder, "ring:3/ranks:2");
  Ranks job(6);
  job.node_of = {7, 5, 6, 7, 5, 6};  // cyclic, and not in the order of the list
  job.host_names = names_of(job.node_of);
  const auto said = said_by(job, 6,
                            {{"topology", "ring:3"},
                             {"hosts", "node5.cluster,node6.cluster,node7.cluster"},
                             {"schedules", folder},
                             {"verbose", "1"}});
  EXPECT_THAT(said, Contains(HasSubstr("file:" + folder + "/alltoall.sched by host (found by")));
}

TEST(FiledSchedules, serve_a_part_of_the_machine) {
  const std::string folder = folder_named("filed_part");
  file_in(folder, "ring:4/ranks:1,0,2,0");
  Ranks job(3);
  job.node_of = {0, 2, 2};
  job.host_names = names_of(job.node_of);
  const auto said = said_by(job, 3,
                            {{"topology", "ring:4"},
                             {"hosts", "node0,node1,node2,node3"},
                             {"schedules", "/nowhere:" + folder},
                             {"verbose", "1"}});
  EXPECT_THAT(said, Contains(HasSubstr("file:" + folder + "/alltoall.sched (found by")));
  EXPECT_THAT(said, Contains(HasSubstr("0: schedules: folder /nowhere: No such file or directory; it is passed over")));
}

TEST(FiledSchedules, say_which_command_would_make_one) {
  const std::string folder = folder_named("filed_none");
  Ranks job(4);
  job.node_of = {0, 0, 1, 1};
  job.host_names = names_of(job.node_of);
  const auto said = said_by(job, 4, {{"topology", "ring:2"}, {"schedules", folder}});
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0], HasSubstr("to make one: colltopo generate mcf ring:2/ranks:2 -o " + folder + "/alltoall-"));
}

TEST(FiledSchedules, need_a_topology_that_has_the_hosts) {
  const std::string folder = folder_named("filed_strangers");
  Ranks without(2);
  without.host_names = {"a", "b"};
  EXPECT_THAT(said_by(without, 2, {{"schedules", folder}}), ElementsAre(HasSubstr("topology, which is not set")));
  Ranks stranger(2);
  stranger.host_names = {"a", "x"};
  EXPECT_THAT(said_by(stranger, 2, {{"topology", "ring:2"}, {"hosts", "a,b"}, {"schedules", folder}}),
              ElementsAre(HasSubstr("host x is not in topology ring:2 by the names of hosts; no schedules of folder")));
}

TEST(FiledSchedules, of_no_use_are_passed_over_and_named) {
  const std::string folder = folder_named("filed_broken");
  file_in(folder, "ring:3");
  std::ofstream(folder + "/broken.sched") << "topo-schedule 1\nnothing more\n";
  Ranks job(3);
  job.node_of = {0, 1, 2};
  job.host_names = names_of(job.node_of);
  const auto said = said_by(job, 3, {{"topology", "ring:3"}, {"schedules", folder}});
  EXPECT_THAT(said, ElementsAre(HasSubstr("broken.sched:1")));
}

TEST(FiledSchedules, of_rooted_collectives_are_found_by_the_place_of_the_root) {
  const std::string folder = folder_named("filed_root");
  file_in(folder, "ring:3", Collective::bcast, 2);
  Ranks job(3);
  job.node_of = {2, 1, 0};
  job.host_names = names_of(job.node_of);
  job.run([&](int rank, colltopo_comm* comm) {
    for (const auto& [name, value] : std::map<std::string, std::string>{
             {"topology", "ring:3"}, {"hosts", "node0,node1,node2"}, {"schedules", folder}, {"verbose", "1"}})
      colltopo_comm_set(comm, name.c_str(), value.c_str());
    for (const int root : {0, 1}) {
      std::vector<std::int64_t> vector(300, rank == root ? 42 : 0);
      colltopo_call call{};
      call.output = vector.data();
      call.count = vector.size();
      call.element_size = sizeof(std::int64_t);
      call.root = root;
      if (colltopo_bcast(comm, &call) == COLLTOPO_SUCCESS) {
        EXPECT_EQ(vector, std::vector<std::int64_t>(300, 42));
      }
    }
  });
  // Rank 0 is on host 2, the file's root.
  EXPECT_EQ(std::ranges::count_if(job.said, [](const std::string& line) { return line.find("file:") != line.npos; }),
            1);
}

TEST(MachineNetwork, is_a_spec_or_a_file_with_modifiers) {
  const std::string path = testing::TempDir() + "filed_network.json";
  {
    std::ofstream out(path);
    write_topology(out, topology_of("ring:4"));
  }
  EXPECT_EQ(fingerprint(*machine_network(path)), fingerprint(topology_of("ring:4")));
  EXPECT_EQ(fingerprint(*machine_network(path + "/ranks:2")), fingerprint(topology_of("ring:4/ranks:2")));
  EXPECT_EQ(machine_network("ring:4"), machine_network("ring:4"));  // read once
  EXPECT_THROW(machine_network(path + "/speed:9"), Error);
}

// Every communicator asks what the network says of the machine; nobody looks at its links, or at the file, once more.
TEST(MachineNetwork, is_looked_at_once_for_what_its_links_say) {
  const std::string path = testing::TempDir() + "links_of_network.json";
  const auto write = [&](const char* spec) {
    std::ofstream out(path);
    write_topology(out, topology_of(spec));
  };
  write("ring:4/bandwidth:8Gbps");
  EXPECT_EQ(machine_links(path).bandwidth_network, 1e9);
  EXPECT_EQ(machine_links(path), link_constants(*machine_network(path)));
  write("ring:4/bandwidth:16Gbps/latency:5us");
  EXPECT_EQ(machine_links(path).bandwidth_network, 1e9);
  machine_network_now(path);
  EXPECT_EQ(machine_links(path).bandwidth_network, 2e9);
  EXPECT_EQ(machine_links(path), link_constants(*machine_network(path)));
}

TEST(ListedHosts, come_from_a_file_or_a_list) {
  const std::string path = testing::TempDir() + "filed_hosts";
  std::ofstream(path) << "node2 slots=4\n# a remark\n\nnode1 # another\n";
  EXPECT_THAT(listed_hosts(path), ElementsAre("node2", "node1"));
  EXPECT_THAT(listed_hosts("a,b"), ElementsAre("a", "b"));
  EXPECT_THROW(listed_hosts(","), Error);
}

TEST(WithRanksText, is_what_the_modifier_reads) {
  for (const std::vector<int>& ranks_on : std::vector<std::vector<int>>{{1, 1, 1}, {2, 2, 2}, {2, 1, 0}, {0, 0, 3}})
    EXPECT_EQ(fingerprint(topology_of(with_ranks_text("ring:3", ranks_on))),
              fingerprint(with_ranks(topology_of("ring:3"), ranks_on)));
}

TEST(PlacementOn, nodes_are_hosts_where_every_host_has_ranks) {
  const std::shared_ptr<const Topology> torus = machine_network("torus:2x2");
  const std::vector<int> sides = {2, 2};
  // Nodes as they first come, which is not the order of hosts.
  const Placement whole = placement_on(torus, {0, 1, 2, 3}, std::vector<NodeId>{3, 1, 0, 2}, sides);
  EXPECT_THAT(whole.node_of, ElementsAre(3, 1, 0, 2));
  EXPECT_EQ(whole.dimensions, sides);
  ASSERT_NE(whole.network, nullptr);
  EXPECT_EQ(whole.network->path(0, 1).size(), 1u);
  // A library that takes the ranks of a host apart.
  const Placement apart =
      placement_on(torus, {0, 1, 2, 3, 4, 5, 6, 7}, std::vector<NodeId>{0, 0, 1, 1, 2, 2, 3, 3}, sides);
  EXPECT_THAT(apart.node_of, ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_EQ(apart.dimensions, sides);
  EXPECT_NE(apart.network, nullptr);
}

TEST(PlacementOn, a_part_of_the_machine_has_no_sides) {
  const std::shared_ptr<const Topology> torus = machine_network("torus:2x2");
  const Placement part = placement_on(torus, {0, 0, 1, 1}, std::vector<NodeId>{1, 1, 3, 3}, {2, 2});
  EXPECT_THAT(part.node_of, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(part.dimensions, IsEmpty());
  ASSERT_NE(part.network, nullptr);
  EXPECT_EQ(part.network->nodes(), 2);
  // As many nodes as hosts, but not on all of them.
  const Placement apart = placement_on(torus, {0, 1, 2, 3}, std::vector<NodeId>{0, 0, 3, 3}, {2, 2});
  EXPECT_THAT(apart.node_of, ElementsAre(0, 1, 2, 3));
  const Placement unknown = placement_on(nullptr, {0, 1, 2, 3}, {}, {2, 2});
  EXPECT_EQ(unknown.network, nullptr);
  EXPECT_THAT(unknown.dimensions, ElementsAre(2, 2));
}

}  // namespace
}  // namespace colltopo
