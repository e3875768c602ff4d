// Files are replaced whole: under a full disk, kills and writers at the same time.
#include "base/replace_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/file_lock.h"
#include "empty_folder.h"
#include "errors.h"

namespace colltopo {
namespace {

namespace files = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr FileKind k_list{"a list", 10'000};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : files::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

mode_t mode_of(const std::string& path) {
  struct stat found {};
  stat(path.c_str(), &found);
  return found.st_mode & 07777U;
}

/// The exit status of a process that runs `body`.
template <typename Body>
int in_a_process(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(ReplaceFile, makes_and_replaces_and_leaves_nothing_else) {
  const std::string folder = folder_named("replace_plain");
  replace_file(folder + "/a", "one");
  EXPECT_EQ(contents(folder + "/a"), "one");
  replace_file(folder + "/a", "");
  EXPECT_EQ(contents(folder + "/a"), "");
  FileDraft draft(folder + "/a");
  draft.out() << "two " << std::string(1 << 20, 'x') << 7;
  EXPECT_EQ(contents(folder + "/a"), "");
  draft.replace();
  EXPECT_EQ(contents(folder + "/a").size(), 4 + (1 << 20) + 1);
  EXPECT_THAT(names_in(folder), ElementsAre("a"));
}

TEST(ReplaceFile, draft_that_is_dropped_changes_nothing) {
  const std::string folder = folder_named("replace_dropped");
  replace_file(folder + "/a", "old");
  { FileDraft(folder + "/a").out() << "half"; }
  EXPECT_EQ(contents(folder + "/a"), "old");
  EXPECT_THAT(names_in(folder), ElementsAre("a"));
}

TEST(ReplaceFile, keeps_the_mode_and_asks_the_umask_for_a_new_one) {
  const std::string folder = folder_named("replace_mode");
  const mode_t before = umask(027);
  replace_file(folder + "/new", "x");
  EXPECT_EQ(mode_of(folder + "/new"), 0640U);
  chmod((folder + "/new").c_str(), 0755);
  replace_file(folder + "/new", "y");
  EXPECT_EQ(mode_of(folder + "/new"), 0755U);
  umask(before);
}

TEST(ReplaceFile, follows_a_link_that_the_user_named_and_replaces_one_that_he_did_not) {
  const std::string folder = folder_named("replace_link");
  files::create_directory(folder + "/real");
  replace_file(folder + "/real/a", "old");
  files::create_symlink("real/a", folder + "/link");
  files::create_symlink("real/none", folder + "/dangling");
  replace_file(folder + "/link", "new");
  EXPECT_EQ(contents(folder + "/real/a"), "new");
  EXPECT_TRUE(files::is_symlink(folder + "/link"));
  replace_file(folder + "/dangling", "made");
  EXPECT_EQ(contents(folder + "/real/none"), "made");
  replace_file(folder + "/link", "own", FinalLink::replace);
  EXPECT_EQ(contents(folder + "/real/a"), "new");
  EXPECT_EQ(contents(folder + "/link"), "own");
  EXPECT_FALSE(files::is_symlink(folder + "/link"));
}

TEST(ReplaceFile, does_not_follow_anothers_link_in_a_folder_for_all) {
  if (geteuid() != 0) GTEST_SKIP() << "another user's link needs root";
  const std::string folder = folder_named("replace_tmp");
  chmod(folder.c_str(), 01777);
  replace_file(folder + "/thesis", "precious");
  files::create_symlink("thesis", folder + "/link");
  ASSERT_EQ(lchown((folder + "/link").c_str(), 65534, 65534), 0);
  EXPECT_THAT(error_from([&] { replace_file(folder + "/link", "x"); }), HasSubstr("link of another user"));
  EXPECT_EQ(contents(folder + "/thesis"), "precious");
}

TEST(ReplaceFile, circle_of_links_is_an_error) {
  const std::string folder = folder_named("replace_circle");
  files::create_symlink("b", folder + "/a");
  files::create_symlink("a", folder + "/b");
  EXPECT_THAT(error_from([&] { replace_file(folder + "/a", "x"); }), HasSubstr("cannot be written"));
}

TEST(ReplaceFile, writes_straight_to_what_is_no_file) {
  const std::string folder = folder_named("replace_fifo");
  const std::string fifo = folder + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::thread writer([&] { replace_file(fifo, "through"); });
  EXPECT_EQ(contents(fifo), "through");
  writer.join();
  EXPECT_THAT(names_in(folder), ElementsAre("fifo"));
  replace_file("/dev/null", "gone");
  EXPECT_THAT(error_from([] { replace_file("/dev/full", "x"); }), HasSubstr("/dev/full: cannot be written: No space"));
}

TEST(ReplaceFile, standard_output_is_added_to) {
  const std::string folder = folder_named("replace_stdout");
  const std::string log = folder + "/log";
  replace_file(log, "before\n");
  EXPECT_EQ(in_a_process([&] {
              const int file = open(log.c_str(), O_WRONLY | O_APPEND);
              dup2(file, 1);
              replace_file("/dev/stdout", "one\n");
              replace_file("/proc/self/fd/1", "two\n");
              return 0;
            }),
            0);
  EXPECT_EQ(contents(log), "before\none\ntwo\n");
}

TEST(ReplaceFile, old_file_is_whole_after_a_limit_of_size) {
  const std::string folder = folder_named("replace_limit");
  replace_file(folder + "/a", "old");
  EXPECT_EQ(in_a_process([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{100'000, 100'000};
              setrlimit(RLIMIT_FSIZE, &limit);
              const std::string said = error_from([&] { replace_file(folder + "/a", std::string(200'000, 'x')); });
              return said.ends_with("File too large; the old file is as it was") ? 0 : 1;
            }),
            0);
  EXPECT_EQ(contents(folder + "/a"), "old");
  EXPECT_THAT(names_in(folder), ElementsAre("a"));
}

TEST(ReplaceFile, closed_files_and_folders_are_left_alone) {
  if (geteuid() != 0) GTEST_SKIP() << "another user needs root";
  const std::string folder = folder_named("replace_closed");
  const auto said = [&] { return error_from([&] { replace_file(folder + "/a", "x"); }); };
  replace_file(folder + "/a", "old");
  chmod(folder.c_str(), 0777);
  EXPECT_EQ(in_a_process([&] {
              if (setgid(65534) != 0 || setuid(65534) != 0) return 2;
              return said().find("Permission denied") == std::string::npos ? 1 : 0;
            }),
            0);
  chmod(folder.c_str(), 0755);
  chmod((folder + "/a").c_str(), 0666);
  EXPECT_EQ(in_a_process([&] {
              if (setgid(65534) != 0 || setuid(65534) != 0) return 2;
              return said().find("takes no new file") == std::string::npos ? 1 : 0;
            }),
            0);
  EXPECT_EQ(contents(folder + "/a"), "old");
}

TEST(ReplaceFile, names_folders_and_missing_places) {
  const std::string folder = folder_named("replace_errors");
  EXPECT_THAT(error_from([&] { replace_file(folder, "x"); }), HasSubstr("Is a directory"));
  EXPECT_THAT(error_from([&] { replace_file(folder + "/", "x"); }), HasSubstr("Is a directory"));
  EXPECT_THAT(error_from([&] { replace_file(folder + "/none/a", "x"); }), HasSubstr("No such file"));
  EXPECT_THAT(error_from([&] { replace_file("", "x"); }), HasSubstr("without a name"));
}

TEST(ReplaceFile, draft_of_a_killed_writer_goes_after_an_hour) {
  const std::string folder = folder_named("replace_left");
  const std::string old = folder + "/.a.abcdefghijkl.draft", fresh = folder + "/.a.bbbbbbbbbbbb.draft",
                    others = folder + "/.b.abcdefghijkl.draft";
  for (const std::string& path : {old, fresh, others}) std::ofstream(path) << "half";
  const timespec ago[2] = {{time(nullptr) - 7200, 0}, {time(nullptr) - 7200, 0}};
  for (const std::string& path : {old, others}) utimensat(AT_FDCWD, path.c_str(), ago, 0);
  replace_file(folder + "/a", "new");
  EXPECT_THAT(names_in(folder), ElementsAre(".a.bbbbbbbbbbbb.draft", ".b.abcdefghijkl.draft", "a"));
}

TEST(ReplaceFile, is_whole_after_every_kill) {
  const std::string folder = folder_named("replace_kills");
  const std::string path = folder + "/a";
  const auto text = [](int number) { return std::string(300'000, static_cast<char>('a' + number % 26)); };
  replace_file(path, text(0));
  for (int kill_number = 0; kill_number < 100; ++kill_number) {
    const pid_t child = fork();
    if (child == 0)
      for (int number = 0;; ++number) replace_file(path, text(number));
    std::this_thread::sleep_for(std::chrono::microseconds(200 + 97 * kill_number));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string found = contents(path);
    ASSERT_EQ(found.size(), 300'000U);
    ASSERT_EQ(found, std::string(300'000, found[0])) << kill_number;
  }
}

TEST(ChangeFile, loses_nothing_of_eight_writers) {
  const std::string folder = folder_named("change_many");
  const std::string path = folder + "/list";
  std::vector<pid_t> children;
  for (int writer = 0; writer < 8; ++writer) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    for (int line = 0; line < 25; ++line)
      change_file(path, k_list,
                  [&](const std::string& before) { return before + std::to_string(100 * writer + line) + "\n"; });
    _exit(0);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  std::ifstream in(path);
  std::set<int> lines;
  for (int line = 0; in >> line;) lines.insert(line);
  EXPECT_EQ(lines.size(), 8U * 25U);
  EXPECT_THAT(names_in(folder), ElementsAre("list"));
}

TEST(ChangeFile, reads_again_where_a_lock_is_none) {
  const std::string folder = folder_named("change_again");
  const std::string path = folder + "/list";
  replace_file(path, "a");
  int calls = 0;
  change_file(path, k_list, [&](const std::string& before) {
    if (++calls == 1) replace_file(path, "ab");  // one who asks for no lock
    return before + "c";
  });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(contents(path), "abc");
}

TEST(ChangeFile, what_throws_changes_nothing) {
  const std::string folder = folder_named("change_throws");
  const std::string path = folder + "/list";
  replace_file(path, "a");
  EXPECT_EQ(
      error_from([&] { change_file(path, k_list, [](const std::string&) -> std::string { throw Error("no"); }); }),
      "no");
  EXPECT_EQ(contents(path), "a");
  EXPECT_THAT(names_in(folder), ElementsAre("list"));
}

TEST(ChangeFile, neither_reads_nor_writes_more_than_a_file_of_its_kind_may_have) {
  const std::string folder = folder_named("change_large");
  const std::string path = folder + "/list";
  const auto appends = [&](std::size_t bytes) {
    return error_from([&] {
      change_file(path, k_list, [&](const std::string& before) { return before + std::string(bytes, 'x'); });
    });
  };
  EXPECT_EQ(appends(10'000), "");
  EXPECT_THAT(appends(1), HasSubstr("/list: would have 10001 bytes; a list has at most 10000; it is left as it is"));
  EXPECT_EQ(files::file_size(path), 10'000U);
  files::resize_file(path, std::uintmax_t{1} << 40);  // without blocks
  EXPECT_THAT(appends(1), HasSubstr("/list: cannot be read: it has more than 10000 bytes, the most; expected a list"));
  EXPECT_THAT(names_in(folder), ElementsAre("list"));
}

TEST(FileLock, waits_for_so_long_and_ends_with_its_process) {
  const std::string folder = folder_named("file_lock");
  const std::string path = folder + "/list";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const FileLock lock(path);
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(0);
  }
  char letter = 0;
  ASSERT_EQ(read(ready[0], &letter, 1), 1);
  EXPECT_THAT(error_from([&] { const FileLock lock(path, std::chrono::milliseconds(50)); }),
              HasSubstr("list.lock: another process has held this lock for 0.05 s"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const FileLock lock(path, std::chrono::milliseconds(50));
  EXPECT_TRUE(files::exists(path + ".lock"));
}

TEST(PlainFileName, is_one_in_the_same_folder) {
  for (const char* const good : {"a.sched", "alltoall-mcf.sched", "lengths.csv", "a,b=1@x%.json"})
    EXPECT_TRUE(is_plain_file_name(good)) << good;
  for (const char* const bad :
       {"", ".", "..", "../home/thesis.txt", "/etc/passwd", ".hidden", "-rf", "a/b", "a\nb", "a b"})
    EXPECT_FALSE(is_plain_file_name(bad)) << bad;
  EXPECT_FALSE(is_plain_file_name(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace colltopo
