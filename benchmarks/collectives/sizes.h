// Message sizes as people write them: "8,1K,4M" and doubling ranges "8:1M".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace colltopo::bench {

/// One size in bytes; K, M and G are powers of 1024. Throws std::invalid_argument naming the text.
std::size_t size_from(std::string_view text);

/// Sizes and ranges in the order given. "A:B" is A, 2A, 4A ... up to B.
std::vector<std::size_t> sizes_from(std::string_view text);

/// The shortest exact form: 4M, 1K, 1000.
std::string size_text(std::size_t bytes);

/// The parts between commas; none is empty. Throws std::invalid_argument otherwise.
std::vector<std::string> parts_between_commas(std::string_view text);

}  // namespace colltopo::bench
