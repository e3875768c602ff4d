#include "base/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace colltopo {

namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

constexpr std::size_t k_block = 128, k_digest = 32;  // bytes
using Words = std::array<std::uint64_t, 8>;

constexpr Words k_first = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                           0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
constexpr std::uint8_t k_order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

void compress(Words& state, const char* block, std::uint64_t bytes_so_far, bool last) {
  std::array<std::uint64_t, 16> m{}, v{};
  std::memcpy(m.data(), block, k_block);
  std::ranges::copy(state, v.begin());
  std::ranges::copy(k_first, v.begin() + 8);
  v[12] ^= bytes_so_far;
  if (last) v[14] = ~v[14];
  const auto mix = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::uint64_t x, std::uint64_t y) {
    v[a] += v[b] + x;
    v[d] = std::rotr(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = std::rotr(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 63);
  };
  for (std::size_t round = 0; round < 12; ++round) {
    const auto& s = k_order[round % 10];
    for (std::size_t i = 0; i < 4; ++i) mix(i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
    for (std::size_t i = 0; i < 4; ++i)
      mix(i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, m[s[2 * i + 8]], m[s[2 * i + 9]]);
  }
  for (std::size_t i = 0; i < state.size(); ++i) state[i] ^= v[i] ^ v[i + 8];
}

}  // namespace

std::string digest_of(std::string_view bytes) {
  Words state = k_first;
  state[0] ^= 0x01010000 ^ k_digest;  // no key, one digest of the whole
  std::size_t done = 0;
  for (; bytes.size() - done > k_block; done += k_block) compress(state, bytes.data() + done, done + k_block, false);
  std::array<char, k_block> rest{};
  std::ranges::copy(bytes.substr(done), rest.begin());
  compress(state, rest.data(), bytes.size(), true);
  std::string digits;
  for (std::size_t i = 0; i < k_digest; ++i) digits += fmt::format("{:02x}", state[i / 8] >> 8 * (i % 8) & 0xff);
  return digits;
}

}  // namespace colltopo
