#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/replace_file.h"

namespace colltopo {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_first_pause{1}, k_longest_pause{50};
constexpr int k_most_attempts = 100;  // of a change that others overtake

bool is_without_locks(int code) {
  return code == ENOLCK || code == ENOSYS || code == EOPNOTSUPP || code == EINVAL || code == EBADF;
}

// Whether the lock's path still leads to what was locked: its last owner removes it.
bool is_at(const std::string& path, int descriptor) {
  struct stat there {
  }, locked{};
  return lstat(path.c_str(), &there) == 0 && fstat(descriptor, &locked) == 0 && there.st_ino == locked.st_ino &&
         there.st_dev == locked.st_dev;
}

int opened(const std::string& path) {
  const int both = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
  // Another user's: a lock needs no right to write.
  return both >= 0 || errno != EACCES ? both : open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

}  // namespace

FileLock::FileLock(const std::string& path, std::chrono::milliseconds wait) : path_(path + ".lock") {
  const Clock::time_point end = Clock::now() + wait;
  for (auto pause = k_first_pause;; pause = std::min(2 * pause, k_longest_pause)) {
    if (descriptor_ < 0) descriptor_ = opened(path_);
    if (descriptor_ < 0)
      throw Error(
          fmt::format("{}: the lock cannot be made: {}; {} is left as it is", path_, std::strerror(errno), path));
    if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) {
      if (is_at(path_, descriptor_)) return;
      close(descriptor_);
      descriptor_ = -1;
      continue;
    }
    if (is_without_locks(errno)) return;
    if (Clock::now() >= end) {
      close(descriptor_);
      throw Error(fmt::format("{}: another process has held this lock for {} s; {} is left as it is", path_,
                              std::chrono::duration<double>(wait).count(), path));
    }
    std::this_thread::sleep_for(pause);
  }
}

FileLock::~FileLock() {
  unlink(path_.c_str());
  close(descriptor_);
}

void change_file(const std::string& path, const FileKind& kind,
                 const std::function<std::string(const std::string& before)>& change, std::chrono::milliseconds wait) {
  static_cast<void>(stamp_if_there(path, kind));  // no lock beside a device
  // One lock whatever links the path is reached by.
  char whole[PATH_MAX];
  const FileLock lock(realpath(path.c_str(), whole) != nullptr ? whole : path, wait);
  for (int attempt = 0; attempt < k_most_attempts; ++attempt) {
    const std::optional<StampedFile> before = read_stamped_if_there(path, kind);
    const std::string after = change(before ? before->bytes : "");
    // Nobody could read it again.
    if (after.size() > kind.most_bytes)
      throw Error(fmt::format("{}: would have {} bytes; {} has at most {}; it is left as it is", path, after.size(),
                              kind.expected, kind.most_bytes));
    FileDraft draft(path);
    draft.write(after);
    const std::optional<FileStamp> now = stamp_if_there(path, kind);
    if (now.has_value() != before.has_value() || (now && *now != before->stamp)) continue;
    draft.replace();
    return;
  }
  throw Error(fmt::format("{}: others change it without end; it is left as it is", path));
}

}  // namespace colltopo
