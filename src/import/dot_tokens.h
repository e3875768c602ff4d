// The words of Graphviz's DOT language: names, numbers, texts in quotes, HTML texts, punctuation, comments.
#pragma once

#include <string>
#include <string_view>

#include "import/source.h"

namespace colltopo::import {

class DotTokens {
 public:
  explicit DotTokens(const Source& source) : source_(source), rest_(source.contents) { advance(); }

  /// Line of the token that is next.
  std::int64_t line() const { return token_.line; }
  bool at_end() const { return token_.kind == Kind::end; }
  /// Whether the next token is this punctuation.
  bool is(std::string_view mark) const { return token_.kind == Kind::mark && token_.text == mark; }
  bool takes(std::string_view mark);
  void expect(std::string_view mark);
  /// Whether the next token can be a name: a word, a number or a text.
  bool is_name() const { return token_.kind == Kind::word || token_.kind == Kind::text; }
  /// Texts that + joins are one.
  std::string take_name();
  /// A keyword, in letters of any case and not in quotes.
  bool is_word(std::string_view keyword) const;
  bool takes_word(std::string_view keyword);
  [[noreturn]] void refuse(std::string_view expected) const;

 private:
  enum class Kind { word, text, mark, end };
  struct Token {
    Kind kind = Kind::end;
    std::string text;
    std::int64_t line = 1;
  };

  void advance();
  void skip_blanks_and_comments();
  void skip(std::size_t letters);
  void skip_past(std::string_view end, std::string_view what);
  void read_quoted();
  void read_html();

  const Source& source_;
  std::string_view rest_;
  std::int64_t line_ = 1;
  Token token_;
};

}  // namespace colltopo::import
