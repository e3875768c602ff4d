#include "base/trusted_file.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>
#include <fstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/lines.h"

namespace colltopo {

namespace {

constexpr int k_longest_chain = 40;     // as the kernel has it
constexpr std::size_t k_names = 16384;  // bytes, of one entry of the tables of users and groups

bool is_private_group(gid_t group, uid_t owner) {
  std::vector<char> user_bytes(k_names), group_bytes(k_names);
  passwd user{}, *found_user = nullptr;
  ::group entry{}, *found_group = nullptr;
  if (getpwuid_r(owner, &user, user_bytes.data(), user_bytes.size(), &found_user) != 0 || found_user == nullptr ||
      getgrgid_r(group, &entry, group_bytes.data(), group_bytes.size(), &found_group) != 0 || found_group == nullptr)
    return false;
  if (std::strcmp(user.pw_name, entry.gr_name) != 0) return false;
  for (char** member = entry.gr_mem; *member != nullptr; ++member)
    if (std::strcmp(*member, user.pw_name) != 0) return false;
  return true;
}

// With an access list, the group's bits say what any of those named in it may.
bool has_access_list(const std::string& path) {
  return lgetxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

// In a container of one's own, files of users that it does not map, root's among them, belong to nobody.
bool is_unmapped(uid_t owner) {
  uid_t nobody = 65534;
  if (std::ifstream in("/proc/sys/kernel/overflowuid"); in) in >> nobody;
  if (owner != nobody) return false;
  std::ifstream map("/proc/self/uid_map");
  for (unsigned long inside = 0, outside = 0, count = 0; map >> inside >> outside >> count;)
    if (owner >= inside && owner - inside < count) return false;
  return true;
}

class Walk {
 public:
  explicit Walk(uid_t also) : also_(also) {}

  std::string reason(const std::string& path) {
    if (path.empty()) return "has no name";
    std::string start = path;
    if (path[0] != '/') {
      char current[PATH_MAX];
      if (getcwd(current, sizeof current) == nullptr) return fmt::format("lies in no folder: {}", std::strerror(errno));
      start = std::string(current) + "/" + path;
    }
    push(start);
    std::string why = look("/", parts_.empty());
    while (why.empty() && !parts_.empty()) why = step();
    return why;
  }

 private:
  void push(std::string_view path) {
    std::vector<std::string> parts;
    for (std::string& part : split_at(path, '/'))
      if (!part.empty() && part != ".") parts.push_back(std::move(part));
    parts_.insert(parts_.begin(), parts.begin(), parts.end());
  }

  std::string step() {
    const std::string part = parts_.front();
    parts_.pop_front();
    if (part == "..") {
      at_.resize(at_.rfind('/') == std::string::npos ? 0 : at_.rfind('/'));
      return look(shown(at_), parts_.empty());
    }
    const std::string path = at_ + "/" + part;
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0) return fmt::format("is not there: {}", std::strerror(errno));
    if (parts_.empty() && !S_ISDIR(found.st_mode))  // in a sticky folder, too, anybody may add files
      if (std::string why = look(shown(at_), true); !why.empty()) return why;
    if (S_ISLNK(found.st_mode)) return follow(path, found.st_uid);
    at_ = path;
    return look(path, parts_.empty());
  }

  std::string follow(const std::string& path, uid_t owner) {
    if (++links_ > k_longest_chain) return "is behind too many symbolic links";
    if (!is_trusted(owner)) return whose(path, owner);
    char target[PATH_MAX];
    const ssize_t length = readlink(path.c_str(), target, sizeof target);
    if (length <= 0 || static_cast<std::size_t>(length) >= sizeof target) return "is behind a link without an end";
    const std::string_view next(target, static_cast<std::size_t>(length));
    if (next[0] == '/') at_.clear();
    push(next);
    return look(shown(at_), parts_.empty());
  }

  // `strictly`: the file, the folder that it lies in, or the folder that is asked for; else a folder above.
  std::string look(const std::string& path, bool strictly) const {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0) return fmt::format("is not there: {}", std::strerror(errno));
    if (!is_trusted(found.st_uid) && (strictly || !is_unmapped(found.st_uid))) return whose(path, found.st_uid);
    if (!strictly && (found.st_mode & S_ISVTX) != 0) return "";
    if ((found.st_mode & S_IWOTH) != 0) return fmt::format("may be written to by all users ({})", mode_of(path, found));
    if ((found.st_mode & S_IWGRP) != 0 && (has_access_list(path) || !is_private_group(found.st_gid, found.st_uid)))
      return fmt::format("may be written to by group {} ({})", found.st_gid, mode_of(path, found));
    return "";
  }

  bool is_trusted(uid_t owner) const { return owner == 0 || owner == geteuid() || owner == also_; }

  static std::string shown(const std::string& path) { return path.empty() ? "/" : path; }
  static std::string mode_of(const std::string& path, const struct stat& found) {
    return fmt::format("{} has mode {:04o}", path, found.st_mode & 07777U);
  }
  static std::string whose(const std::string& path, uid_t owner) {
    return fmt::format("is another user's ({} belongs to user {})", path, owner);
  }

  uid_t also_;
  std::string at_;  // without a slash at its end; empty: the root
  std::deque<std::string> parts_;
  int links_ = 0;
};

}  // namespace

std::string distrust_of(const std::string& path) { return distrust_of(path, 0); }

std::string distrust_of(const std::string& path, unsigned also) { return Walk(also).reason(path); }

}  // namespace colltopo
