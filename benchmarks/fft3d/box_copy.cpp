#include "box_copy.h"

#include <algorithm>

namespace colltopo::fft3d {

namespace {

constexpr std::size_t k_tile = 16;  // 16 x 16 complex doubles on each side: 8 KiB of a 32 KiB cache

struct Axis {
  std::size_t extent;
  std::size_t from;
  std::size_t to;
};

}  // namespace

void copy_box(const BoxCopy& copy, const std::complex<double>* from, std::complex<double>* to) {
  std::array<Axis, 3> axes{};
  for (std::size_t a = 0; a < axes.size(); ++a) axes[a] = {copy.extents[a], copy.from[a], copy.to[a]};
  // Innermost the axis that is contiguous in the target, next the one that is contiguous in the source.
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.to > b.to; });
  if (axes[0].from < axes[1].from) std::swap(axes[0], axes[1]);
  const auto [outer, middle, inner] = axes;

  if (inner.from == 1 && inner.to == 1) {
    for (std::size_t i = 0; i < outer.extent; ++i)
      for (std::size_t j = 0; j < middle.extent; ++j) {
        const std::complex<double>* line = from + i * outer.from + j * middle.from;
        std::copy(line, line + inner.extent, to + i * outer.to + j * middle.to);
      }
    return;
  }
  for (std::size_t i = 0; i < outer.extent; ++i)
    for (std::size_t j0 = 0; j0 < middle.extent; j0 += k_tile)
      for (std::size_t k0 = 0; k0 < inner.extent; k0 += k_tile) {
        const std::size_t j1 = std::min(j0 + k_tile, middle.extent);
        const std::size_t k1 = std::min(k0 + k_tile, inner.extent);
        for (std::size_t j = j0; j < j1; ++j)
          for (std::size_t k = k0; k < k1; ++k)
            to[i * outer.to + j * middle.to + k * inner.to] = from[i * outer.from + j * middle.from + k * inner.from];
      }
}

}  // namespace colltopo::fft3d
