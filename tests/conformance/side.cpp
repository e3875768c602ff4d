// Buffers: their images before and after a call.
#include "side.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace conformance {

namespace {

constexpr std::ptrdiff_t k_guard = 64;  // bytes on both sides of the data, a multiple of every alignment

unsigned char garbage(std::uint64_t key, std::size_t byte) {
  return static_cast<unsigned char>((key ^ (byte * 0x9e3779b97f4a7c15U)) >> 56);
}

}  // namespace

Values bytes_of(std::uint64_t key, const Basic& basic) {
  return [key, size = static_cast<std::size_t>(basic.size)](std::uint64_t round, std::size_t i, unsigned char* to) {
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
      const std::uint64_t bytes = spread(key + 0x9e3779b97f4a7c15U * (i * 4 + at / 8) + (round << 48));
      std::memcpy(to + at, &bytes, std::min(size - at, sizeof bytes));
    }
  };
}

void Side::before(std::ptrdiff_t offset, int count, const LayoutOwner& layout, Values values, const std::string& what) {
  before_.push_back({offset, count, layout, std::move(values), what});
}

void Side::after(std::ptrdiff_t offset, int count, const LayoutOwner& layout, Values values, const std::string& what) {
  after_.push_back({offset, count, layout, std::move(values), what});
}

void Side::anything_after(std::ptrdiff_t offset, int count, const LayoutOwner& layout) {
  after_.push_back({offset, count, layout, nullptr, ""});
}

void Side::lay_out() {
  std::ptrdiff_t least = 0, most = 0;
  for (const auto* parts : {&before_, &after_}) {
    for (const Part& part : *parts) {
      if (part.count == 0 || part.layout->places.empty()) continue;
      const std::ptrdiff_t last = part.offset + (part.count - 1) * part.layout->extent;
      least = std::min({least, part.offset + part.layout->least(), last + part.layout->least()});
      most = std::max({most, part.offset + part.layout->most(), last + part.layout->most()});
    }
  }
  origin_ = k_guard + (-least + k_guard - 1) / k_guard * k_guard;
  memory_.resize(static_cast<std::size_t>(origin_ + most + k_guard));
}

void* Side::origin() { return memory_.data() + origin_; }

void Side::put(std::vector<unsigned char>& image, const std::vector<Part>& parts, std::uint64_t round) const {
  for (const Part& part : parts) {
    std::size_t i = 0;
    const auto size = static_cast<std::size_t>(part.layout->basic->size);
    for (int element = 0; element < part.count; ++element) {
      for (const std::ptrdiff_t place : part.layout->places) {
        const auto at = static_cast<std::size_t>(origin_ + part.offset + element * part.layout->extent + place);
        if (part.values) {
          part.values(round, i++, image.data() + at);
        } else {
          std::memcpy(image.data() + at, memory_.data() + at, size);
        }
      }
    }
  }
}

std::vector<unsigned char> Side::image_before(std::uint64_t round) const {
  std::vector<unsigned char> image(memory_.size());
  for (std::size_t byte = 0; byte < image.size(); ++byte) image[byte] = garbage(key_ + round, byte);
  put(image, before_, round);
  return image;
}

void Side::fill(std::uint64_t round) {
  const std::vector<unsigned char> image = image_before(round);
  std::copy(image.begin(), image.end(), memory_.begin());  // what MPI was given the address of stays where it is
}

std::string Side::place_of(std::ptrdiff_t byte) const {
  for (const auto* parts : {&after_, &before_}) {
    for (const Part& part : *parts) {
      if (!part.values) continue;
      std::size_t i = 0;
      for (int element = 0; element < part.count; ++element) {
        for (const std::ptrdiff_t place : part.layout->places) {
          const std::ptrdiff_t at = part.offset + element * part.layout->extent + place;
          if (at <= byte && byte < at + part.layout->basic->size) {
            return "element " + std::to_string(i) + " of " + part.what;
          }
          ++i;
        }
      }
    }
  }
  return "a gap";
}

std::optional<std::string> Side::wrong(std::uint64_t round) const {
  std::vector<unsigned char> expected = image_before(round);
  put(expected, after_, round);
  const auto [first, found] = std::mismatch(expected.begin(), expected.end(), memory_.begin());
  if (first == expected.end()) return std::nullopt;
  std::size_t different = 0;
  for (std::size_t byte = 0; byte < expected.size(); ++byte) different += expected[byte] != memory_[byte] ? 1 : 0;
  const std::ptrdiff_t byte = first - expected.begin() - origin_;
  char text[300];
  std::snprintf(text, sizeof text, "%s: byte %td, %s, is 0x%02x; expected 0x%02x; %zu bytes differ", name_, byte,
                place_of(byte).c_str(), *found, *first, different);
  return text;
}

}  // namespace conformance
