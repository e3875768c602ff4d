// Communicators that go on with files that change while they are used.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <thread>

#include "colltopo/topology.h"
#include "comm/file_stamps.h"
#include "comm/watch.h"
#include "folders.h"
#include "ranks.h"

namespace colltopo {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

using Settings = std::map<std::string, std::string>;

/// Four ranks on as many hosts that make all-to-alls of 4 KiB, every value checked, until rank 0 lets them stop.
class Loop {
 public:
  explicit Loop(Settings settings) : job(4), settings_(std::move(settings)) {
    job.node_of = {0, 1, 2, 3};
    job.host_names = {"a", "b", "c", "d"};
    settings_.insert({{"verbose", "1"}, {"choice", "model"}, {"watch", "1"}, {"hosts", "a,b,c,d"}});
  }

  /// `stops`, on rank 0 after a call, also does what is to be done meanwhile. At most 120 s.
  void run(const std::function<bool()>& stops) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    job.run([&](int rank, colltopo_comm* comm) {
      for (const auto& [name, value] : settings_)
        ASSERT_EQ(colltopo_comm_set(comm, name.c_str(), value.c_str()), COLLTOPO_SUCCESS) << colltopo_last_error();
      bool last = false;
      while (!call(rank, comm, last)) {
        if (rank != 0) continue;
        last = stops();
        if (std::chrono::steady_clock::now() > end) {
          ADD_FAILURE() << "nothing changed within 120 s";
          last = true;
        }
        std::this_thread::sleep_for(milliseconds(1));
      }
    });
  }

  Ranks job;

 private:
  static constexpr std::size_t k_count = 512;  // elements of a block
  static constexpr std::int64_t k_last = 1'000'000'000;

  /// Every rank learns from rank 0's block whether this was the last call.
  static bool call(int rank, colltopo_comm* comm, bool last) {
    const auto value = [](int from, int to, std::size_t i) { return 1000 * from + 10000 * to + std::int64_t(i); };
    std::vector<std::int64_t> input, output(4 * k_count, -1);
    for (int to = 0; to < 4; ++to)
      for (std::size_t i = 0; i < k_count; ++i) input.push_back(value(rank, to, i) + (last ? k_last : 0));
    colltopo_call call{};
    call.input = input.data();
    call.output = output.data();
    call.count = k_count;
    call.element_size = sizeof(std::int64_t);
    call.previous_is_wrong = 1;  // trials are among our own
    EXPECT_EQ(colltopo_alltoall(comm, &call), COLLTOPO_SUCCESS);
    const bool was_last = output[0] >= k_last;
    for (int from = 0; from < 4; ++from)
      for (std::size_t i = 0; i < k_count; ++i)
        EXPECT_EQ(output[static_cast<std::size_t>(from) * k_count + i],
                  value(from, rank, i) + (was_last && from == 0 ? k_last : 0));
    return was_last;
  }

  Settings settings_;
};

void replace(const std::string& path, const std::string& text) {
  std::ofstream(path + ".draft") << text;
  std::filesystem::rename(path + ".draft", path);
}

std::string text_of_topology(const std::string& spec) {
  std::ostringstream out;
  write_topology(out, topology_of(spec));
  return out.str();
}

TEST(Watch, lets_a_schedule_that_is_put_into_the_folder_serve) {
  const std::string folder = folder_named("watch_new");
  Loop loop({{"topology", "ring:4"}, {"schedules", folder}});
  int calls = 0;
  loop.run([&] {
    if (++calls == 20) file_schedule(folder + "/alltoall.sched", "ring:4");
    return loop.job.has_said("file:" + folder);
  });
  EXPECT_THAT(loop.job.said, Contains(HasSubstr("files have changed: topology, schedules and rules were read again")));
  EXPECT_EQ(loop.job.replacements(), 4);
}

TEST(Watch, measures_anew_what_may_not_hold_any_more) {
  const std::string folder = folder_named("watch_measured");
  Loop loop({{"topology", "ring:4"}, {"schedules", folder}, {"choice", "measured"}, {"trial_after", "1"}});
  bool measured = false;
  loop.run([&] {
    if (!measured && loop.job.has_said("(measured:")) {
      measured = true;
      file_schedule(folder + "/alltoall.sched", "ring:4");
    }
    return measured && loop.job.has_said("file:" + folder);
  });
  EXPECT_EQ(loop.job.replacements(), 4);
}

TEST(Watch, goes_on_with_the_network_that_is_left) {
  const std::string folder = folder_named("watch_topology");
  const std::string topology = folder + "/topology.json";
  replace(topology, text_of_topology("ring:4"));
  file_schedule(folder + "/ring.sched", "ring:4");
  file_schedule(folder + "/without.sched", "ring:4/drop-links:0-1");
  Loop loop({{"topology", topology}, {"schedules", folder}});
  int calls = 0;
  loop.run([&] {
    if (++calls == 20) {
      EXPECT_TRUE(loop.job.has_said("file:" + folder + "/ring.sched"));
      replace(topology, text_of_topology("ring:4/drop-links:0-1"));
    }
    return loop.job.has_said("file:" + folder + "/without.sched");
  });
  EXPECT_EQ(loop.job.replacements(), 4);
}

TEST(Watch, keeps_what_it_has_while_files_are_of_no_use) {
  const std::string folder = folder_named("watch_damaged");
  const std::string topology = folder + "/topology.json";
  replace(topology, text_of_topology("ring:4"));
  file_schedule(folder + "/ring.sched", "ring:4");
  Loop loop({{"topology", topology}, {"schedules", folder}});
  int calls = 0, mended_at = 0;
  loop.run([&] {
    if (++calls == 20) replace(topology, "{ this is no topology");
    if (mended_at == 0 && loop.job.has_said("going on with what was read before")) {
      mended_at = calls;
      EXPECT_EQ(loop.job.replacements(), 0);
      replace(topology, text_of_topology("ring:4/drop-links:0-1"));
    }
    return loop.job.replacements() == 4;
  });
  EXPECT_GT(mended_at, 0);
  EXPECT_THAT(loop.job.said, Contains(HasSubstr("0: files have changed: " + topology)));
}

TEST(Watch, is_off_where_the_setting_says_so) {
  const std::string folder = folder_named("watch_off");
  Loop loop({{"topology", "ring:4"}, {"schedules", folder}, {"watch", "0"}});
  int calls = 0;
  const auto begin = std::chrono::steady_clock::now();
  loop.run([&] {
    if (++calls == 20) file_schedule(folder + "/alltoall.sched", "ring:4");
    return std::chrono::steady_clock::now() - begin > std::chrono::seconds(3);
  });
  EXPECT_THAT(loop.job.said, Not(Contains(HasSubstr("files have changed"))));
}

std::string rules_of_alltoall(const std::string& algorithm) {
  return R"({"rule_file_version": 3, "collectives": {"alltoall": [{"rules": [{"msg_size_max": "inf", "alg": ")" +
         algorithm + R"("}]}]}})";
}

// Half of the ranks ask before, as callers do that must pack.
TEST(Watch, looks_though_every_call_is_left_to_others) {
  const std::string path = folder_named("watch_left") + "/rules.json";
  replace(path, rules_of_alltoall("fallback"));
  Ranks job(4);
  std::vector<int> served_at(4, -1);
  job.run([&](int rank, colltopo_comm* comm) {
    for (const auto& [name, value] : Settings{{"rules", path}, {"watch", "1"}})
      ASSERT_EQ(colltopo_comm_set(comm, name.c_str(), value.c_str()), COLLTOPO_SUCCESS) << colltopo_last_error();
    std::vector<std::int64_t> input(4, rank), output(4, -1);
    colltopo_call call{};
    call.input = input.data();
    call.output = output.data();
    call.count = 1;
    call.element_size = sizeof(std::int64_t);
    int& at = served_at[static_cast<std::size_t>(rank)];
    for (int i = 0; i < 60'000 && at < 0; ++i) {
      if (rank == 0 && i == 20) replace(path, rules_of_alltoall("pairwise"));
      const bool asks = rank % 2 == 1;
      if (asks && colltopo_serves(comm, COLLTOPO_ALLTOALL, &call) == 0) continue;
      const int code = colltopo_alltoall(comm, &call);
      ASSERT_TRUE(code == COLLTOPO_SUCCESS || (code == COLLTOPO_DECLINED && !asks)) << code;
      if (code == COLLTOPO_SUCCESS) at = i;
      std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_THAT(output, testing::ElementsAre(0, 1, 2, 3));
  });
  EXPECT_GT(served_at[0], 20);
  EXPECT_THAT(served_at, testing::Each(served_at[0]));
}

TEST(Watch, counts_calls_and_looks_after_so_many_as_were_agreed_on) {
  Watch watch;
  for (int i = 0; i < 10000; ++i) ASSERT_FALSE(watch.counts(Watch::ticks_of(1 << 30)));
  watch.begin(1, "then");
  int calls = 1;
  while (!watch.counts(Watch::ticks_of(8))) ++calls;
  EXPECT_EQ(calls, 64);
  watch.continues(3);
  EXPECT_FALSE(watch.counts(Watch::ticks_of(8)));
  EXPECT_TRUE(watch.counts(Watch::ticks_of(3 * 4096)));
}

TEST(Watch, takes_a_change_once_it_stands) {
  Watch watch;
  watch.begin(1, "then");
  EXPECT_FALSE(watch.saw("then"));
  EXPECT_FALSE(watch.saw("half"));
  EXPECT_FALSE(watch.saw("now"));
  EXPECT_TRUE(watch.saw("now"));
  watch.read("now");
  EXPECT_FALSE(watch.saw("now"));
}

TEST(FileStamps, differ_for_what_stands_under_a_name) {
  const std::string folder = folder_named("stamps");
  const std::string path = folder + "/a.sched";
  const std::string none = stamp_of_folder(folder), no_file = stamp_of_file(path);
  std::ofstream(path) << "a";
  const std::string one = stamp_of_folder(folder), file = stamp_of_file(path);
  EXPECT_NE(none, one);
  EXPECT_NE(no_file, file);
  replace(path, "b");
  EXPECT_NE(stamp_of_file(path), file);
  EXPECT_NE(stamp_of_folder(folder), one);
  const std::string before_rules = stamp_of_folder(folder);
  std::ofstream(folder + "/rules.json") << "{}";
  EXPECT_NE(stamp_of_folder(folder), before_rules);
}

}  // namespace
}  // namespace colltopo
