// Schedule files whose sections are bytes: the header's lines as in a text file, then for each rank its program and, if
// there are routes, those from it, each compressed by itself; an index and a trailer of fixed size find them
// (docs/schedule.md, "Binary files").
#pragma once

#include <cstdint>
#include <istream>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/sections.h"
#include "text/header.h"

namespace colltopo::text {

/// Whether a file that begins so is one of these, of any version.
bool is_binary(std::string_view beginning);

ScheduleHeader header_of(const SectionedSchedule& schedule);

/// Sections are made, compressed and written some at a time, by several threads; what is written does not depend on how
/// many. Throws Error when what it writes could not be read back.
void write_binary(std::ostream& out, const SectionedSchedule& schedule);

/// A file opened by its trailer: of the sections only those asked for are read. May be asked by several threads.
class BinaryFile {
 public:
  /// `in` must be seekable and outlive this. Throws Error "FILE: byte N: what is there, what should be".
  BinaryFile(std::istream& in, std::string file);

  const Head& head() const { return head_; }
  /// Throws Error when its sections are many more bytes than the file.
  void expect_to_hold_whole() const;
  bool has_routes() const { return head_.sections > head_.header.shape.ranks; }
  Program program(Rank rank);
  std::vector<Route> routes(Rank source);

 private:
  struct Section {
    std::uint64_t first = 0, bytes = 0;  // in the file
    std::uint64_t raw_bytes = 0;         // once it is no longer compressed
    Seal seal = 0;
  };
  std::string bytes(std::uint64_t first, std::uint64_t count);
  void read_index(std::uint64_t header_bytes, std::uint64_t first, Seal expected);
  template <class Unpack>
  auto section(std::size_t number, const Unpack& unpack);
  Error error_at(std::uint64_t byte, const std::string& fact) const;

  std::istream& in_;
  std::mutex mutex_;
  std::string file_;
  std::uint64_t size_ = 0, raw_bytes_ = 0;  // raw: of all sections
  Head head_;
  std::vector<Section> sections_;  // of rank r the program, then (with routes) those from it
};

}  // namespace colltopo::text
