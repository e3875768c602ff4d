// The one way of reading a file whole: its kind and its size are looked at before a byte is read.
//
// A job reads regular files only, and opening never waits: a pipe or a device in the place of a file would hold or fill
// every rank. The command also reads pipes, and standard input as "-".
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace colltopo {

/// A kind of file: its name in messages, and the most bytes that one may have.
struct FileKind {
  const char* expected;
  std::uint64_t most_bytes;
};

/// Far above what is useful; parsing JSON takes some twenty times its bytes of memory, on every rank.
inline constexpr FileKind k_topology_file{"a topology file", std::uint64_t{256} << 20};
inline constexpr FileKind k_rules_file{"a rules file", std::uint64_t{16} << 20};
inline constexpr FileKind k_constants_file{"a file of constants", std::uint64_t{64} << 20};
inline constexpr FileKind k_decisions_file{"a file of decisions", std::uint64_t{16} << 20};
inline constexpr FileKind k_hosts_file{"a file of hosts", std::uint64_t{64} << 20};
/// Read by its index, so that its size costs nothing.
inline constexpr FileKind k_schedule_file{"a schedule file", std::uint64_t{1} << 40};
/// Of the command, which knows what a file is when it has read it.
inline constexpr FileKind k_any_file{"a file", std::uint64_t{4} << 30};
/// The same, taken into memory.
inline constexpr FileKind k_whole_schedule_file{"a schedule file", k_any_file.most_bytes};
/// What has no size beforehand.
inline constexpr std::uint64_t k_most_piped_bytes = std::uint64_t{1} << 30;

/// A regular file's bytes. Throws Error "PATH: cannot be read: why; expected KIND".
std::string read_file(const std::string& path, const FileKind& kind);
/// The same, and nothing when there is no such file.
std::optional<std::string> read_file_if_there(const std::string& path, const FileKind& kind);

/// Which file a path leads to, and of when: another once it was written to or replaced.
struct FileStamp {
  std::uint64_t device = 0, number = 0, bytes = 0;
  std::int64_t seconds = 0, nanoseconds = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
struct StampedFile {
  std::string bytes;
  FileStamp stamp;
};
std::optional<StampedFile> read_stamped_if_there(const std::string& path, const FileKind& kind);
/// The stamp alone. The file is opened, for a network's file system then asks its server.
std::optional<FileStamp> stamp_if_there(const std::string& path, const FileKind& kind);

/// For the command: also a pipe, a terminal, or standard input as "-".
std::string read_file_or_pipe(const std::string& path, const FileKind& kind = k_any_file);

/// A regular file of which parts are read. Throws as read_file() does.
class FileStream : public std::istream {
 public:
  FileStream(const std::string& path, const FileKind& kind);
  ~FileStream() override;

 private:
  std::unique_ptr<std::streambuf> bytes_;
};

}  // namespace colltopo
