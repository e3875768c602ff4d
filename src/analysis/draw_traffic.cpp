// Who sends how much to whom, for schedules of more messages than can be told apart: a square of ranks by ranks.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/labels.h"
#include "analysis/svg.h"
#include "colltopo/cost.h"
#include "colltopo/draw.h"

namespace colltopo {

using namespace drawing;

namespace {

constexpr Rank k_most_cells = 128;  // along a side; more ranks share cells

/// Chunks from rank to rank, of blocks of ranks where these are many.
struct Traffic {
  Rank cells = 0, ranks_per_cell = 1;
  std::size_t messages = 0;
  std::vector<double> chunks;  // [source][target]
  double most = 0;

  double& at(Rank source, Rank target) {
    return chunks[static_cast<std::size_t>(source) * static_cast<std::size_t>(cells) +
                  static_cast<std::size_t>(target)];
  }
};

Traffic traffic_of(const Schedule& schedule, Step step) {
  Traffic traffic;
  const Rank ranks = schedule.shape.ranks;
  traffic.ranks_per_cell = (ranks + k_most_cells - 1) / k_most_cells;
  traffic.cells = (ranks + traffic.ranks_per_cell - 1) / traffic.ranks_per_cell;
  traffic.chunks.resize(static_cast<std::size_t>(traffic.cells) * static_cast<std::size_t>(traffic.cells));
  for (const Message& message : messages_of(schedule)) {
    if (step > 0 && message.step != step) continue;
    ++traffic.messages;
    double& cell = traffic.at(message.source / traffic.ranks_per_cell, message.target / traffic.ranks_per_cell);
    cell += static_cast<double>(message.chunks);
    traffic.most = std::max(traffic.most, cell);
  }
  return traffic;
}

std::string what_of(const Schedule& schedule, Step step, const Traffic& traffic) {
  return fmt::format("{}{} messages, too many to draw one by one; darkest: {:g} chunks ({} per shard){}",
                     step > 0 ? fmt::format("step {} of {}: ", step, schedule.steps()) : "", traffic.messages,
                     traffic.most, schedule.shape.chunks,
                     traffic.ranks_per_cell > 1
                         ? fmt::format("; a square is {} x {} ranks", traffic.ranks_per_cell, traffic.ranks_per_cell)
                         : "");
}

}  // namespace

std::string traffic_svg(const Schedule& schedule, Step step) {
  constexpr double k_left = 70, k_top = 92, k_side = 512;
  Traffic traffic = traffic_of(schedule, step);
  const std::string title =
      fmt::format("{}: {} on {} ranks", schedule.name, name(schedule.shape.collective), schedule.shape.ranks);
  const std::string what = what_of(schedule, step, traffic);
  Svg svg(std::max({k_left + k_side + 40, 48 + text_width(title, 16), 48 + text_width(what, 11)}), k_top + k_side + 40);
  svg.text({24, 24}, title, {.size = 15, .anchor = Anchor::start, .bold = true});
  svg.text({24, 44}, what, {.size = 11, .colour = "#556677", .anchor = Anchor::start});
  const double cell = k_side / traffic.cells;
  for (Rank source = 0; source < traffic.cells; ++source)
    for (Rank target = 0; target < traffic.cells; ++target) {
      const double chunks = traffic.at(source, target);
      if (chunks > 0)
        svg.rectangle({k_left + cell * target, k_top + cell * source}, cell, cell, heat(chunks / traffic.most),
                      {"none", 0, false});
    }
  svg.rectangle({k_left, k_top}, k_side, k_side, "none", {"#667788", 1, false});
  svg.text({k_left + k_side / 2, k_top - 22}, "to rank", {.size = 11, .bold = true});
  svg.text({k_left - 8, k_top + k_side / 2}, "from rank", {.size = 11, .anchor = Anchor::end, .bold = true});
  for (const Rank part : {0, 1, 2, 3}) {
    const Rank at = static_cast<Rank>(static_cast<double>(traffic.cells) * part / 4);
    const std::string rank = std::to_string(at * traffic.ranks_per_cell);
    svg.text({k_left + cell * (at + 0.5), k_top - 8}, rank, {.size = 10});
    if (part != 2) svg.text({k_left - 8, k_top + cell * (at + 0.5)}, rank, {.size = 10, .anchor = Anchor::end});
  }
  return std::move(svg).finish();
}

}  // namespace colltopo
