// Into how many segments calls by schedule files are cut, and that all values are right whatever the number.
#include <unistd.h>

#include <gmock/gmock.h>

#include <cstdint>
#include <fstream>

#include "colltopo/forest.h"
#include "colltopo/text.h"
#include "colltopo/verify.h"
#include "ranks.h"

namespace colltopo {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int k_ranks = 4;

/// Four hosts in a row: trees of height 3.
std::string file_of(Collective collective) {
  const Topology row = topology_of("mesh:4");
  const std::string path =
      testing::TempDir() + "segments_" + std::string(name(collective)) + std::to_string(getpid()) + ".sched";
  std::ofstream out(path);
  Schedule schedule = forest_schedule(row, pack_forest(row, {.collective = collective}));
  schedule.proof = proof_of(verify(schedule));
  write_schedule(out, schedule);
  return path;
}

std::int64_t number(int rank, std::size_t i) { return 1000 * rank + static_cast<std::int64_t>(i % 777); }

int add(void*, const void* source, void* target, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i)
    static_cast<std::int64_t*>(target)[i] += static_cast<const std::int64_t*>(source)[i];
  return 0;
}

void allgather(int rank, colltopo_comm* comm, std::size_t count) {
  std::vector<std::int64_t> input, output(k_ranks * count, -1);
  for (std::size_t i = 0; i < count; ++i) input.push_back(number(rank, i));
  colltopo_call call{};
  call.input = input.data();
  call.output = output.data();
  call.count = count;
  call.element_size = sizeof(std::int64_t);
  ASSERT_EQ(colltopo_allgather(comm, &call), COLLTOPO_SUCCESS);
  for (std::size_t i = 0; i < output.size(); ++i)
    ASSERT_EQ(output[i], number(static_cast<int>(i / count), i % count)) << i;
}

void allreduce(int rank, colltopo_comm* comm, std::size_t count) {
  std::vector<std::int64_t> input, output(count, -1);
  for (std::size_t i = 0; i < count; ++i) input.push_back(number(rank, i));
  colltopo_call call{};
  call.input = input.data();
  call.output = output.data();
  call.count = count;
  call.element_size = sizeof(std::int64_t);
  call.reduce = add;
  call.op_properties = COLLTOPO_OP_COMMUTATIVE | COLLTOPO_OP_ASSOCIATIVE_BITS;
  ASSERT_EQ(colltopo_allreduce(comm, &call), COLLTOPO_SUCCESS);
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(output[i], number(0, i) + number(1, i) + number(2, i) + number(3, i)) << i;
}

std::vector<std::string> said_by(const std::map<std::string, std::string>& settings, std::size_t count) {
  const std::string gather = file_of(Collective::allgather), reduce = file_of(Collective::allreduce);
  Ranks job(k_ranks);
  job.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "verbose", "1");
    colltopo_comm_set(comm, "allgather_algorithm", ("file:" + gather).c_str());
    colltopo_comm_set(comm, "allreduce_algorithm", ("file:" + reduce).c_str());
    for (const auto& [name, value] : settings)
      ASSERT_EQ(colltopo_comm_set(comm, name.c_str(), value.c_str()), COLLTOPO_SUCCESS) << colltopo_last_error();
    for (int i = 0; i < 2; ++i) {
      allgather(rank, comm, count);
      allreduce(rank, comm, count);
    }
  });
  std::vector<std::string> lines;
  for (const std::string& line : job.said)
    if (line.find(" segments") != std::string::npos) lines.push_back(line);
  return lines;
}

TEST(FiledSegments, large_calls_are_cut_as_the_height_of_the_trees_asks_for) {
  // Messages of 512 KiB; 4% would be 50 segments, but 32 leave 16 KiB in a message.
  const auto lines = said_by({}, 1 << 16);
  EXPECT_THAT(lines, Contains(HasSubstr("allgather of 524288 bytes: 32 segments")));
  EXPECT_THAT(lines, Contains(HasSubstr("allreduce of 524288 bytes: ")));
  EXPECT_EQ(lines.size(), 2U);  // said once
}

TEST(FiledSegments, small_calls_are_not_cut) { EXPECT_THAT(said_by({}, 100), IsEmpty()); }

TEST(FiledSegments, a_number_of_bytes_goes_before) {
  EXPECT_THAT(said_by({{"segment_bytes", "64K"}}, 1 << 16),
              Contains(HasSubstr("allgather of 524288 bytes: 8 segments")));
  EXPECT_THAT(said_by({{"segment_bytes", "0"}}, 1 << 16), IsEmpty());
  EXPECT_EQ(said_by({{"segment_bytes", "auto"}}, 1 << 16).size(), 2U);
}

TEST(FiledSegments, are_not_for_steps) { EXPECT_THAT(said_by({{"pace", "steps"}}, 1 << 16), IsEmpty()); }

}  // namespace
}  // namespace colltopo
