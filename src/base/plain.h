// Text that is fit for a terminal, a log and a line of a script: no control characters, and UTF-8.
//
// Control characters are those of ASCII, DEL, the C1 set (also as UTF-8 writes it), line and paragraph separators and
// the marks that turn the direction of writing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace colltopo {

/// Where the first control character, or byte that is not UTF-8, stands; npos when there is none.
std::size_t unplain_at(std::string_view text);
inline bool is_plain(std::string_view text) { return unplain_at(text) == std::string_view::npos; }

/// Where the first control character stands, also as one byte of 0x80 to 0x9f by itself; npos when there is none.
/// Other bytes that are not UTF-8 are letters of older encodings: names may have them.
std::size_t control_at(std::string_view text);

/// The text with '?' for each control character and each byte that is not UTF-8.
std::string plain_text(std::string_view text);

/// The same for a text of several lines.
std::string plain_lines(std::string_view text);

/// At most `most` bytes of the beginning, without a part of a character at the end.
std::string_view shortened(std::string_view text, std::size_t most);

}  // namespace colltopo
