// The binary schedule file: the same meaning and proof as the text, read by section, and what is said of damage.
#include <gmock/gmock.h>

#include <fstream>
#include <random>
#include <sstream>

#include "colltopo/routed.h"
#include "colltopo/text.h"
#include "colltopo/verify_sections.h"
#include "errors.h"
#include "networks.h"
#include "schedules.h"

namespace colltopo {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string binary_of(const SectionedSchedule& schedule) {
  std::ostringstream out;
  write_binary(out, schedule);
  return out.str();
}
std::string binary_of(const Schedule& schedule) { return binary_of(sections_of(schedule)); }

Schedule read(const std::string& bytes) {
  std::istringstream in(bytes);
  return read_schedule(in, "FILE");
}

std::string text_of(const Schedule& schedule) {
  std::ostringstream out;
  write_schedule(out, schedule);
  return out.str();
}

Schedule proved(Schedule schedule) {
  schedule.proof = proof_of(verify(schedule));
  return schedule;
}

SectionedSchedule routed(const Topology& topology, std::uint32_t seed = 1, Chunk chunks = 6) {
  return routed_sections("routed", topology, chunked(topology, random_routing(topology, seed, 3), chunks, 0),
                         LayerMethod::lash_sequential);
}

/// All collectives, scratch, several runs of an op, lanes, routes.
std::vector<Schedule> samples() {
  std::vector<Schedule> all;
  for (const Algorithm& algorithm : algorithms())
    for (const Collective collective : algorithm.collectives) {
      const Shape shape{collective, 8, algorithm.chunks({collective, 8, 1, 0}, {}), rooted(collective) ? 3 : 0};
      if (algorithm.refusal(shape, {}).empty()) all.push_back(proved(generate(algorithm, shape, {})));
    }
  for (std::uint32_t seed = 1; seed <= 3; ++seed)
    all.push_back(proved(whole(routed(random_network(seed, 7, 2), seed))));
  return all;
}

TEST(BinaryFile, means_what_the_text_means) {
  for (const Schedule& schedule : samples()) {
    const std::string bytes = binary_of(schedule);
    const Schedule back = read(bytes);
    EXPECT_TRUE(back == schedule) << schedule.name;
    EXPECT_EQ(text_of(back), text_of(schedule)) << schedule.name;
    std::istringstream in(bytes);
    EXPECT_EQ(read_header(in, "FILE").proof, schedule.proof);
    for (Rank rank = 0; rank < schedule.shape.ranks; ++rank) {
      std::istringstream again(bytes);
      EXPECT_TRUE(read_program(again, "FILE", rank) == schedule.programs[static_cast<std::size_t>(rank)]);
    }
  }
}

// Paths by lot share few links with their neighbours; a flow's files are smaller still.
TEST(BinaryFile, has_a_fifth_of_the_bytes_of_the_text) {
  const Schedule schedule = whole(routed(topology_of("kautz:24:3"), 1, 1));
  EXPECT_LT(5 * binary_of(schedule).size(), text_of(schedule).size());
}

TEST(BinaryFile, is_read_by_section) {
  const std::string path = testing::TempDir().append("by_section.sched");
  const Topology topology = topology_of("torus:3x4");
  const SectionedSchedule made = routed(topology);
  {
    std::ofstream out(path, std::ios::binary);
    write_binary(out, made);
  }
  EXPECT_TRUE(is_in_sections(path));
  ScheduleFile file(path);
  const SectionedSchedule read = *file.sections();
  EXPECT_TRUE(read.has_routes);
  EXPECT_EQ(read.steps, 1);
  for (Rank rank = 0; rank < 12; ++rank) {
    EXPECT_TRUE(read.program(rank) == made.program(rank));
    EXPECT_EQ(read.routes(rank), made.routes(rank));
  }
  EXPECT_TRUE(verify(read).valid());
  EXPECT_EQ(examine_on(read, topology).violations.size(), 0U);
  std::remove(path.c_str());
}

TEST(BinaryFile, no_text_file_is_one) {
  const std::string path = testing::TempDir().append("text.sched");
  std::ofstream(path) << text_of(samples().front());
  EXPECT_FALSE(is_in_sections(path));
  EXPECT_FALSE(ScheduleFile(path).sections());
  EXPECT_FALSE(is_in_sections(std::string(path).append("not")));
  std::remove(path.c_str());
}

TEST(BinaryFile, cut_anywhere_is_refused) {
  const std::string bytes = binary_of(routed(random_network(3, 5, 1)));
  for (std::size_t length = 25; length < bytes.size(); ++length)
    EXPECT_THAT(error_from([&] { read(bytes.substr(0, length)); }), StartsWith("FILE:")) << length;
  EXPECT_THAT(error_from([&] { read(bytes.substr(0, bytes.size() - 1)); }),
              AllOf(HasSubstr("the file ends without its trailer, expected 32 bytes that begin with \"topo-end\""),
                    HasSubstr("copy the file again")));
}

TEST(BinaryFile, altered_anywhere_is_refused) {
  const std::string bytes = binary_of(routed(random_network(3, 5, 1)));
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const int bit : {0, 3, 7}) {
      std::string altered = bytes;
      altered[at] = static_cast<char>(altered[at] ^ (1 << bit));
      EXPECT_THAT(error_from([&] { read(altered); }), StartsWith("FILE:")) << at;
    }
}

TEST(BinaryFile, says_where_it_was_altered) {
  const SectionedSchedule made = routed(random_network(3, 5, 1));
  const std::string bytes = binary_of(made);
  const std::size_t header = bytes.find('\n', bytes.find("\nsections ") + 1) + 1;
  std::string altered = bytes;
  altered[header + 4] ^= 1;
  EXPECT_THAT(
      error_from([&] { read(altered); }),
      AllOf(StartsWith(std::string("FILE: byte ").append(std::to_string(header)).append(": section of rank 0: seal ")),
            HasSubstr("the file was altered here")));
  // A rank that does not read that section does not see it.
  std::istringstream in(altered);
  EXPECT_TRUE(read_program(in, "FILE", 1) == made.program(1));
  const std::string longer = std::string(bytes).append("x");
  EXPECT_THAT(error_from([&] { read(longer); }), HasSubstr("the file ends without its trailer"));
}

TEST(BinaryFile, another_version_is_named) {
  const std::string made = binary_of(routed(random_network(3, 5, 1)));
  std::string bytes("topo-schedule-binary 2 ~00000000");
  bytes.append(made, made.find('\n'));
  EXPECT_EQ(error_from([&] { read(bytes); }),
            "FILE:1: 'topo-schedule-binary 2', expected \"topo-schedule-binary 1\"; another version of colltopo made "
            "this file: this one cannot read it");
}

TEST(BinaryFile, of_a_thousand_mutations_none_is_more_than_refused) {
  const std::string bytes = binary_of(routed(random_network(2, 6, 2)));
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    std::string altered = bytes;
    for (int k = 0; k < 4; ++k) {
      const std::size_t at = random() % altered.size();
      if (random() % 3 == 0)
        altered.erase(at, random() % 20);
      else if (random() % 2 == 0)
        altered.insert(at, altered.substr(random() % altered.size(), random() % 20));
      else
        altered[at] = static_cast<char>(random());
      if (altered.empty()) altered.assign(1, 'x');
    }
    if (altered == bytes) continue;
    EXPECT_NE(error_from([&] { read(altered); }), "");
  }
}

}  // namespace
}  // namespace colltopo
