// Whose a file is.
#include "base/trusted_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace colltopo {
namespace {

namespace files = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr unsigned k_nobody = 65534;

/// A folder in /tmp, which all may write to, for modes and owners.
class DistrustOf : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/colltopo_trust.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    top_ = name;
    folder_ = top_ + "/folder";
    files::create_directory(folder_);
    path_ = folder_ + "/rules.json";
    std::ofstream(path_) << "{}";
    chmod(folder_.c_str(), 0755);
    chmod(path_.c_str(), 0644);
  }
  void TearDown() override { files::remove_all(top_); }

  std::string top_, folder_, path_;
};

TEST_F(DistrustOf, own_file_in_own_folder_is_trusted) {
  EXPECT_THAT(distrust_of(path_), IsEmpty());
  EXPECT_THAT(distrust_of(folder_), IsEmpty());
  EXPECT_THAT(distrust_of("/etc/passwd"), IsEmpty());
  EXPECT_THAT(distrust_of("/"), IsEmpty());
  EXPECT_THAT(distrust_of(folder_ + "/../folder/./rules.json"), IsEmpty());
}

TEST_F(DistrustOf, file_that_others_may_write_to) {
  chmod(path_.c_str(), 0646);
  EXPECT_EQ(distrust_of(path_), "may be written to by all users (" + path_ + " has mode 0646)");
}

TEST_F(DistrustOf, folder_that_others_may_write_to_sticky_or_not) {
  chmod(folder_.c_str(), 0777);
  EXPECT_THAT(distrust_of(path_), HasSubstr("may be written to by all users (" + folder_ + " has mode 0777"));
  chmod(folder_.c_str(), 01777);
  EXPECT_THAT(distrust_of(path_), HasSubstr("may be written to by all users (" + folder_ + " has mode 1777"));
  EXPECT_THAT(distrust_of(top_ + "/folder/../folder/rules.json"), HasSubstr("all users"));
  files::create_directory(folder_ + "/below");
  EXPECT_THAT(distrust_of(folder_ + "/below/../rules.json"), HasSubstr("all users"));
}

TEST_F(DistrustOf, folders_above_too_but_a_sticky_one_may_be_for_all) {
  chmod(top_.c_str(), 0777);
  EXPECT_THAT(distrust_of(path_), HasSubstr("(" + top_ + " has mode 0777)"));
  EXPECT_THAT(distrust_of(folder_), HasSubstr("(" + top_ + " has mode 0777)"));
  chmod(top_.c_str(), 01777);
  EXPECT_THAT(distrust_of(path_), IsEmpty());
}

TEST_F(DistrustOf, group_that_is_not_the_owners_own) {
  if (geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  ASSERT_EQ(chown(path_.c_str(), 0, 100), 0);
  chmod(path_.c_str(), 0664);
  EXPECT_THAT(distrust_of(path_), HasSubstr("may be written to by group 100"));
  ASSERT_EQ(chown(path_.c_str(), 0, 0), 0);  // root's own
  chmod(path_.c_str(), 0664);
  EXPECT_THAT(distrust_of(path_), IsEmpty());
}

TEST_F(DistrustOf, another_users_file_folder_and_folder_above) {
  if (geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  for (const std::string& path : {path_, folder_, top_}) {
    ASSERT_EQ(chown(path.c_str(), k_nobody, k_nobody), 0);
    EXPECT_EQ(distrust_of(path_), "is another user's (" + path + " belongs to user 65534)");
    EXPECT_THAT(distrust_of(path_, k_nobody), IsEmpty());
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
}

TEST_F(DistrustOf, links_are_followed_and_must_be_ours) {
  const std::string link = top_ + "/link", there = top_ + "/there";
  files::create_symlink("folder/rules.json", link);
  files::create_directory_symlink(folder_, there);
  EXPECT_THAT(distrust_of(link), IsEmpty());
  EXPECT_THAT(distrust_of(there + "/rules.json"), IsEmpty());
  chmod(folder_.c_str(), 0777);
  EXPECT_THAT(distrust_of(link), HasSubstr(folder_ + " has mode 0777"));
  EXPECT_THAT(distrust_of(there + "/rules.json"), HasSubstr(folder_ + " has mode 0777"));
  chmod(folder_.c_str(), 0755);
  files::create_symlink("circle", top_ + "/circle");
  EXPECT_THAT(distrust_of(top_ + "/circle"), HasSubstr("too many"));
  if (geteuid() != 0) return;
  ASSERT_EQ(lchown(there.c_str(), k_nobody, k_nobody), 0);
  EXPECT_THAT(distrust_of(there + "/rules.json"), HasSubstr(there + " belongs to user 65534"));
}

TEST_F(DistrustOf, what_is_not_there) {
  EXPECT_THAT(distrust_of(folder_ + "/none"), HasSubstr("is not there"));
  EXPECT_THAT(distrust_of(""), HasSubstr("no name"));
}

TEST_F(DistrustOf, names_without_a_folder_lie_in_the_current_one) {
  const files::path before = files::current_path();
  files::current_path(folder_);
  EXPECT_THAT(distrust_of("rules.json"), IsEmpty());
  EXPECT_THAT(distrust_of("./rules.json"), IsEmpty());
  chmod(folder_.c_str(), 01777);
  EXPECT_THAT(distrust_of("rules.json"), HasSubstr("all users"));
  files::current_path(before);
}

TEST_F(DistrustOf, another_user_trusts_root_and_himself_alone) {
  if (geteuid() != 0) GTEST_SKIP() << "another user needs root";
  const auto as = [&](unsigned user) {
    const pid_t child = fork();
    if (child == 0) _exit(setgid(user) != 0 || setuid(user) != 0 ? 2 : distrust_of(path_).empty() ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(as(k_nobody), 1);  // top_ has mode 0700: he cannot even look
  chmod(top_.c_str(), 0755);
  EXPECT_EQ(as(k_nobody), 0);
  ASSERT_EQ(chown(path_.c_str(), k_nobody, k_nobody), 0);
  EXPECT_EQ(as(k_nobody), 0);
  EXPECT_EQ(as(1), 1);
}

}  // namespace
}  // namespace colltopo
