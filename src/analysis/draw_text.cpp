// Schedules as text: a table of all steps, or every op of one.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "colltopo/cost.h"
#include "colltopo/draw.h"
#include "colltopo/error.h"

namespace colltopo {

namespace {

constexpr std::size_t k_page = 118;  // letters across
constexpr int k_most_in_cell = 8;    // messages; more are counted

std::string heading(const Schedule& schedule, std::size_t messages) {
  const auto plural = [](auto count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  return fmt::format("{}: {} on {}, {} per shard, {}, {}\n", schedule.name, name(schedule.shape.collective),
                     plural(schedule.shape.ranks, "rank"), plural(schedule.shape.chunks, "chunk"),
                     plural(schedule.steps(), "step"), plural(messages, "message"));
}

/// What a rank does in a step: ">1(2)" sends 2 chunks to rank 1, "<3(2)" receives, "=1" copies, "+1" reduces.
struct Cell {
  std::string sends, receives;
  int sent = 0, received = 0;
  Chunk chunks_sent = 0, chunks_received = 0, copied = 0, reduced = 0;

  void add(const Op& op) {
    const Chunk chunks = chunks_in(op.action == Action::recv ? op.target : op.source);
    const auto message = [&](char sign) {
      return fmt::format(" {}{}({}){}", sign, op.peer, chunks, op.lane == 0 ? "" : fmt::format("@{}", op.lane));
    };
    switch (op.action) {
      case Action::send:
        if (++sent <= k_most_in_cell) sends += message('>');
        chunks_sent += chunks;
        break;
      case Action::recv:
        if (++received <= k_most_in_cell) receives += message('<');
        chunks_received += chunks;
        break;
      case Action::copy:
        copied += chunks;
        break;
      case Action::reduce:
        reduced += chunks;
        break;
    }
  }
  std::string text() const {
    std::string all = sent <= k_most_in_cell ? sends : fmt::format(" >{} messages({})", sent, chunks_sent);
    all += received <= k_most_in_cell ? receives : fmt::format(" <{} messages({})", received, chunks_received);
    if (reduced > 0) all += fmt::format(" +{}", reduced);
    if (copied > 0) all += fmt::format(" ={}", copied);
    return all.empty() ? "" : all.substr(1);
  }
};

using Column = std::vector<std::string>;  // [rank]

std::map<Step, Column> columns_of(const Schedule& schedule) {
  std::map<Step, Column> columns;
  const auto ranks = static_cast<std::size_t>(schedule.shape.ranks);
  for (const Program& program : schedule.programs) {
    std::map<Step, Cell> cells;
    for (std::size_t i = 0; i < program.size(); ++i) cells[program.op(i).step].add(program.op(i));
    for (const auto& [step, cell] : cells) {
      Column& column = columns.try_emplace(step, ranks).first->second;
      constexpr std::size_t k_most_cells = 1 << 22;  // a page of text for each four of them
      if (columns.size() * ranks > k_most_cells)
        throw Error(fmt::format("{}: more than {} steps of {} ranks to draw; draw one step or a smaller schedule",
                                schedule.name, k_most_cells / ranks, ranks));
      column[static_cast<std::size_t>(program.rank())] = cell.text();
    }
  }
  return columns;
}

std::string runs_text(std::span<const Run> runs) {
  std::string text;
  for (const Run& run : runs) text += fmt::format(" {}:{}+{}", name(run.buffer), run.first, run.count);
  return text;
}

std::string op_text(const Op& op) {
  switch (op.action) {
    case Action::send:
      return fmt::format("send to {:<5}{}{}", op.peer, op.lane == 0 ? "" : fmt::format(" lane {}", op.lane),
                         runs_text(op.source));
    case Action::recv:
      return fmt::format("recv from {:<3}{}{}", op.peer, op.lane == 0 ? "" : fmt::format(" lane {}", op.lane),
                         runs_text(op.target));
    case Action::copy:
    case Action::reduce:
      break;
  }
  return fmt::format("{:<13}{} ->{}", name(op.action), runs_text(op.source), runs_text(op.target));
}

void trim_right(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::string schedule_text(const Schedule& schedule) {
  const std::size_t messages = messages_of(schedule).size();
  std::string text = heading(schedule, messages) +
                     ">1(2) sends 2 chunks to rank 1, <1(2) receives them, +2 reduces, =2 copies, @1 is lane 1\n";
  const std::map<Step, Column> columns = columns_of(schedule);
  const auto ranks = static_cast<std::size_t>(schedule.shape.ranks);

  for (auto first = columns.begin(); first != columns.end();) {
    std::vector<std::string> lines(ranks + 1);
    lines[0] = "\nrank  ";
    for (std::size_t rank = 0; rank < ranks; ++rank) lines[rank + 1] = fmt::format("{:>4}  ", rank);
    const std::size_t margin = lines[1].size();
    for (bool page_is_empty = true; first != columns.end(); ++first, page_is_empty = false) {
      const auto& [step, column] = *first;
      const std::string title = step == 0 ? "before" : fmt::format("step {}", step);
      std::size_t width = title.size();
      for (const std::string& cell : column) width = std::max(width, cell.size());
      if (!page_is_empty && lines[1].size() + width > k_page) break;
      lines[0] += fmt::format("{:<{}}  ", title, width);
      for (std::size_t rank = 0; rank < ranks; ++rank) lines[rank + 1] += fmt::format("{:<{}}  ", column[rank], width);
    }
    if (lines[1].size() == margin) break;
    for (std::string& line : lines) {
      trim_right(line);
      text += line + '\n';
    }
  }
  return text;
}

std::string step_text(const Schedule& schedule, Step step) {
  std::vector<Message> messages = messages_of(schedule);
  std::string text = heading(schedule, messages.size());
  const auto in_step =
      std::count_if(messages.begin(), messages.end(), [&](const Message& m) { return m.step == step; });
  text += fmt::format("step {}: {} messages; runs are buffer:first+count, in chunks\n", step, in_step);
  for (const Program& program : schedule.programs) {
    for (std::size_t i = 0; i < program.size(); ++i)
      if (program.op(i).step == step) text += fmt::format("rank {:>4}  {}\n", program.rank(), op_text(program.op(i)));
  }
  return text;
}

}  // namespace colltopo
