// Texts that others wrote: their lines and words, and errors that say where in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/error.h"

namespace colltopo {

/// "FILE:LINE: what".
Error error_at(const std::string& file, std::int64_t line, std::string_view what);
/// What others wrote, in quotes, short and plain enough for a message: at most 60 bytes of it.
std::string in_quotes(std::string_view text);
/// The same without quotes.
std::string short_text(std::string_view text);
/// One word of a line for the shell.
std::string for_shell(std::string_view text);

std::string_view trimmed(std::string_view text);
std::string lower_case(std::string_view text);
/// The parts between separators, empty ones among them.
std::vector<std::string> split_at(std::string_view text, char separator);

struct TextFile {
  std::string_view contents;
  std::string file;  // for messages

  Error error(std::int64_t line, std::string_view what) const { return error_at(file, line, what); }
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

}  // namespace colltopo
