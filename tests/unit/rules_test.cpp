// Rules files: what matches, and what is said about a file that is wrong.

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "colltopo/error.h"
#include "comm/rules.h"

namespace colltopo {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Rules rules_of(const std::string& text) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + "_rules_test.json";
  std::ofstream(path) << text;
  return Rules::read(path);
}

TEST(Rules, the_first_that_fits_wins) {
  const Rules rules = rules_of(R"({"rule_file_version": 3, "collectives": {
    "alltoall": [
      {"comm_size_min": 8, "comm_rank_distribution": "one-per-node", "rules": [{"alg": "pairwise"}]},
      {"topology": "torus:4x4", "rules": [{"alg": "linear"}]},
      {"comm_size_min": 8, "comm_size_max": "inf", "rules": [
        {"msg_size_max": 256, "alg": "tra:radix=4"}, {"msg_size_max": 4096, "alg": "tra2", "faninout": 0, "reqs": 0}]}],
    "reducescatter": [{"rules": [{"alg": "ring"}]}]}})");
  RuleQuery query{Collective::alltoall, 16, true, false, "", 10};
  const auto chosen = [&] {
    const Rule* rule = rules.match(query);
    return rule == nullptr ? std::string("none") : std::string(rule->choice.algorithm->name);
  };
  EXPECT_EQ(chosen(), "pairwise");
  query.one_per_node = false;
  EXPECT_EQ(chosen(), "tra");
  EXPECT_EQ(rules.match(query)->choice.values.find("radix"), 4);
  query.bytes = 257;
  EXPECT_EQ(chosen(), "tra2");
  query.bytes = 4097;
  EXPECT_EQ(chosen(), "none");
  query.topology = "torus:4x4";
  EXPECT_EQ(chosen(), "linear");
  query.topology.clear();
  query.ranks = 7;
  query.bytes = 10;
  EXPECT_EQ(chosen(), "none");
  query.collective = Collective::reduce_scatter;
  EXPECT_EQ(chosen(), "ring");
}

TEST(Rules, faults_name_the_place_in_the_file) {
  const auto expect = [](const std::string& text, const std::string& message) {
    EXPECT_THAT([&] { rules_of(text); }, ThrowsMessage<Error>(HasSubstr("rules_test.json" + message))) << text;
  };
  expect("{\n\"collectives\": {\n]", ":3: syntax error");
  expect("[]", ": must be an object");
  expect("{}", ": has no 'collectives'");
  expect(R"({"collectives": {}, "speed": 1})", ": has 'speed'; must be one of rule_file_version, module, collectives");
  expect(R"({"rule_file_version": 2, "collectives": {}})", ": rule_file_version is 2; must be 3");
  expect(R"({"collectives": {"scan": []}})", ": collectives has 'scan'; must be one of alltoall");
  expect(R"({"collectives": {"bcast": {}}})", ": collectives.bcast must be an array");
  expect(R"({"collectives": {"bcast": [{}]}})", ": collectives.bcast[0] has no 'rules'");
  expect(R"({"collectives": {"bcast": [{"comm_size_min": -1, "rules": []}]}})",
         ": collectives.bcast[0].comm_size_min is -1; must be a number from 0");
  expect(R"({"collectives": {"bcast": [{"comm_rank_distribution": "odd", "rules": []}]}})",
         ": collectives.bcast[0].comm_rank_distribution is 'odd'; must be any, one-per-node or single-node");
  expect(R"({"collectives": {"bcast": [{"rules": [{"msg_size_min": 1}]}]}})",
         ": collectives.bcast[0].rules[0] has no 'alg'");
  expect(R"({"collectives": {"bcast": [{"rules": [{"alg": 3}]}]}})",
         ": collectives.bcast[0].rules[0].alg is 3; must be a string");
  expect(R"({"collectives": {"bcast": [{"rules": [{"alg": "tra"}]}]}})",
         ": collectives.bcast[0].rules[0].alg is 'tra'; must be one of auto, fallback");
  EXPECT_THAT([] { Rules::read("/nowhere/rules.json"); },
              ThrowsMessage<Error>(HasSubstr("/nowhere/rules.json: cannot be read")));
}

TEST(Rules, files_that_differ_have_different_checksums) {
  EXPECT_NE(rules_of(R"({"collectives": {}})").checksum(), rules_of(R"({"collectives":  {}})").checksum());
  EXPECT_GE(rules_of(R"({"collectives": {}})").checksum(), 0);
}

}  // namespace
}  // namespace colltopo
