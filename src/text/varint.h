// Numbers in bytes of seven bits, the low ones first, the eighth saying that more follow; and their reader, which takes
// nothing beyond the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace colltopo::text {

inline void put(std::string& bytes, std::uint64_t number) {
  for (; number >= 128; number >>= 7) bytes.push_back(static_cast<char>(number | 128));
  bytes.push_back(static_cast<char>(number));
}

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  bool done() const { return at_ == bytes_.size(); }
  std::size_t left() const { return bytes_.size() - at_; }
  /// False when the bytes end before the number does or it has more than 63 bits; then nothing more can be taken.
  bool take(std::uint64_t& number) {
    number = 0;
    for (unsigned shift = 0; shift < 63 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(bytes_[at_++]);
      number |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return true;
    }
    at_ = bytes_.size();
    return false;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace colltopo::text
