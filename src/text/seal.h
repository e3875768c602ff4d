// Seals: what makes a changed line of a schedule file known.
//
// Every line ends with ` ~` and eight hexadecimal digits: the CRC-32 of the line, continued from the seal of the line
// before. A line that is missing, doubled or altered breaks the chain exactly there.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace colltopo::text {

using Seal = std::uint32_t;

inline constexpr std::size_t k_digits = 8;
inline constexpr std::size_t k_mark = 2 + k_digits;  // " ~1a2b3c4d"

/// The seal of `line` (without mark and newline) after a line sealed `before`; the first line of a file follows seal 0.
Seal chained(Seal before, std::string_view line);

std::string digits(Seal seal);
std::optional<Seal> seal_from(std::string_view digits);

/// The seal that a line ends with; none when it has no mark.
std::optional<Seal> seal_of(std::string_view marked_line);

/// A stretch of the file: where it begins, how long it is.
struct Stretch {
  std::uint64_t first = 0;  // byte
  std::uint64_t bytes = 0;

  std::uint64_t end() const { return first + bytes; }
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// Lines with their seals, and the seal of the last.
struct Sealed {
  std::string text;
  Seal seal = 0;
  std::int64_t lines = 0;
};

/// Writes lines with their seals, and counts what it has written.
class SealedLines {
 public:
  explicit SealedLines(std::ostream& out) : out_(out) {}

  void line(std::string_view content);
  /// Lines that were sealed elsewhere, chained to where these stand.
  void append(const Sealed& sealed);
  /// The next line is chained to this seal instead of that of the line before.
  void continue_from(Seal seal) { seal_ = seal; }

  Seal seal() const { return seal_; }
  std::uint64_t bytes() const { return bytes_; }
  std::int64_t lines() const { return lines_; }

 private:
  std::ostream& out_;
  std::string marked_;
  Seal seal_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t lines_ = 0;
};

}  // namespace colltopo::text
