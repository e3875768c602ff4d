#include "base/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <streambuf>
#include <utility>

#include <fmt/format.h>

#include "base/plain.h"
#include "colltopo/error.h"

namespace colltopo {

namespace {

class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  ~OpenFile() {
    if (number_ > STDIN_FILENO) close(number_);
  }
  OpenFile(OpenFile&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  OpenFile& operator=(OpenFile&&) = delete;

  int number() const { return number_; }
  bool good() const { return number_ >= 0; }

 private:
  int number_;
};

[[noreturn]] void refuse(const std::string& path, const std::string& why, const FileKind& kind) {
  throw Error(fmt::format("{}: cannot be read: {}; expected {}", plain_text(path), why, kind.expected));
}

std::string too_long(std::uint64_t most) { return fmt::format("it has more than {} bytes, the most", most); }

std::string kind_of(mode_t mode) {
  return S_ISDIR(mode)                    ? "it is a directory"
         : S_ISFIFO(mode)                 ? "it is a pipe"
         : S_ISCHR(mode) || S_ISBLK(mode) ? "it is a device"
                                          : "it is no regular file";
}

struct stat status_of(const OpenFile& file, const std::string& path, const FileKind& kind) {
  struct stat found {};
  if (fstat(file.number(), &found) != 0) refuse(path, std::strerror(errno), kind);
  return found;
}

// Without waiting: a pipe that nobody writes to would hold the open() itself.
OpenFile opened_at_once(const std::string& path) {
  return OpenFile(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

std::optional<OpenFile> opened_if_there(const std::string& path, const FileKind& kind) {
  OpenFile file = opened_at_once(path);
  if (!file.good() && errno == ENOENT) return std::nullopt;
  if (!file.good()) refuse(path, std::strerror(errno), kind);
  return file;
}

FileStamp expect_regular(const OpenFile& file, const std::string& path, const FileKind& kind) {
  const struct stat found = status_of(file, path, kind);
  if (!S_ISREG(found.st_mode)) refuse(path, kind_of(found.st_mode), kind);
  const auto bytes = static_cast<std::uint64_t>(found.st_size);
  if (bytes > kind.most_bytes) refuse(path, too_long(kind.most_bytes), kind);
  return {found.st_dev, found.st_ino, bytes, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

// A file of /proc has no size, and any may grow meanwhile: the limit holds for what is read, too.
std::string contents(const OpenFile& file, std::uint64_t size, std::uint64_t most, const std::string& path,
                     const FileKind& kind) {
  constexpr std::size_t k_block = 1 << 16;
  std::string bytes;
  bytes.reserve(size + 1);
  std::array<char, k_block> block{};
  for (;;) {
    const ssize_t got = read(file.number(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, std::strerror(errno), kind);
    if (got == 0) return bytes;
    if (bytes.size() + static_cast<std::size_t>(got) > most) refuse(path, too_long(most), kind);
    bytes.append(block.data(), static_cast<std::size_t>(got));
  }
}

std::string contents_of_regular(const OpenFile& file, const std::string& path, const FileKind& kind) {
  return contents(file, expect_regular(file, path, kind).bytes, kind.most_bytes, path, kind);
}

bool is_null_device(const struct stat& found) { return S_ISCHR(found.st_mode) && found.st_rdev == makedev(1, 3); }

class FileBytes : public std::streambuf {
 public:
  explicit FileBytes(OpenFile file, std::uint64_t size) : file_(std::move(file)), size_(static_cast<off_t>(size)) {}

 protected:
  int_type underflow() override {
    const std::size_t got = read_at(next_, buffer_.data(), buffer_.size());
    if (got == 0) return traits_type::eof();
    next_ += static_cast<off_t>(got);
    setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
    return traits_type::to_int_type(*gptr());
  }

  std::streamsize xsgetn(char* to, std::streamsize count) override {
    std::streamsize done = 0;
    while (done < count) {
      if (gptr() < egptr()) {
        const std::streamsize part = std::min<std::streamsize>(egptr() - gptr(), count - done);
        std::memcpy(to + done, gptr(), static_cast<std::size_t>(part));
        setg(eback(), gptr() + part, egptr());
        done += part;
      } else if (count - done >= static_cast<std::streamsize>(buffer_.size())) {
        const std::size_t got = read_at(next_, to + done, static_cast<std::size_t>(count - done));
        if (got == 0) break;
        next_ += static_cast<off_t>(got);
        done += static_cast<std::streamsize>(got);
      } else if (underflow() == traits_type::eof()) {
        break;
      }
    }
    return done;
  }

  pos_type seekoff(off_type by, std::ios_base::seekdir from, std::ios_base::openmode) override {
    const off_t here = next_ - (egptr() - gptr());
    const off_t to = by + (from == std::ios_base::beg ? 0 : from == std::ios_base::cur ? here : size_);
    if (to < 0) return pos_type(off_type(-1));
    if (to != here) {
      setg(nullptr, nullptr, nullptr);
      next_ = to;
    }
    return pos_type(to);
  }
  pos_type seekpos(pos_type to, std::ios_base::openmode mode) override {
    return seekoff(off_type(to), std::ios_base::beg, mode);
  }

 private:
  // 0 at the end. What it throws becomes the stream's badbit.
  std::size_t read_at(off_t place, char* to, std::size_t count) const {
    ssize_t got = 0;
    do got = pread(file_.number(), to, count, place);
    while (got < 0 && errno == EINTR);
    if (got < 0) throw Error(std::strerror(errno));
    return static_cast<std::size_t>(got);
  }

  OpenFile file_;
  off_t size_, next_ = 0;  // next_: place in the file of the buffer's end
  std::array<char, 8192> buffer_{};
};

std::unique_ptr<std::streambuf> bytes_of(const std::string& path, const FileKind& kind) {
  OpenFile file = opened_at_once(path);
  if (!file.good()) refuse(path, std::strerror(errno), kind);
  const std::uint64_t size = expect_regular(file, path, kind).bytes;
  return std::make_unique<FileBytes>(std::move(file), size);
}

}  // namespace

std::optional<StampedFile> read_stamped_if_there(const std::string& path, const FileKind& kind) {
  const std::optional<OpenFile> file = opened_if_there(path, kind);
  if (!file) return std::nullopt;
  const FileStamp stamp = expect_regular(*file, path, kind);
  return StampedFile{contents(*file, stamp.bytes, kind.most_bytes, path, kind), stamp};
}

std::optional<FileStamp> stamp_if_there(const std::string& path, const FileKind& kind) {
  const std::optional<OpenFile> file = opened_if_there(path, kind);
  if (!file) return std::nullopt;
  return expect_regular(*file, path, kind);
}

std::optional<std::string> read_file_if_there(const std::string& path, const FileKind& kind) {
  std::optional<StampedFile> file = read_stamped_if_there(path, kind);
  if (!file) return std::nullopt;
  return std::move(file->bytes);
}

std::string read_file(const std::string& path, const FileKind& kind) {
  std::optional<std::string> bytes = read_file_if_there(path, kind);
  if (!bytes) refuse(path, std::strerror(ENOENT), kind);
  return *std::move(bytes);
}

std::string read_file_or_pipe(const std::string& path, const FileKind& kind) {
  const bool is_standard = path == "-";
  const OpenFile file(is_standard ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  const std::string name = is_standard ? "standard input" : path;
  if (!file.good()) refuse(name, std::strerror(errno), kind);
  const struct stat found = status_of(file, name, kind);
  if (S_ISREG(found.st_mode)) return contents_of_regular(file, name, kind);
  const bool ends = S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode) || is_null_device(found) ||
                    (S_ISCHR(found.st_mode) && isatty(file.number()) != 0);
  if (!ends) refuse(name, kind_of(found.st_mode), kind);
  return contents(file, 0, k_most_piped_bytes, name, kind);
}

FileStream::FileStream(const std::string& path, const FileKind& kind)
    : std::istream(nullptr), bytes_(bytes_of(path, kind)) {
  rdbuf(bytes_.get());
}

FileStream::~FileStream() = default;

}  // namespace colltopo
