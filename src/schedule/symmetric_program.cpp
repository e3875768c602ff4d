// A rank's program, out of what the representatives send.
#include <fmt/format.h>

#include "base/index.h"
#include "colltopo/error.h"
#include "colltopo/symmetric.h"

namespace colltopo {

namespace {

/// [target] the lanes to it.
std::vector<std::span<const Chunk>> lanes_to(Rank ranks, std::span<const Split> splits) {
  std::vector<std::span<const Chunk>> lanes(index(ranks));
  for (const Split& split : splits)
    for (Rank target = split.first; target < split.first + split.count; ++target) lanes[index(target)] = split.lanes;
  return lanes;
}

}  // namespace

std::string split_fault(const Shape& shape, Rank representative, std::span<const Split> splits) {
  Rank next = representative == 0 ? 1 : 0;
  for (const Split& split : splits) {
    if (split.first != next) return fmt::format("targets from {} on, expected those from {} on", split.first, next);
    if (split.count < 1 || split.count > shape.ranks - split.first)
      return fmt::format("{} targets from {} on, expected 1..{}", split.count, split.first, shape.ranks - split.first);
    if (representative >= split.first && representative - split.first < split.count)
      return fmt::format("target {} is the host itself, expected the others", representative);
    std::int64_t sum = 0;
    bool empty = split.lanes.empty();
    for (const Chunk chunks : split.lanes) {
      sum += chunks;
      empty = empty || chunks < 1;
    }
    if (empty || sum != shape.chunks)
      return fmt::format("targets from {} on get {} chunks, expected {} with 1 or more on each lane", split.first, sum,
                         shape.chunks);
    next = split.first + split.count;
    if (next == representative) ++next;
  }
  return next == shape.ranks ? "" : fmt::format("targets end before {}, expected {} ranks", next, shape.ranks);
}

Program symmetric_program(const Shape& shape, const Symmetry& symmetry, std::span<const std::vector<Split>> splits,
                          Rank rank) {
  const Chunk c = shape.chunks;
  const std::int32_t orbits = symmetry.orbits(), own = symmetry.orbit_of(rank);
  std::vector<std::vector<std::span<const Chunk>>> lanes;
  for (const std::vector<Split>& of_orbit : splits) lanes.push_back(lanes_to(shape.ranks, of_orbit));
  const std::vector<std::int32_t> inverse = symmetry.inverses();
  const std::vector<std::int32_t> product = symmetry.products(symmetry.element_of(rank));

  ProgramBuilder program(shape, rank);
  program.reserve(2 * index(shape.ranks), 2 * index(shape.ranks));
  program.step(0).copy({{Buffer::input, rank * c, c}}, {{Buffer::output, rank * c, c}});
  program.step(1);
  for (std::int32_t m = 0; m < symmetry.elements(); ++m)
    for (std::int32_t i = 0; i < orbits; ++i) {
      if (m == 0 && i == own) continue;
      const Rank target = symmetry.host(product[index(m)], i);
      Lane lane = 0;
      Chunk first = target * c;
      for (const Chunk chunks : lanes[index(own)][index(symmetry.host(m, i))]) {
        program.send({{Buffer::input, first, chunks}}, target, lane++);
        first += chunks;
      }
      const Rank source = symmetry.host(product[index(inverse[index(m)])], i);
      lane = 0;
      first = source * c;
      for (const Chunk chunks : lanes[index(i)][index(symmetry.host(m, own))]) {
        program.recv({{Buffer::output, first, chunks}}, source, lane++);
        first += chunks;
      }
    }
  return std::move(program).build();
}

}  // namespace colltopo
