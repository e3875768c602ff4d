// Lines are checked against their seal before any of their words is looked at.

#include "text/lines.h"

#include <fmt/format.h>

#include <charconv>

namespace colltopo::text {

std::string_view Lines::next(std::string_view expected) {
  ++line_;
  const std::string_view rest = text_.substr(offset_);
  if (rest.empty()) throw error(fmt::format("the text ends here, expected {}", expected));
  const std::size_t length = rest.find('\n');
  if (length == std::string_view::npos) {
    throw error(
        fmt::format("the text ends within this line, {}, expected {} and a newline", in_quotes(rest), expected));
  }
  const std::string_view marked = rest.substr(0, length);
  const std::optional<Seal> stated = seal_of(marked);
  if (!stated) {
    throw error(
        fmt::format("no seal at the end of {}, expected \" ~\" and 8 hexadecimal digits; a file changed by hand "
                    "must be sealed again",
                    in_quotes(marked)));
  }
  const std::string_view content = marked.substr(0, marked.size() - k_mark);
  const Seal actual = chained(seal_, content);
  if (*stated != actual) {
    throw error(
        fmt::format("seal {}, expected {}: this line was altered, added or left out; a file changed by hand must "
                    "be sealed again",
                    digits(*stated), digits(actual)));
  }
  seal_ = actual;
  offset_ += length + 1;
  return content;
}

std::string_view Lines::next_or_stranger(std::string_view beginning, std::string_view expected) {
  const std::string_view rest = text_.substr(offset_);
  if (!rest.empty() && !rest.starts_with(beginning)) {
    const std::string_view way =
        rest.starts_with("<algo ") ? "; colltopo convert --to text makes that of MSCCL's XML" : "";
    throw error_at(file_, line_ + 1,
                   fmt::format("{}, expected \"{}\"{}", in_quotes(rest.substr(0, rest.find('\n'))), expected, way));
  }
  return next(expected);
}

void Lines::expect_end(std::string_view expected) const {
  if (offset_ < text_.size()) {
    const std::string_view rest = text_.substr(offset_);
    throw error_at(file_, line_ + 1,
                   fmt::format("{}, expected {}", in_quotes(rest.substr(0, rest.find('\n'))), expected));
  }
}

std::string_view Words::word(std::string_view what) {
  if (done_) throw error(fmt::format("the line ends, expected {}", what));
  const std::size_t space = rest_.find(' ');
  const std::string_view word = rest_.substr(0, space);
  done_ = space == std::string_view::npos;
  rest_ = done_ ? std::string_view() : rest_.substr(space + 1);
  return word;
}

void Words::keyword(std::string_view expected) {
  const std::string_view found = word(expected);
  if (found != expected) throw error(fmt::format("{}, expected \"{}\"", in_quotes(found), expected));
}

bool Words::takes(std::string_view expected) {
  if (!next_is(expected)) return false;
  word(expected);
  return true;
}

std::uint64_t Words::number_in(std::string_view digits, std::string_view what, std::int64_t low,
                               std::uint64_t high) const {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, fault] = std::from_chars(digits.data(), end, value);
  const bool canonical = !digits.empty() && (digits.size() == 1 || digits.front() != '0');
  if (fault != std::errc() || stop != end || !canonical || value < static_cast<std::uint64_t>(low) || value > high) {
    throw error(fmt::format("{} is {}, expected a number in {}..{}", what, in_quotes(digits), low, high));
  }
  return value;
}

Stretch Words::stretch(std::string_view what) {
  const std::string_view both = word(what);
  const std::size_t plus = both.find('+');
  if (plus == std::string_view::npos) throw error(fmt::format("{} is {}, expected FIRST+BYTES", what, in_quotes(both)));
  constexpr std::uint64_t k_most = std::uint64_t{1} << 62;
  return {number_in(both.substr(0, plus), what, 0, k_most), number_in(both.substr(plus + 1), what, 0, k_most)};
}

Seal Words::seal(std::string_view what) {
  const std::string_view found = word(what);
  const std::optional<Seal> seal = seal_from(found);
  if (!seal) throw error(fmt::format("{} is {}, expected 8 hexadecimal digits", what, in_quotes(found)));
  return *seal;
}

void Words::end() const {
  if (!done_) throw error(fmt::format("{} after the line's last word, expected nothing", in_quotes(rest_)));
}

}  // namespace colltopo::text
