#include "base/replace_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <streambuf>
#include <utility>

#include <fmt/format.h>

namespace colltopo {

namespace {

constexpr std::string_view k_draft = ".draft";
constexpr std::size_t k_random_letters = 12;
constexpr int k_most_links = 40;                        // as the kernel has it
constexpr std::time_t k_left_behind_s = 3600;           // nobody writes to a draft of this age any more
constexpr std::size_t k_buffer = std::size_t{1} << 16;  // bytes, of a stream
constexpr const char* k_unharmed = "; the old file is as it was";

std::string folder_of(const std::string& path) {
  const std::size_t end = path.rfind('/');
  if (end == std::string::npos) return ".";
  return end == 0 ? "/" : path.substr(0, end);
}

std::string name_of(const std::string& path) {
  const std::size_t end = path.rfind('/');
  return end == std::string::npos ? path : path.substr(end + 1);
}

Error unwritable(const std::string& path, int code, const char* consequence) {
  return Error(fmt::format("{}: cannot be written: {}{}", path, std::strerror(code), consequence));
}

// Where the kernel's protected_symlinks is off, and as rename() does not ask it.
bool may_follow(const std::string& folder, const struct stat& link) {
  struct stat of_folder {};
  if (stat(folder.c_str(), &of_folder) != 0) return false;
  const bool for_all = (of_folder.st_mode & S_ISVTX) != 0 && (of_folder.st_mode & S_IWOTH) != 0;
  return !for_all || link.st_uid == geteuid() || link.st_uid == of_folder.st_uid;
}

// The N of /dev/stdout, /dev/fd/N and /proc/self/fd/N: an open file of this process.
std::optional<int> descriptor_named(const std::string& path) {
  char folder[PATH_MAX];
  if (realpath(folder_of(path).c_str(), folder) == nullptr || folder != fmt::format("/proc/{}/fd", getpid())) return {};
  const std::string name = name_of(path);
  if (name.empty() || name.size() > 9 || name.find_first_not_of("0123456789") != std::string::npos) return {};
  return std::atoi(name.c_str());
}

// The path that a chain of links ends in, whether anything is there or not.
std::string end_of_links(std::string path) {
  for (int links = 0; links < k_most_links; ++links) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0 || !S_ISLNK(found.st_mode) || descriptor_named(path)) return path;
    const std::string folder = folder_of(path);
    if (!may_follow(folder, found))
      throw Error(
          fmt::format("{}: is a symbolic link of another user in a folder that all may write to; it is not "
                      "followed, nothing is written",
                      path));
    char target[PATH_MAX];
    const ssize_t length = readlink(path.c_str(), target, sizeof target);
    if (length <= 0 || static_cast<std::size_t>(length) >= sizeof target) throw unwritable(path, ELOOP, "");
    const std::string next(target, static_cast<std::size_t>(length));
    path = next[0] == '/' ? next : fmt::format("{}/{}", folder, next);
  }
  throw unwritable(path, ELOOP, "");
}

std::string random_letters() {
  constexpr std::string_view k_letters = "abcdefghijklmnopqrstuvwxyz012345";
  std::array<unsigned char, k_random_letters> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    // Another name than others', which O_EXCL makes sure of.
    static unsigned seed = static_cast<unsigned>(time(nullptr)) ^ static_cast<unsigned>(getpid());
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(rand_r(&seed) >> 4);
  }
  std::string letters;
  for (const unsigned char byte : bytes) letters += k_letters[byte % k_letters.size()];
  return letters;
}

// A file's name is cut so that a draft's is not too long.
std::string draft_prefix(const std::string& name) { return fmt::format(".{}.", name.substr(0, 200)); }

void remove_left_behind(int folder, const std::string& name) {
  const int listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = listed < 0 ? nullptr : fdopendir(listed);
  if (entries == nullptr) {
    if (listed >= 0) close(listed);
    return;
  }
  const std::string prefix = draft_prefix(name);
  while (const dirent* const entry = readdir(entries)) {
    const std::string_view found = entry->d_name;
    if (found.size() != prefix.size() + k_random_letters + k_draft.size() || !found.starts_with(prefix) ||
        !found.ends_with(k_draft))
      continue;
    struct stat draft {};
    if (fstatat(folder, entry->d_name, &draft, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(draft.st_mode) &&
        draft.st_uid == geteuid() && time(nullptr) - draft.st_mtim.tv_sec > k_left_behind_s)
      unlinkat(folder, entry->d_name, 0);
  }
  closedir(entries);
}

class Descriptor {
 public:
  Descriptor() = default;
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void take(int number) {
    close();
    number_ = number;
  }
  int number() const { return number_; }
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_ = -1;
};

bool write_all(int descriptor, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t put = ::write(descriptor, bytes, count);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    if (put == 0) {
      errno = EIO;
      return false;
    }
    bytes += put;
    count -= static_cast<std::size_t>(put);
  }
  return true;
}

/// A stream into a descriptor that remembers why it failed.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor), bytes_(std::make_unique<char[]>(k_buffer)) {
    setp(bytes_.get(), bytes_.get() + k_buffer);
  }
  int fault() const { return fault_; }
  bool flush() {
    const auto waiting = static_cast<std::size_t>(pptr() - pbase());
    setp(bytes_.get(), bytes_.get() + k_buffer);
    return put(pbase(), waiting);
  }

 protected:
  int_type overflow(int_type letter) override {
    if (!flush()) return traits_type::eof();
    if (!traits_type::eq_int_type(letter, traits_type::eof())) sputc(traits_type::to_char_type(letter));
    return traits_type::not_eof(letter);
  }
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    if (count < epptr() - pptr()) return std::streambuf::xsputn(bytes, count);
    return flush() && put(bytes, static_cast<std::size_t>(count)) ? count : 0;
  }
  int sync() override { return flush() ? 0 : -1; }

 private:
  bool put(const char* bytes, std::size_t count) {
    if (fault_ == 0 && !write_all(descriptor_, bytes, count)) fault_ = errno;
    return fault_ == 0;
  }

  int descriptor_;
  std::unique_ptr<char[]> bytes_;
  int fault_ = 0;
};

}  // namespace

class FileDraft::Body {
 public:
  Body(const std::string& path, FinalLink link) : named_(path), path_(path) {
    if (path.empty()) throw Error("a file without a name: cannot be written; expected a path");
    if (link == FinalLink::follow) path_ = end_of_links(path);
    const auto number = link == FinalLink::follow ? descriptor_named(path_) : std::nullopt;
    struct stat old {};
    const bool exists = lstat(path_.c_str(), &old) == 0;
    if (number) {
      file_.take(fcntl(*number, F_DUPFD_CLOEXEC, 0));
    } else if (exists && S_ISDIR(old.st_mode)) {
      throw unwritable(named_, EISDIR, "");
    } else if (exists && !S_ISREG(old.st_mode) && !S_ISLNK(old.st_mode)) {
      file_.take(open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    } else {
      draft(exists && S_ISREG(old.st_mode) ? &old : nullptr);
    }
    if (file_.number() < 0) throw unwritable(named_, errno, "");
    try {
      buffer_ = std::make_unique<DescriptorBuffer>(file_.number());
      stream_ = std::make_unique<std::ostream>(buffer_.get());
    } catch (...) {
      drop();
      throw;
    }
  }
  ~Body() { drop(); }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  std::ostream& out() { return *stream_; }

  void write(std::string_view bytes) {
    stream_->write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!*stream_) fail(buffer_->fault());
  }

  void replace() {
    const bool written = buffer_->flush();
    if (!written || !*stream_) fail(buffer_->fault() != 0 ? buffer_->fault() : EIO);
    if (draft_.empty()) {  // written straight through
      if (!file_.close()) fail(errno);
      return;
    }
    if (fsync(file_.number()) != 0 && errno != EINVAL) fail(errno);
    // A network's file system tells when it is closed what it did not take.
    if (!file_.close()) fail(errno);
    if (renameat(folder_.number(), draft_.c_str(), folder_.number(), name_of(path_).c_str()) != 0) fail(errno);
    draft_.clear();
    fsync(folder_.number());  // some file systems have none for folders; the file is in place
  }

 private:
  void draft(const struct stat* old) {
    const std::string name = name_of(path_);
    if (name.empty() || name == "." || name == "..") throw unwritable(named_, EISDIR, "");
    // A rename asks the folder alone; what its owner has closed stays closed.
    if (old != nullptr && faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0)
      throw unwritable(named_, errno, k_unharmed);
    folder_.take(open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder_.number() < 0) throw unwritable(named_, errno, "");
    remove_left_behind(folder_.number(), name);
    std::string made;
    do {
      made = draft_prefix(name) + random_letters() + std::string(k_draft);
      file_.take(openat(folder_.number(), made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        old == nullptr ? 0666 : 0600));
    } while (file_.number() < 0 && errno == EEXIST);
    if (file_.number() < 0)
      throw Error(fmt::format("{}: cannot be written: its folder takes no new file: {}{}", named_, std::strerror(errno),
                              old == nullptr ? "" : k_unharmed));
    draft_ = std::move(made);  // which throws nothing
    if (old != nullptr) take_over(*old);
  }

  void take_over(const struct stat& old) {
    const int file = file_.number();
    if (fchown(file, old.st_uid, old.st_gid) != 0 && fchown(file, static_cast<uid_t>(-1), old.st_gid) != 0)
      errno = 0;  // neither may be given away: the file is this process's
    // Where the group cannot be kept, the new one may no more than all may.
    struct stat made {};
    mode_t mode = old.st_mode & 0777U;
    if (fstat(file, &made) != 0 || made.st_gid != old.st_gid) mode &= 0707U | ((mode & 07U) << 3U);
    if (fchmod(file, mode) != 0) fail(errno);
  }

  void drop() {
    file_.close();
    if (!draft_.empty()) unlinkat(folder_.number(), draft_.c_str(), 0);
    draft_.clear();
  }

  [[noreturn]] void fail(int code) {
    const bool straight = draft_.empty();
    drop();
    throw unwritable(named_, code, straight ? "" : k_unharmed);
  }

  std::string named_, path_, draft_;
  Descriptor folder_, file_;
  std::unique_ptr<DescriptorBuffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

FileDraft::FileDraft(const std::string& path, FinalLink link) : body_(std::make_unique<Body>(path, link)) {}
FileDraft::~FileDraft() = default;
std::ostream& FileDraft::out() { return body_->out(); }
void FileDraft::write(std::string_view bytes) { body_->write(bytes); }
void FileDraft::replace() { body_->replace(); }

void replace_file(const std::string& path, std::string_view bytes, FinalLink link) {
  FileDraft draft(path, link);
  draft.write(bytes);
  draft.replace();
}

bool is_plain_file_name(std::string_view name) {
  constexpr std::string_view k_others = "._-+=,@%";
  if (name.empty() || name.size() > NAME_MAX || name[0] == '.' || name[0] == '-') return false;
  for (const char letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && k_others.find(letter) == std::string_view::npos)
      return false;
  return true;
}

}  // namespace colltopo
