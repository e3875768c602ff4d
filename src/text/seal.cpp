// Seals are CRC-32 (zlib's): any change within four neighbouring characters is certain to be seen, any other change
// goes unseen once in 2^32.

#include "text/seal.h"

#include <zlib.h>

#include <charconv>

namespace colltopo::text {

Seal chained(Seal before, std::string_view line) {
  const auto* text = reinterpret_cast<const Bytef*>(line.data());
  const auto* newline = reinterpret_cast<const Bytef*>("\n");
  return static_cast<Seal>(crc32_z(crc32_z(before, text, line.size()), newline, 1));
}

std::string digits(Seal seal) {
  std::string text(k_digits, '0');
  for (std::size_t i = k_digits; i-- > 0; seal >>= 4) text[i] = "0123456789abcdef"[seal & 15];
  return text;
}

std::optional<Seal> seal_from(std::string_view digits) {
  if (digits.size() != k_digits || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return {};
  Seal seal = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), seal, 16);
  return seal;
}

std::optional<Seal> seal_of(std::string_view marked_line) {
  if (marked_line.size() < k_mark) return {};
  const std::string_view mark = marked_line.substr(marked_line.size() - k_mark);
  return mark.substr(0, 2) == " ~" ? seal_from(mark.substr(2)) : std::nullopt;
}

void SealedLines::line(std::string_view content) {
  seal_ = chained(seal_, content);
  marked_.assign(content).append(" ~").append(digits(seal_)).push_back('\n');
  out_.write(marked_.data(), static_cast<std::streamsize>(marked_.size()));
  bytes_ += marked_.size();
  ++lines_;
}

void SealedLines::append(const Sealed& sealed) {
  out_.write(sealed.text.data(), static_cast<std::streamsize>(sealed.text.size()));
  seal_ = sealed.seal;
  bytes_ += sealed.text.size();
  lines_ += sealed.lines;
}

}  // namespace colltopo::text
