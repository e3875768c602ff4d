// The files in which jobs leave something for later ones: decisions and measured constants. Several jobs write them.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "comm/conclusion.h"
#include "comm/constants.h"
#include "comm/decisions.h"
#include "empty_folder.h"
#include "errors.h"

namespace colltopo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Decisions decisions(std::initializer_list<const char*> lines) {
  Decisions all;
  for (const char* const line : lines) all.add(Decisions::outcome_from(line, "test"));
  return all;
}

/// Runs `body(number)` in so many processes at the same time.
template <typename Body>
void in_processes(int count, const Body& body) {
  std::vector<pid_t> children;
  for (int number = 0; number < count; ++number) {
    children.push_back(fork());
    if (children.back() == 0) {
      body(number);
      _exit(0);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

constexpr const char* k_text = R"(colltopo-decisions 1
# made on Monday
communicator 4 ranks
# of small ones
alltoall 8 16 0 tuned linear linear 1e-06
alltoall 16 64 0 tuned linear linear 1e-06

communicator 8 ranks
bcast 8 16 0 tuned binomial binomial 2e-06
# the end
)";

TEST(DecisionFile, keeps_what_others_wrote_and_their_comments) {
  const std::string path = folder_named("decisions_comments") + "/decisions.txt";
  std::ofstream(path) << k_text;
  DecisionFile::add(
      path, "4 ranks",
      decisions({"alltoall 8 16 0 tuned pairwise pairwise 2e-06", "allgather 8 16 0 tuned ring ring 3e-06"}));
  EXPECT_EQ(contents(path), R"(colltopo-decisions 1
# made on Monday
communicator 4 ranks
# of small ones
alltoall 8 16 0 tuned pairwise pairwise 2e-06
alltoall 16 64 0 tuned linear linear 1e-06

allgather 8 16 0 tuned ring ring 3e-06
communicator 8 ranks
bcast 8 16 0 tuned binomial binomial 2e-06
# the end
)");
  DecisionFile::add(path, "16 ranks", decisions({"bcast 8 16 0 - binomial"}));
  EXPECT_THAT(contents(path), HasSubstr("# the end\ncommunicator 16 ranks\nbcast 8 16 0 - binomial\n"));
  DecisionFile::add(path, "16 ranks", decisions({"bcast 16 32 0 - binomial"}));
  EXPECT_THAT(contents(path), HasSubstr("bcast 8 16 0 - binomial\nbcast 16 32 0 - binomial\n"));
  EXPECT_THAT(DecisionFile::read(path).find("4 ranks")->all(), SizeIs(3));
  EXPECT_THAT(DecisionFile::read(path).find("16 ranks")->all(), SizeIs(2));
}

TEST(DecisionFile, of_which_a_decision_stands_twice_has_the_new_one_in_both_places) {
  const std::string path = folder_named("decisions_twice") + "/decisions.txt";
  std::ofstream(path) << "colltopo-decisions 1\ncommunicator 4 ranks\nbcast 8 16 0 - binomial\n"
                         "communicator 8 ranks\ncommunicator 4 ranks\nbcast 8 16 0 - linear\n";
  DecisionFile::add(path, "4 ranks", decisions({"bcast 8 16 0 - chain"}));
  EXPECT_EQ(DecisionFile::read(path).find("4 ranks")->all().front().winner, "chain");
}

TEST(DecisionFile, is_made_where_there_is_none) {
  const std::string path = folder_named("decisions_new") + "/decisions.txt";
  EXPECT_EQ(DecisionFile::read(path).find("4 ranks"), nullptr);
  DecisionFile::add(path, "4 ranks", decisions({"alltoall 8 16 0 tuned pairwise"}));
  EXPECT_THAT(DecisionFile::read(path).find("4 ranks")->all(), SizeIs(1));
}

TEST(DecisionFile, that_is_none_or_broken_is_left_as_it_is) {
  const std::string path = folder_named("decisions_broken") + "/decisions.txt";
  for (const std::string& text : {std::string("my thesis\n"), k_text + std::string("alltoall 8 16")}) {
    std::ofstream(path) << text;
    EXPECT_THAT(error_from([&] { DecisionFile::add(path, "4 ranks", decisions({"bcast 8 16 0 - binomial"})); }),
                HasSubstr("; what was decided is lost"));
    EXPECT_EQ(contents(path), text);
  }
}

TEST(DecisionFile, a_full_disk_leaves_all_earlier_decisions) {
  const std::string path = folder_named("decisions_full") + "/decisions.txt";
  std::ofstream(path) << k_text;
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string said =
        error_from([&] { DecisionFile::add(path, "4 ranks", decisions({"bcast 8 16 0 - binomial"})); });
    _exit(said.ends_with("File too large; the old file is as it was; what was decided is lost") ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents(path), k_text);
}

TEST(DecisionFile, loses_nothing_of_jobs_that_end_at_the_same_time) {
  const std::string path = folder_named("decisions_many") + "/decisions.txt";
  in_processes(6, [&](int number) {
    for (int call = 0; call < 10; ++call)
      DecisionFile::add(path, std::to_string(number) + " ranks",
                        decisions({("bcast " + std::to_string(call) + " 16 0 - binomial").c_str()}));
  });
  for (int number = 0; number < 6; ++number)
    EXPECT_THAT(DecisionFile::read(path).find(std::to_string(number) + " ranks")->all(), SizeIs(10));
}

TEST(DecisionFile, is_whole_after_every_kill) {
  const std::string path = folder_named("decisions_kills") + "/decisions.txt";
  for (int attempt = 0; attempt < 40; ++attempt) {
    const pid_t child = fork();
    for (int call = 0; child == 0; ++call)
      DecisionFile::add(path, std::to_string(call % 50) + " ranks", decisions({"bcast 8 16 0 - binomial binomial 1"}));
    std::this_thread::sleep_for(std::chrono::microseconds(500 + 311 * attempt));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(error_from([&] { DecisionFile::read(path); }), "");
    const std::string text = contents(path);
    EXPECT_TRUE(text.empty() || text.ends_with('\n'));
  }
}

TEST(DecisionFile, is_a_regular_file) {
  const std::string folder = folder_named("decisions_fifo");
  ASSERT_EQ(mkfifo((folder + "/fifo").c_str(), 0600), 0);
  for (const std::string& path : {folder + "/fifo", folder, std::string("/dev/zero"), std::string("/dev/full")}) {
    EXPECT_THAT(error_from([&] { DecisionFile::read(path); }), HasSubstr(path + ": cannot be read: it is"));
    EXPECT_THAT(error_from([&] { DecisionFile::add(path, "4 ranks", decisions({"bcast 8 16 0 - binomial"})); }),
                HasSubstr("what was decided is lost"));
  }
}

ConstantsRecord record_of(const std::string& host) {
  ConstantsRecord record;
  record.hosts = {host};
  record.transport = "default";
  record.version = this_version();
  record.constants = {{"latency_node", 1e-6}};
  return record;
}

TEST(Constants, of_tunes_at_the_same_time_are_all_kept) {
  const std::string path = folder_named("constants_many") + "/cache/constants.json";
  in_processes(8, [&](int number) {
    for (int tune = 0; tune < 5; ++tune) write_constants(path, record_of(std::to_string(10 * number + tune)));
  });
  EXPECT_THAT(read_constants(path), SizeIs(40));
}

TEST(Constants, do_not_follow_a_draft_of_anothers) {
  const std::string folder = folder_named("constants_link");
  std::ofstream(folder + "/thesis") << "precious";
  std::filesystem::create_symlink("thesis", folder + "/constants.json." + std::to_string(getpid()));
  write_constants(folder + "/constants.json", record_of("a"));
  EXPECT_EQ(contents(folder + "/thesis"), "precious");
  EXPECT_THAT(read_constants(folder + "/constants.json"), SizeIs(1));
}

/// Constants that jobs find by themselves, below a cache folder that is this test's.
class FoundConstants : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/colltopo_cache.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    top_ = name;
    setenv("XDG_CACHE_HOME", top_.c_str(), 1);
    path_ = default_constants_path();
    write_constants(path_, record_of("a"));
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(top_);
  }

  std::string top_, path_;
};

TEST_F(FoundConstants, count_where_nobody_else_may_write_them) { EXPECT_TRUE(has_constants(Settings{})); }

TEST_F(FoundConstants, do_not_count_where_others_may_write_them_unless_named) {
  chmod(path_.c_str(), 0666);
  EXPECT_THAT(
      error_from([] { has_constants(Settings{}); }),
      HasSubstr(path_ + " may be written to by all users (" + path_ + " has mode 0666); coll_topo_constants does not"));
  Settings named;
  named.constants = path_;
  EXPECT_TRUE(has_constants(named));
}

TEST_F(FoundConstants, that_are_not_there_are_no_fault) {
  std::filesystem::remove(path_);
  EXPECT_FALSE(has_constants(Settings{}));
}

/// Of one collective and size each: what others take, ours, and the standard error of both.
ConstantsRecord tuned(std::initializer_list<std::tuple<const char*, double, double, double>> collectives) {
  ConstantsRecord record;
  record.seconds = 10;
  for (const auto& [name, others, ours, error] : collectives) {
    record.times.push_back({name, "fallback", {{64, others}}, "tuned", {{64, error}}});
    record.times.push_back({name, "slow", {{64, 9 * ours}}, "", {{64, error}}});
    record.times.push_back({name, "linear", {{64, ours}}, "", {{64, error}}});
  }
  return record;
}

TEST(Conclusion, names_the_largest_gain_that_is_sure) {
  const Conclusion found = conclusion_of(tuned({{"bcast", 5e-6, 1e-6, 0.8}, {"gather", 3.1e-6, 1e-6, 0.05}}));
  EXPECT_EQ(found.collective, "gather");
  EXPECT_EQ(found.bytes, 64u);
  EXPECT_NEAR(found.gain, 3.1, 1e-9);
  EXPECT_TRUE(found.is_sure);
  EXPECT_EQ(found.collectives, 2u);
  EXPECT_EQ(found.unsure, 1u);
  EXPECT_THAT(text_of(found), HasSubstr("gather of 64 bytes 3.1 times as fast, sure; 1 of 2 collectives not sure, "));
}

TEST(Conclusion, says_how_much_longer_would_tell) {
  // Apart by one standard error of the difference: four times the rounds.
  const double error = 0.1, apart = std::exp(error * std::sqrt(2));
  const Conclusion found = conclusion_of(tuned({{"bcast", apart * 1e-6, 1e-6, error}}));
  EXPECT_EQ(found.unsure, 1u);
  EXPECT_NEAR(found.seconds_more, 30, 1e-6);
  EXPECT_EQ(text_of(found),
            "bcast of 64 bytes 1.2 times as fast, not sure; 1 of 1 collectives not sure, 30 s more would do");
}

TEST(Conclusion, is_sure_where_nobody_is_faster) {
  const Conclusion found = conclusion_of(tuned({{"bcast", 1e-6, 1.001e-6, 0.001}, {"gather", 1e-6, 2e-6, 0.1}}));
  EXPECT_EQ(found.unsure, 0u);
  EXPECT_EQ(text_of(found), "nothing is faster than without colltopo; all collectives sure");
  EXPECT_EQ(conclusion_of({}).collectives, 0u);
}

}  // namespace
}  // namespace colltopo
