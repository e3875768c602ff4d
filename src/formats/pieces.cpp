#include "formats/pieces.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "colltopo/error.h"

namespace colltopo {

std::vector<Piece> pieces_of(std::span<const Run> source, std::span<const Run> target, Chunk most) {
  std::vector<Piece> pieces;
  std::size_t i = 0, j = 0;
  Chunk in_i = 0, in_j = 0;
  while (i < source.size() && j < target.size()) {
    const Chunk count = std::min({source[i].count - in_i, target[j].count - in_j, most});
    pieces.push_back(
        {{source[i].buffer, source[i].first + in_i, count}, {target[j].buffer, target[j].first + in_j, count}});
    in_i += count;
    in_j += count;
    if (in_i == source[i].count) ++i, in_i = 0;
    if (in_j == target[j].count) ++j, in_j = 0;
  }
  return pieces;
}

std::vector<std::vector<std::int32_t>> matches(const Schedule& schedule) {
  std::map<std::pair<Rank, Rank>, std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> pairs;
  std::vector<std::vector<std::int32_t>> match;
  for (const Program& program : schedule.programs) {
    match.emplace_back(program.size(), -1);
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.action == Action::send) pairs[{program.rank(), op.peer}].first.push_back(static_cast<std::int32_t>(i));
      if (op.action == Action::recv) pairs[{op.peer, program.rank()}].second.push_back(static_cast<std::int32_t>(i));
    }
  }
  for (const auto& [ranks, ops] : pairs) {
    const auto& [sends, receives] = ops;
    if (sends.size() != receives.size())
      throw Error(fmt::format("rank {} sends {} messages to {}, which receives {}; expected a valid schedule",
                              ranks.first, sends.size(), ranks.second, receives.size()));
    for (std::size_t k = 0; k < sends.size(); ++k) {
      match[static_cast<std::size_t>(ranks.first)][static_cast<std::size_t>(sends[k])] = receives[k];
      match[static_cast<std::size_t>(ranks.second)][static_cast<std::size_t>(receives[k])] = sends[k];
    }
  }
  return match;
}

}  // namespace colltopo
