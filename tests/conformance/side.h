// One buffer of a call: what lies in it before, and what must lie in it afterwards, byte for byte. Gaps and 64 bytes on
// both sides are as much a part of it as data.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "layout.h"

namespace conformance {

/// Puts basic element `i` of a block, in a round of a persistent call, to `to`.
using Values = std::function<void(std::uint64_t round, std::size_t i, unsigned char* to)>;

/// Any bytes, which a key stands for.
Values bytes_of(std::uint64_t key, const Basic& basic);

class Side {
 public:
  Side(const char* name, std::uint64_t key) : name_(name), key_(key) {}

  /// Elements of a layout from byte `offset` on hold these values before the call; after it; or anything afterwards.
  void before(std::ptrdiff_t offset, int count, const LayoutOwner& layout, Values values, const std::string& what);
  void after(std::ptrdiff_t offset, int count, const LayoutOwner& layout, Values values, const std::string& what);
  void anything_after(std::ptrdiff_t offset, int count, const LayoutOwner& layout);

  /// Takes memory for all of it. Afterwards byte 0 is at origin().
  void lay_out();
  void* origin();
  void fill(std::uint64_t round);
  /// The first byte that is wrong, in words.
  std::optional<std::string> wrong(std::uint64_t round) const;

 private:
  struct Part {
    std::ptrdiff_t offset;
    int count;
    LayoutOwner layout;
    Values values;  // none: anything
    std::string what;
  };
  void put(std::vector<unsigned char>& image, const std::vector<Part>& parts, std::uint64_t round) const;
  std::vector<unsigned char> image_before(std::uint64_t round) const;
  std::string place_of(std::ptrdiff_t byte) const;

  const char* name_;
  std::uint64_t key_;
  std::vector<Part> before_, after_;
  std::vector<unsigned char> memory_;
  std::ptrdiff_t origin_ = 0;
};

}  // namespace conformance
