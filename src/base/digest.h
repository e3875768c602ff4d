// What stands for the bytes of a file where nobody may find others that stand for the same: BLAKE2b of 256 bits (RFC
// 7693).
#pragma once

#include <string>
#include <string_view>

namespace colltopo {

/// 64 hexadecimal digits.
std::string digest_of(std::string_view bytes);

}  // namespace colltopo
