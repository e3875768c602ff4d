#include "import/dot_tokens.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace colltopo::import {

namespace {

bool is_word_letter(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return std::isalnum(byte) != 0 || letter == '_' || letter == '.' || byte >= 128;
}

}  // namespace

void DotTokens::skip(std::size_t letters) {
  const std::string_view gone = rest_.substr(0, letters);
  line_ += std::count(gone.begin(), gone.end(), '\n');
  rest_.remove_prefix(gone.size());
}

void DotTokens::skip_past(std::string_view end, std::string_view what) {
  const std::size_t at = rest_.find(end);
  if (at == std::string_view::npos)
    throw source_.error(line_, fmt::format("{} that does not end; expected {}", what, end));
  skip(at + end.size());
}

void DotTokens::skip_blanks_and_comments() {
  while (!rest_.empty()) {
    const bool line_begins = rest_.data() == source_.contents.data() || rest_.data()[-1] == '\n';
    if (std::isspace(static_cast<unsigned char>(rest_[0])) != 0) {
      skip(1);
    } else if (rest_.starts_with("//") || (line_begins && rest_[0] == '#')) {
      skip(std::min(rest_.find('\n'), rest_.size()));
    } else if (rest_.starts_with("/*")) {
      skip_past("*/", "a comment");
    } else {
      return;
    }
  }
}

void DotTokens::advance() {
  skip_blanks_and_comments();
  token_ = {Kind::end, "", line_};
  if (rest_.empty()) return;
  const bool negative = rest_.size() > 1 && rest_[0] == '-' &&
                        (std::isdigit(static_cast<unsigned char>(rest_[1])) != 0 || rest_[1] == '.');
  if (rest_[0] == '"') {
    read_quoted();
  } else if (rest_[0] == '<') {
    read_html();
  } else if (negative || is_word_letter(rest_[0])) {
    std::size_t end = 1;
    while (end < rest_.size() && is_word_letter(rest_[end])) ++end;
    token_.kind = Kind::word;
    token_.text = rest_.substr(0, end);
    skip(end);
  } else {
    token_.kind = Kind::mark;
    token_.text = rest_.substr(0, rest_.starts_with("->") || rest_.starts_with("--") ? 2 : 1);
    skip(token_.text.size());
  }
}

void DotTokens::read_quoted() {
  token_.kind = Kind::text;
  std::size_t at = 1;
  for (; at < rest_.size() && rest_[at] != '"'; ++at) {
    // Only \" is an escape of the language; others belong to labels and stay.
    if (rest_[at] == '\\' && at + 1 < rest_.size() && (rest_[at + 1] == '"' || rest_[at + 1] == '\\')) ++at;
    token_.text += rest_[at];
  }
  if (at >= rest_.size()) throw source_.error(line_, "a text in quotes that does not end; expected \"");
  skip(at + 1);
}

void DotTokens::read_html() {
  token_.kind = Kind::text;
  std::size_t at = 0;
  for (int open = 0; at < rest_.size(); ++at) {
    if (rest_[at] == '<') ++open;
    if (rest_[at] == '>' && --open == 0) break;
  }
  if (at >= rest_.size()) throw source_.error(line_, "an HTML text that does not end; expected >");
  token_.text = rest_.substr(1, at - 1);
  skip(at + 1);
}

bool DotTokens::takes(std::string_view mark) {
  if (!is(mark)) return false;
  advance();
  return true;
}

void DotTokens::expect(std::string_view mark) {
  if (!takes(mark)) refuse(mark);
}

std::string DotTokens::take_name() {
  if (!is_name()) refuse("a name");
  std::string name = token_.text;
  const bool in_quotes = token_.kind == Kind::text;
  advance();
  while (in_quotes && takes("+")) {
    if (token_.kind != Kind::text) refuse("another text in quotes");
    name += token_.text;
    advance();
  }
  return name;
}

bool DotTokens::is_word(std::string_view keyword) const {
  return token_.kind == Kind::word && lower_case(token_.text) == keyword;
}

bool DotTokens::takes_word(std::string_view keyword) {
  if (!is_word(keyword)) return false;
  advance();
  return true;
}

void DotTokens::refuse(std::string_view expected) const {
  throw source_.error(line(),
                      fmt::format("{}; expected {}", at_end() ? "the file ends" : in_quotes(token_.text), expected));
}

}  // namespace colltopo::import
