// Reading sealed lines and the words in them; every fault becomes an Error with file and line.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/lines.h"
#include "colltopo/error.h"
#include "text/seal.h"

namespace colltopo::text {

/// The sealed lines of a text, in order. The text must outlive what is read from it.
class Lines {
 public:
  /// `first`: the number of the text's first line in its file; it is chained to `before`.
  Lines(std::string_view text, std::string file, std::int64_t first = 1, Seal before = 0)
      : text_(text), file_(std::move(file)), line_(first - 1), seal_(before) {}

  /// The next line without its seal, which has been checked; `expected` is for the message when there is none.
  std::string_view next(std::string_view expected);
  /// The same for a line that must begin with `beginning`: when it does not, that is said instead of a word about
  /// seals.
  std::string_view next_or_stranger(std::string_view beginning, std::string_view expected);
  /// Throws when text is left.
  void expect_end(std::string_view expected) const;
  void continue_from(Seal seal) { seal_ = seal; }

  Seal seal() const { return seal_; }
  /// Bytes read so far.
  std::uint64_t offset() const { return offset_; }
  /// Number of the line read last.
  std::int64_t line() const { return line_; }
  const std::string& file() const { return file_; }
  Error error(std::string_view fact) const { return error_at(file_, line_, fact); }

 private:
  std::string_view text_;
  std::string file_;
  std::uint64_t offset_ = 0;
  std::int64_t line_;
  Seal seal_;
};

/// The words of one line, which single spaces part.
class Words {
 public:
  Words(const Lines& lines, std::string_view content) : lines_(lines), rest_(content), done_(content.empty()) {}

  bool done() const { return done_; }
  /// The next word; `what` names it in messages.
  std::string_view word(std::string_view what);
  /// The next word must be this one.
  void keyword(std::string_view expected);
  bool next_is(std::string_view word) const { return !done_ && rest_.substr(0, rest_.find(' ')) == word; }
  /// Takes the next word when it is this one.
  bool takes(std::string_view expected);
  template <class Number = std::int32_t>
  Number number(std::string_view what, Number low = 0, Number high = std::numeric_limits<Number>::max()) {
    return static_cast<Number>(number_in(word(what), what, low, static_cast<std::uint64_t>(high)));
  }
  /// "FIRST+BYTES".
  Stretch stretch(std::string_view what);
  Seal seal(std::string_view what);
  /// Nothing may follow.
  void end() const;

  /// A decimal number without sign or leading zeros.
  std::uint64_t number_in(std::string_view digits, std::string_view what, std::int64_t low, std::uint64_t high) const;
  Error error(std::string_view fact) const { return lines_.error(fact); }

 private:
  const Lines& lines_;
  std::string_view rest_;
  bool done_;
};

}  // namespace colltopo::text
