// A file that several processes change: each sees what the others wrote.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/read_file.h"
#include "colltopo/error.h"

namespace colltopo {

/// Long enough for any writer of a small file, short enough for the end of a communicator.
inline constexpr std::chrono::milliseconds k_lock_wait{5000};

/// The sole writer of a file, by a lock on `FILE.lock` beside it, which is gone afterwards.
///
/// The lock ends with the process, however that ends. Where a file system has no locks there is none: change_file()
/// looks whether the file is still the one that it has read.
class FileLock {
 public:
  /// Waits for at most `wait`; then throws Error, as where the lock's file cannot be made.
  explicit FileLock(const std::string& path, std::chrono::milliseconds wait = k_lock_wait);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// Replaces a file by what `change` makes of its contents ("": it is not there), which may be called again. Whoever
/// does so at the same time, what each adds is in the file. Throws Error, and what `change` throws; then the file is as
/// it was. More bytes than its kind may have are neither read nor written.
void change_file(const std::string& path, const FileKind& kind,
                 const std::function<std::string(const std::string& before)>& change,
                 std::chrono::milliseconds wait = k_lock_wait);

}  // namespace colltopo
