// Schedules of the algorithms on tori, by name, for the tests of paper 004's families.
#pragma once

#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "colltopo/algorithms.h"

namespace colltopo {

using Sides = std::vector<int>;

inline Rank ranks_of(const Sides& sides) { return std::accumulate(sides.begin(), sides.end(), 1, std::multiplies<>()); }

inline std::string to_string(const Sides& sides) { return fmt::format("{}", fmt::join(sides, "x")); }

inline const Algorithm& family(const std::string& name) {
  const Algorithm* algorithm = algorithm_named(name);
  if (algorithm == nullptr) std::abort();
  return *algorithm;
}

inline Shape shape_on(const Sides& sides, Collective collective, Rank root = 0) {
  return {collective, ranks_of(sides), 1, root};
}

inline AlgorithmOptions options_on(const Sides& sides, bool multiport = true) {
  AlgorithmOptions options;
  options.dimensions = sides;
  options.values.set("multiport", multiport ? 1 : 0);
  return options;
}

inline Schedule on_torus(const std::string& name, Collective collective, const Sides& sides, bool multiport = true,
                         Rank root = 0) {
  return generate(family(name), shape_on(sides, collective, root), options_on(sides, multiport));
}

inline std::string refusal_on(const std::string& name, const Sides& sides) {
  return family(name).refusal(shape_on(sides, family(name).collectives.front()), options_on(sides));
}

/// 1-D up to 20, all 2-D up to 6x6, and 3-D to 5-D with sides that are powers of two, even, odd and mixed.
inline std::vector<Sides> all_tori() {
  std::vector<Sides> tori;
  for (int p = 1; p <= 20; ++p) tori.push_back({p});
  for (int rows = 1; rows <= 6; ++rows) {
    for (int columns = 1; columns <= 6; ++columns) tori.push_back({rows, columns});
  }
  const std::vector<Sides> others = {{8, 4},    {2, 2, 2},    {3, 3, 3},    {4, 2, 3},       {2, 3, 5},
                                     {1, 4, 1}, {2, 2, 2, 2}, {3, 2, 2, 2}, {2, 2, 2, 2, 2}, {2, 2, 3, 2, 2}};
  tori.insert(tori.end(), others.begin(), others.end());
  return tori;
}

/// A message and where it goes, as coordinates tell.
struct TorusMessage {
  Step step = 0;
  Rank source = 0, target = 0;
  Lane lane = 0;
  Chunk chunks = 0;
  int dimension = 0;  // the only one in which source and target differ; -1: there are several
  Rank forward = 0;   // target's coordinate after source's in that dimension, in 1..side-1
  Rank side = 1;
};

inline TorusMessage located(const Sides& sides, TorusMessage message) {
  Rank source = message.source, target = message.target;
  int differing = 0;
  for (std::size_t d = sides.size(); d-- > 0; source /= sides[d], target /= sides[d]) {
    const Rank forward = (target % sides[d] - source % sides[d] + sides[d]) % sides[d];
    if (forward == 0) continue;
    ++differing;
    message.dimension = static_cast<int>(d);
    message.forward = forward;
    message.side = sides[d];
  }
  if (differing != 1) message.dimension = -1;
  return message;
}

/// Every message that the program sends.
inline std::vector<TorusMessage> messages_on(const Sides& sides, const Program& program) {
  std::vector<TorusMessage> messages;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    if (op.action != Action::send) continue;
    TorusMessage message;
    message.step = op.step;
    message.source = program.rank();
    message.target = op.peer;
    message.lane = op.lane;
    message.chunks = chunks_in(op.source);
    messages.push_back(located(sides, message));
  }
  return messages;
}

inline std::vector<TorusMessage> messages_on(const Sides& sides, const Schedule& schedule) {
  std::vector<TorusMessage> messages;
  for (const Program& program : schedule.programs) {
    const auto sent = messages_on(sides, program);
    messages.insert(messages.end(), sent.begin(), sent.end());
  }
  return messages;
}

}  // namespace colltopo
