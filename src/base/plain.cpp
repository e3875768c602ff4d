#include "base/plain.h"

#include <algorithm>
#include <cstdint>

namespace colltopo {

namespace {

struct Letter {
  std::size_t bytes = 1;
  bool plain = false;
  bool control = false;
};

bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

// The letter that `text`, which is not empty, begins with.
Letter first_letter(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return {1, !is_control(first), is_control(first)};
  const Letter stranger{1, false, first < 0xa0};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return stranger;
  std::uint32_t code = first & (0x7fu >> bytes);
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return stranger;
    code = code << 6 | (byte(at) & 0x3fu);
  }
  // Forms that are longer than need be, surrogates and what is beyond Unicode.
  const std::uint32_t least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return stranger;
  return {bytes, !is_control(code), is_control(code)};
}

}  // namespace

std::size_t unplain_at(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Letter letter = first_letter(text.substr(at));
    if (!letter.plain) return at;
    at += letter.bytes;
  }
  return std::string_view::npos;
}

std::size_t control_at(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Letter letter = first_letter(text.substr(at));
    if (letter.control) return at;
    at += letter.bytes;
  }
  return std::string_view::npos;
}

std::string plain_text(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Letter letter = first_letter(text);
    if (letter.plain)
      shown += text.substr(0, letter.bytes);
    else
      shown += '?';
    text.remove_prefix(letter.bytes);
  }
  return shown;
}

std::string plain_lines(std::string_view text) {
  std::string shown;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    shown += plain_text(text.substr(0, end)) + '\n';
    text.remove_prefix(end + 1);
  }
  return shown + plain_text(text);
}

std::string_view shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  // A byte 10xxxxxx goes on with a character; no character has more than three of them.
  for (int back = 0; back < 3 && end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80; ++back) --end;
  return text.substr(0, end);
}

}  // namespace colltopo
