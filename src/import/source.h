// What every importer is given: the text, the name of its file and the options of its format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/error.h"

namespace colltopo::import {

/// "FILE:LINE: what".
Error error_at(const std::string& file, std::int64_t line, std::string_view what);
/// What others wrote, in quotes, short and plain enough for a message.
std::string quoted(std::string_view text);

std::string_view trimmed(std::string_view text);
std::string lower_case(std::string_view text);
/// A whole number without anything after it.
bool parse_whole(std::string_view text, std::int64_t& value);
bool parse_number(std::string_view text, double& value);
/// "4x4" to {4, 4}.
bool parse_sides(std::string_view text, std::vector<int>& sides);

struct Source {
  std::string_view contents;
  std::string file;                            // for messages, and the topology's name unless the file has one
  std::map<std::string, std::string> options;  // those that were given; the table has checked their names

  Error error(std::int64_t line, std::string_view what) const { return error_at(file, line, what); }
  double bandwidth(const std::string& option, double otherwise) const;
  double latency(const std::string& option, double otherwise) const;
  /// Of a link as the file gives it, with or without a unit; throws when it is neither.
  double link_bandwidth(std::string_view text, std::int64_t line) const;
  double link_latency(std::string_view text, std::int64_t line) const;
};

/// The lines of a text, one after the other, without their ends.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}
  /// False at the end.
  bool next(std::string_view& line);
  /// Number of the line that next() gave last.
  std::int64_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::int64_t number_ = 0;
};

/// The next word of a line, cut off it; words are parted by spaces and tabs. Empty at the end.
std::string_view take_word(std::string_view& line);

}  // namespace colltopo::import
