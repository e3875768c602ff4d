// Schedules as pictures: a space-time diagram of all steps, or one step on a circle.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include <fmt/format.h>

#include "analysis/svg.h"
#include "colltopo/cost.h"
#include "colltopo/draw.h"
#include "colltopo/error.h"

namespace colltopo {

using namespace drawing;

namespace {

constexpr double k_left = 76, k_top = 96, k_row = 40, k_local = 44;  // pixels

std::string title_of(const Schedule& schedule) {
  return fmt::format("{}: {} on {} ranks", schedule.name, name(schedule.shape.collective), schedule.shape.ranks);
}

// Each step is a column, whether or not anything happens in it.
void check_columns(const Schedule& schedule) {
  if (static_cast<std::size_t>(schedule.steps()) > k_most_marks)
    throw Error(fmt::format("{}: {} steps to draw; at most {} can be read, draw one step or a smaller schedule",
                            schedule.name, schedule.steps(), k_most_marks));
}

void check_messages(const Schedule& schedule, std::size_t messages) {
  if (messages > k_most_marks)
    throw Error(fmt::format("{}: {} messages to draw; at most {} can be read, draw one step or a smaller schedule",
                            schedule.name, messages, k_most_marks));
}

/// Chunks copied and reduced by a rank in a step; a reduction and a copy are one mark each, however many ops.
struct LocalWork {
  Chunk copied = 0;
  Chunk reduced = 0;
};

std::map<std::pair<Rank, Step>, LocalWork> local_work(const Schedule& schedule) {
  std::map<std::pair<Rank, Step>, LocalWork> work;
  for (const Program& program : schedule.programs) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.action == Action::copy) work[{program.rank(), op.step}].copied += chunks_in(op.source);
      if (op.action == Action::reduce) work[{program.rank(), op.step}].reduced += chunks_in(op.source);
    }
  }
  return work;
}

/// Where the columns of a space-time diagram begin: step 0 (before the first message) is narrow. In a column, arrows
/// come first and local work stands at the end.
class Columns {
 public:
  Columns(Step steps, double width) : width_(width), steps_(steps) {}
  double begin(Step step) const { return step == 0 ? k_left : end(step - 1); }
  double end(Step step) const { return k_left + k_local + step * width_; }
  double arrows_end(Step step) const { return end(step) - k_local; }
  double end() const { return end(steps_); }

 private:
  double width_;
  Step steps_;
};

void draw_frame(Svg& svg, const Schedule& schedule, const Columns& columns, double bottom) {
  const Step steps = schedule.steps();
  for (Step step = 1; step <= steps; ++step) {
    if (step % 2 == 1)
      svg.rectangle({columns.begin(step), k_top - 34}, columns.end(step) - columns.begin(step), bottom - k_top + 52,
                    "#f4f7fa", {"none", 0, false});
    svg.text({0.5 * (columns.begin(step) + columns.end(step)), k_top - 22}, fmt::format("step {}", step),
             {.size = 12, .colour = "#445566", .bold = true});
  }
  for (Rank rank = 0; rank < schedule.shape.ranks; ++rank) {
    const double y = k_top + rank * k_row;
    svg.text({k_left - 12, y}, fmt::format("rank {}", rank), {.size = 12, .anchor = Anchor::end});
    svg.line({k_left - 4, y}, {columns.end(), y}, {"#b8c4d0", 1, false});
  }
}

void draw_local_work(Svg& svg, const Schedule& schedule, const Columns& columns) {
  for (const auto& [place, work] : local_work(schedule)) {
    const auto& [rank, step] = place;
    const Point at{columns.end(step) - k_local / 2, k_top + rank * k_row};
    if (work.copied > 0) {
      svg.rectangle(at - Point{4, 4}, 8, 8, "#7d8b99", {"#55626f", 1, false});
      svg.text(at - Point{0, 11}, fmt::format("{}", work.copied), {.size = 10, .colour = "#55626f", .halo = true});
    }
    if (work.reduced > 0) {
      const Point centre = at + Point{work.copied > 0 ? 13.0 : 0, 0};
      svg.circle(centre, 6, "#ffffff", {"#a5151f", 1.4, false});
      svg.line(centre - Point{4, 0}, centre + Point{4, 0}, {"#a5151f", 1.4, false});
      svg.line(centre - Point{0, 4}, centre + Point{0, 4}, {"#a5151f", 1.4, false});
      svg.text(centre - Point{0, 13}, fmt::format("{}", work.reduced), {.size = 10, .colour = "#a5151f", .halo = true});
    }
  }
}

std::size_t most_in_a_step(const std::vector<Message>& messages) {
  std::map<std::pair<Step, Rank>, std::size_t> sent;
  std::size_t most = 0;
  for (const Message& message : messages) most = std::max(most, ++sent[{message.step, message.source}]);
  return most;
}

}  // namespace

std::string schedule_svg(const Schedule& schedule) {
  const std::vector<Message> messages = messages_of(schedule);
  check_messages(schedule, messages.size());
  check_columns(schedule);
  // Room for fans of arrows: they are told apart by where along them the count stands.
  const double column = std::min(320.0, 130.0 + 14.0 * static_cast<double>(most_in_a_step(messages)));
  const Columns columns(schedule.steps(), column);
  const double bottom = k_top + (schedule.shape.ranks - 1) * k_row;
  Svg svg(std::max(460.0, columns.end() + 30), bottom + 70);
  svg.text({24, 24}, title_of(schedule), {.size = 15, .anchor = Anchor::start, .bold = true});
  svg.text({24, 44},
           fmt::format("{} messages; numbers are chunks ({} per shard), squares copies, crosses reductions",
                       messages.size(), schedule.shape.chunks),
           {.size = 11, .colour = "#556677", .anchor = Anchor::start});
  draw_frame(svg, schedule, columns, bottom);

  std::vector<std::pair<Point, std::string>> counts;
  std::map<std::pair<Step, Rank>, int> already;
  for (const Message& message : messages) {
    const int nth = already[{message.step, message.source}]++;
    const Point from{columns.begin(message.step) + 8, k_top + message.source * k_row};
    const Point to{columns.arrows_end(message.step), k_top + message.target * k_row};
    svg.arrow(from, to, 0, {hue(message.source, schedule.shape.ranks), 1.5, message.lane != 0});
    counts.emplace_back(from + (0.22 + 0.07 * (nth % 7)) * (to - from), std::to_string(message.chunks));
  }
  for (const auto& [at, text] : counts) svg.text(at, text, {.size = 11, .halo = true});
  draw_local_work(svg, schedule, columns);
  return std::move(svg).finish();
}

std::string step_svg(const Schedule& schedule, Step step) {
  std::vector<Message> messages = messages_of(schedule);
  std::erase_if(messages, [&](const Message& message) { return message.step != step; });
  check_messages(schedule, messages.size());
  const Rank ranks = schedule.shape.ranks;
  const double radius = std::max(130.0, ranks * 44 / (2 * std::numbers::pi));
  const Point centre{radius + 60, radius + 110};
  const auto place = [&](Rank rank) {
    const double angle = 2 * std::numbers::pi * rank / ranks - std::numbers::pi / 2;
    return centre + radius * Point{std::cos(angle), std::sin(angle)};
  };
  Svg svg(std::max(460.0, 2 * centre.x), centre.y + radius + 50);
  svg.text({24, 24}, title_of(schedule), {.size = 15, .anchor = Anchor::start, .bold = true});
  svg.text({24, 44},
           fmt::format("step {} of {}: {} messages; numbers are chunks", step, schedule.steps(), messages.size()),
           {.size = 11, .colour = "#556677", .anchor = Anchor::start});

  std::vector<std::pair<Point, std::string>> counts;
  for (const Message& message : messages) {
    const Point from = place(message.source), to = place(message.target);
    const Point unit = 1 / std::max(1.0, length(to - from)) * (to - from);
    // Bowed inwards, one way more than the other, so that an exchange is two arrows.
    const Point aside = normal(to - from), inwards = centre - 0.5 * (from + to);
    const double side = aside.x * inwards.x + aside.y * inwards.y < 0 ? -1 : 1;
    const double bow = side * (message.source < message.target ? 0.05 : 0.14) * length(to - from);
    svg.arrow(from + 15 * unit, to - 18 * unit, bow, {hue(message.source, ranks), 1.6, message.lane != 0});
    counts.emplace_back(0.5 * (from + to) - 0.14 * (to - from) + bow * normal(to - from),
                        std::to_string(message.chunks));
  }
  for (const auto& [at, text] : counts) svg.text(at, text, {.size = 11, .halo = true});
  for (Rank rank = 0; rank < ranks; ++rank) {
    svg.circle(place(rank), 15, "#eaf2fb", {"#2b5c8a", 1.4, false});
    svg.text(place(rank), std::to_string(rank), {.size = 12});
  }
  return std::move(svg).finish();
}

}  // namespace colltopo
