// `colltopo explain` tells what the component does: the same choice as a communicator's, over many cases.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "colltopo/colltopo.h"
#include "comm/constants.h"
#include "comm/decisions.h"

#pragma GCC diagnostic ignored "-Wrestrict"  // of strings that are joined, falsely (GCC 12, bug 105651)

namespace colltopo {
namespace {

struct Case {
  const char* collective;
  int ranks, per_node;
  std::vector<std::string> settings;
  bool in_turn = false;  // ranks go round the nodes

  int node_of(int rank) const { return in_turn ? rank % ((ranks - 1) / per_node + 1) : rank / per_node; }
};

// Where explain runs, and the first node of what is made up.
std::string own_host() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return without_domain(host.data());
}

std::string node_name(int node) { return node == 0 ? own_host() : "node" + std::to_string(node); }

// One rank of a made-up communicator whose others find what it finds: what it receives is what it sent last.
struct Imagined {
  const Case& job;
  std::string said;
  struct Expected {
    char* data;
    std::size_t bytes;
  };
  std::vector<char> sent = {};
  std::deque<Expected> expected = {};

  colltopo_callbacks callbacks() {
    colltopo_callbacks c{};
    c.context = this;
    c.send = [](void* context, const void* data, size_t bytes, int, int, int, void** request) {
      const auto* const first = static_cast<const char*>(data);
      static_cast<Imagined*>(context)->sent.assign(first, first + bytes);
      *request = nullptr;
      return 0;
    };
    c.recv = [](void* context, void* data, size_t bytes, int, int, int, void** request) {
      std::deque<Expected>& waiting = static_cast<Imagined*>(context)->expected;
      *request = &waiting.emplace_back(Expected{static_cast<char*>(data), bytes});
      return 0;
    };
    c.test = [](void* context, void** request) {
      const std::vector<char>& last = static_cast<Imagined*>(context)->sent;
      const auto* const one = static_cast<Expected*>(*request);
      // What comes before anything was sent is larger than all that ranks agree on.
      std::fill_n(one->data, one->bytes, '\x7f');
      if (last.size() == one->bytes) std::copy_n(last.begin(), one->bytes, one->data);
      *request = nullptr;
      return 0;
    };
    c.progress = [](void*) {};
    c.places_are_local = 1;
    c.locality = [](void* context, int, int* group_of) {
      const auto& all = *static_cast<Imagined*>(context);
      for (int rank = 0; rank < all.job.ranks; ++rank) group_of[rank] = all.job.node_of(rank);
      return 0;
    };
    c.host_names = [](void* context, std::size_t size, char* names) {
      const auto& all = *static_cast<Imagined*>(context);
      for (int rank = 0; rank < all.job.ranks; ++rank) {
        const std::string name = node_name(all.job.node_of(rank));
        std::copy_n(name.c_str(), name.size() + 1, names + static_cast<std::size_t>(rank) * size);
      }
      return 0;
    };
    c.say = [](void* context, int, const char* line) {
      std::string& all = static_cast<Imagined*>(context)->said;
      all += line;
      all += '\n';
    };
    c.previous = "the next component";
    return c;
  }
};

// The collectives in the order of the C API.
constexpr std::array<const char*, 6> k_collectives_of_api = {"alltoall",  "allgather", "reduce_scatter",
                                                             "allreduce", "bcast",     "reduce"};

// A rank's communicator with the settings of a case.
class Made {
 public:
  explicit Made(const Case& one) : imagined_{one, ""}, callbacks_(imagined_.callbacks()) {
    comm_ = colltopo_comm_create(0, one.ranks, &callbacks_);
    EXPECT_EQ(colltopo_comm_set(comm_, "verbose", "1"), COLLTOPO_SUCCESS);
    for (const std::string& setting : one.settings) {
      const std::size_t equals = setting.find('=');
      EXPECT_EQ(colltopo_comm_set(comm_, setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str()),
                COLLTOPO_SUCCESS)
          << setting;
    }
    while (std::string(k_collectives_of_api[static_cast<std::size_t>(collective_)]) != one.collective) ++collective_;
  }
  ~Made() { colltopo_comm_free(comm_); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  // "alltoall of 8 bytes on 64 ranks, 8 nodes: tra radix=4 (model, predicted 3 us)" -> "tra radix=4".
  std::string decided(std::size_t bytes, bool* served) {
    imagined_.said.clear();
    colltopo_call call{};
    call.count = bytes;
    call.element_size = 1;
    call.op_properties = COLLTOPO_OP_COMMUTATIVE | COLLTOPO_OP_ASSOCIATIVE_BITS;
    *served = colltopo_serves(comm_, collective_, &call) != 0;
    const std::string marker = " nodes: ";
    const std::string_view collective = k_collectives_of_api[static_cast<std::size_t>(collective_)];
    const std::size_t line = imagined_.said.find(std::string(collective).append(" of "));
    const std::size_t begin = line == std::string::npos ? line : imagined_.said.find(marker, line);
    if (begin == std::string::npos) return "fallback";
    std::string name = imagined_.said.substr(begin + marker.size());
    name = name.substr(0, std::min(name.find(" ("), name.find('\n')));
    return name;
  }

 private:
  Imagined imagined_;
  colltopo_callbacks callbacks_;
  colltopo_comm* comm_ = nullptr;
  int collective_ = 0;
};

std::string decided(const Case& one, std::size_t bytes, bool* served) { return Made(one).decided(bytes, served); }

std::vector<std::string> explained(const Case& one, const std::string& sizes) {
  std::ostringstream line;
  line << COLLTOPO_COMMAND << " explain " << one.collective << " --ranks " << one.ranks << " --ranks-per-node "
       << one.per_node << " --bytes " << sizes << " --json";
  for (const std::string& setting : one.settings) line << " --set '" << setting << "'";
  if (one.in_turn) line << " --map-by node";
  const std::string command = line.str();
  FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), got);
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::vector<std::string> names;
  const nlohmann::json told = nlohmann::json::parse(text);
  for (const auto& result : told["results"]) names.push_back(result["algorithm"]);
  return names;
}

void expect_agreement(const Case& one) {
  const std::vector<std::size_t> sizes = {1, 8, 100, 1024, 5000, 65536, 1000000};
  std::string list;
  for (const std::size_t bytes : sizes) list += (list.empty() ? "" : ",") + std::to_string(bytes);
  const std::vector<std::string> told = explained(one, list);
  ASSERT_EQ(told.size(), sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    bool served = false;
    const std::string done = decided(one, sizes[i], &served);
    EXPECT_EQ(told[i], done) << one.collective << " of " << sizes[i] << " bytes on " << one.ranks << " ranks, "
                             << one.per_node << " per node";
    EXPECT_EQ(told[i] != "fallback", served);
  }
}

TEST(Explain, agrees_with_the_component_on_what_the_model_chooses) {
  for (const char* collective : k_collectives_of_api) {
    for (const auto& [ranks, per_node] : std::vector<std::pair<int, int>>{{1, 1}, {7, 7}, {8, 1}, {24, 4}, {60, 8}})
      expect_agreement({collective, ranks, per_node, {}});
    expect_agreement({collective, 16, 1, {"topology=torus:4x4", "bandwidth_network=1GBps"}});
    expect_agreement({collective, 16, 1, {"topology=torus:8x8"}});  // part of a machine
    expect_agreement({collective, 32, 2, {"topology=torus:4x4", "latency_network=20us"}});
    for (const auto& [ranks, per_node] :
         std::vector<std::pair<int, int>>{{16, 4}, {22, 4}})  // 6 nodes: 4, 4, 4, 4, 3, 3
      expect_agreement({collective, ranks, per_node, {}, true});
    expect_agreement({collective, 32, 2, {"topology=torus:4x4", "latency_network=20us"}, true});
  }
}

TEST(Explain, agrees_with_the_component_on_what_is_forced) {
  const std::vector<std::string> alltoall = {
      "pairwise", "linear", "tra", "tra:radix=100", "tra2", "tra2:group=3", "tra2:group=2,intra-radix=2",
      "fallback", "auto"};
  for (const std::string& value : alltoall) {
    for (const int ranks : {7, 16}) expect_agreement({"alltoall", ranks, 4, {"alltoall_algorithm=" + value}});
  }
  for (const std::string value : {"ring", "recursive-doubling", "swing", "swing:multiport=1", "bruck:radix=3"})
    expect_agreement({"allgather", 12, 1, {"allgather_algorithm=" + value}});
  for (const std::string value : {"recursive-doubling", "swing-latency"})
    expect_agreement({"allreduce", 16, 1, {"allreduce_algorithm=" + value, "topology=torus:4x4"}});
  expect_agreement({"alltoall", 24, 4, {"alltoall_radix=3", "alltoall_intra_radix=2"}});
  expect_agreement({"alltoall", 24, 4, {"group=6"}});
}

TEST(Explain, agrees_with_the_component_on_rules) {
  const std::string path = testing::TempDir() + "explain_test_rules.json";
  std::ofstream(path) << R"({"rule_file_version": 3, "collectives": {"alltoall": [{"rules": [
    {"msg_size_max": 64, "alg": "tra:radix=2"}, {"msg_size_max": 4096, "alg": "fallback"},
    {"msg_size_min": 10000, "alg": "pairwise"}]}]}})";
  expect_agreement({"alltoall", 16, 4, {"rules=" + path}});
  std::remove(path.c_str());
}

TEST(Explain, agrees_with_the_component_on_a_file_of_decisions_and_on_who_chooses) {
  const std::string path = testing::TempDir() + "explain_test_decisions.txt";
  std::vector<int> node_of;
  for (int rank = 0; rank < 24; ++rank) node_of.push_back(rank / 4);
  std::ofstream(path) << "colltopo-decisions 1\ncommunicator " << kind_of_communicator(node_of, "")
                      << "\nalltoall 8 10 0 tuned tra:radix=3 tra:radix=3 1e-6 fallback 2e-6\n"
                      << "alltoall 1024 1218 0 tuned fallback fallback 1e-5 linear -1\n"
                      << "alltoall 65536 77936 0 tuned pairwise pairwise 1e-3 fallback 2e-3\n";
  for (const std::string choice : {"measured", "model", "off"})
    for (const char* collective : {"alltoall", "bcast"})
      expect_agreement({collective, 24, 4, {"decisions=" + path, "choice=" + choice}});
  const std::vector<std::string> told = explained({"alltoall", 24, 4, {"decisions=" + path}}, "8,1024,65536");
  EXPECT_EQ(told, (std::vector<std::string>{"tra radix=3", "fallback", "pairwise"}));
  std::remove(path.c_str());
}

TEST(Explain, agrees_with_the_component_on_measured_constants) {
  const std::string path = testing::TempDir() + "explain_test_constants.json";
  std::remove(path.c_str());
  std::vector<std::string> hosts;
  for (int node = 0; node < 24; ++node) hosts.push_back(node_name(node));
  write_constants(path, {hosts,
                         4,
                         transport_of_environment(),
                         this_version(),
                         {{"latency_node", 3e-5},
                          {"latency_network", 4e-5},
                          {"bandwidth_network", 1e9},
                          {"bandwidth_cut", 2e7},
                          {"message_overhead", 2e-5}},
                         {}});
  for (const char* collective : k_collectives_of_api)
    for (const auto& [ranks, per_node] : std::vector<std::pair<int, int>>{{16, 16}, {16, 4}, {24, 1}})
      expect_agreement({collective, ranks, per_node, {"constants=" + path}});
  expect_agreement({"allreduce", 32, 2, {"constants=" + path, "topology=torus:4x4"}});
  std::remove(path.c_str());
}

TEST(Explain, agrees_with_the_component_on_measured_times) {
  const std::string path = testing::TempDir() + "explain_test_times.json";
  std::remove(path.c_str());
  // By the model tra is best; here it is not.
  ConstantsRecord record{{}, 4, transport_of_environment(), this_version(), {{"bandwidth_copy", 1e10}}, {}};
  for (int node = 0; node < 4; ++node) record.hosts.push_back(node_name(node));
  std::vector<int> node_of;
  for (int rank = 0; rank < 16; ++rank) node_of.push_back(rank / 4);
  record.places = places_of(node_of);
  record.times.push_back({"alltoall", "tra", {{8, 1e-3}, {1024, 2e-3}, {16384, 9e-3}}});
  record.times.push_back({"alltoall", "tra2", {{8, 1e-3}, {1024, 2e-3}, {16384, 9e-3}}});
  record.times.push_back({"alltoall", "linear", {{8, 1e-5}, {1024, 2e-5}, {16384, 9e-4}}});
  record.times.push_back({"alltoall", "pairwise", {{8, 2e-4}, {1024, 3e-4}, {16384, 1e-3}}});
  record.times.push_back({"allreduce", "recursive-doubling", {{8, 1e-4}, {1024, 1e-3}, {65536, 1e-2}}});
  record.times.push_back({"allreduce", "fallback", {{8, 1.4e-4}, {1024, 8e-4}, {65536, 2e-2}}, "tuned"});
  record.times.push_back({"reduce", "fallback", {{8, 2e-4}, {65536, 3e-2}}, "tuned"});
  write_constants(path, record);
  const std::vector<std::string> off = {"constants=off"}, on = {"constants=" + path};
  EXPECT_NE(explained({"alltoall", 16, 4, off}, "8,64"), (std::vector<std::string>{"linear", "linear"}));
  EXPECT_EQ(explained({"alltoall", 16, 4, on}, "8,64"), (std::vector<std::string>{"linear", "linear"}));
  for (const char* collective : k_collectives_of_api) expect_agreement({collective, 16, 4, on});
  // A row that another version knows spoils nothing.
  record.times.push_back({"alltoall", "of-tomorrow:x=1", {{8, 1e-7}}});
  const std::string later = path + ".later";
  write_constants(later, record);
  EXPECT_EQ(read_constants(later).front().times.size(), record.times.size());
  EXPECT_EQ(explained({"alltoall", 16, 4, {"constants=" + later}}, "8"), (std::vector<std::string>{"linear"}));
  std::remove(later.c_str());
  // What a user sets goes before.
  EXPECT_NE(explained({"alltoall", 16, 4, {on[0], "bandwidth_copy=10GBps"}}, "8"),
            (std::vector<std::string>{"linear"}));
  // Of ranks that lie otherwise the times say nothing.
  EXPECT_EQ(explained({"alltoall", 8, 4, on}, "8"), explained({"alltoall", 8, 4, {"bandwidth_copy=10GBps"}}, "8"));
  std::remove(path.c_str());
}

TEST(Explain, a_named_algorithm_takes_the_best_of_its_variants_at_every_size) {
  for (const auto& [collective, name] : std::vector<std::pair<std::string, std::string>>{
           {"alltoall", "tra"}, {"allgather", "swing"}, {"bcast", "swing"}, {"allreduce", "mirrored"}}) {
    const std::vector<std::string> settings = {collective + "_algorithm=" + name,
                                               "topology=torus:4x4/bandwidth:50Mbps"};
    const Case one{collective.c_str(), 16, 1, settings};
    Made made(one);
    bool served = false;
    const std::string small = made.decided(8, &served), large = made.decided(65536, &served);
    EXPECT_TRUE(served);
    EXPECT_NE(small, large) << collective;
    EXPECT_EQ((std::vector<std::string>{small, large}), explained(one, "8,65536")) << collective;
    EXPECT_EQ(made.decided(8, &served), "fallback") << "decided once";  // nothing is said
  }
}

}  // namespace
}  // namespace colltopo
