// One line per op. Programs are built by ProgramBuilder, whose faults are given the line of the op.

#include "text/section.h"

#include <fmt/format.h>

#include <iterator>
#include <tuple>

namespace colltopo::text {

namespace {

Run read_run(const Words& words, std::string_view word) {
  const std::size_t colon = word.find(':');
  const std::size_t plus = colon == std::string_view::npos ? colon : word.find('+', colon);
  const std::string_view buffer = word.substr(0, colon);
  Run run;
  if (buffer == name(Buffer::input))
    run.buffer = Buffer::input;
  else if (buffer == name(Buffer::output))
    run.buffer = Buffer::output;
  else if (buffer == name(Buffer::scratch))
    run.buffer = Buffer::scratch;
  else
    throw words.error(fmt::format("{}, expected a run of input, output or scratch", in_quotes(word)));
  if (plus == std::string_view::npos) {
    throw words.error(fmt::format("{}, expected {}:FIRST+COUNT", in_quotes(word), buffer));
  }
  run.first = static_cast<Chunk>(
      words.number_in(word.substr(colon + 1, plus - colon - 1), "the run's first chunk", 0, k_most_chunks));
  run.count = static_cast<Chunk>(words.number_in(word.substr(plus + 1), "the run's count", 1, k_most_chunks));
  return run;
}

// Runs up to the end of the line or the word `>`.
Runs read_runs(Words& words) {
  Runs runs;
  std::int64_t chunks = 0;
  do {
    runs.push_back(read_run(words, words.word("a run")));
    chunks += runs.back().count;
    if (chunks > k_most_chunks)
      throw words.error(fmt::format("{} chunks in one op, expected at most {}", chunks, k_most_chunks));
  } while (!words.done() && !words.next_is(">"));
  return runs;
}

// An op as it stands in a line, before ProgramBuilder has judged it.
struct StatedOp {
  Action action = Action::send;
  Rank peer = 0;
  Step step = 0;
  Lane lane = 0;
  Runs source, target;
};

Action read_action(Words& words) {
  const std::string_view word = words.word("an op");
  for (const Action action : {Action::send, Action::recv, Action::copy, Action::reduce}) {
    if (word == name(action)) return action;
  }
  throw words.error(fmt::format("{}, expected send, recv, copy or reduce", in_quotes(word)));
}

StatedOp read_op(Words words, Step last_step) {
  StatedOp op;
  op.action = read_action(words);
  if (is_message(op.action)) op.peer = words.number("peer");
  words.keyword("step");
  op.step = words.number("step", 0, last_step);
  if (is_message(op.action) && words.takes("lane")) op.lane = words.number("lane");
  if (op.action != Action::recv) op.source = read_runs(words);
  if (!is_message(op.action)) words.keyword(">");
  if (op.action != Action::send) op.target = read_runs(words);
  words.end();
  return op;
}

void append_runs(std::string& line, std::span<const Run> runs) {
  for (const Run& run : runs) {
    line.append(" ").append(name(run.buffer)).append(":");
    line.append(fmt::format_int(run.first).c_str()).append("+").append(fmt::format_int(run.count).c_str());
  }
}

void format_op(std::string& line, const Op& op) {
  line.assign(name(op.action));
  const bool message = is_message(op.action);
  if (message) line.append(" ").append(fmt::format_int(op.peer).c_str());
  line.append(" step ").append(fmt::format_int(op.step).c_str());
  if (message && op.lane != 0) line.append(" lane ").append(fmt::format_int(op.lane).c_str());
  append_runs(line, op.source);
  if (!message) line.append(" >");
  append_runs(line, op.target);
}

}  // namespace

Program read_section(Lines& lines, const Head& head, Rank rank) {
  const std::string expected = fmt::format("the section of rank {}", rank);
  Words words(lines, lines.next(expected));
  words.keyword("section");
  if (const Rank found = words.number("rank"); found != rank) {
    throw lines.error(fmt::format("section of rank {}, expected {}", found, expected));
  }
  words.keyword("ops");
  const auto ops = words.number<std::int64_t>("ops");
  words.keyword("scratch");
  const Chunk scratch = words.number("scratch", 0, k_most_chunks);
  words.end();
  const std::int64_t first_line = lines.line();

  ProgramBuilder program(head.header.shape, rank);
  for (std::int64_t i = 0; i < ops; ++i) {
    StatedOp op = read_op(Words(lines, lines.next("an op")), head.header.steps);
    try {
      program.add({op.action, op.peer, op.lane, op.step, {}, {}}, std::move(op.source), std::move(op.target));
    } catch (const Error& error) {
      throw lines.error(error.what());
    }
  }
  Program built = std::move(program).build();
  if (built.scratch() != scratch) {
    throw error_at(lines.file(), first_line,
                   fmt::format("scratch {}, expected the {} slots that the ops below use", scratch, built.scratch()));
  }
  return built;
}

void write_section(SealedLines& out, const Program& program) {
  std::string line = fmt::format("section {} ops {} scratch {}", program.rank(), program.size(), program.scratch());
  out.line(line);
  for (std::size_t i = 0; i < program.size(); ++i) {
    format_op(line, program.op(i));
    out.line(line);
  }
}

std::string route_fault(const Shape& shape, const Route* before, const Route& route) {
  const auto is_rank = [&](Rank rank) { return rank >= 0 && rank < shape.ranks; };
  if (!is_rank(route.source) || !is_rank(route.target) || route.source == route.target) {
    return fmt::format("route from {} to {}, expected two ranks of 0..{}", route.source, route.target, shape.ranks - 1);
  }
  if (route.lane < 0 || route.layer < 0) {
    return fmt::format("route on lane {}, layer {}, expected 0 or more", route.lane, route.layer);
  }
  for (const LinkId link : route.links) {
    if (link < 0) return fmt::format("route over link {}, expected 0 or more", link);
  }
  const auto order = [](const Route& r) { return std::tuple(r.source, r.target, r.lane); };
  if (before != nullptr && order(*before) >= order(route)) {
    return fmt::format("route {} > {} lane {} after {} > {} lane {}, expected increasing order", route.source,
                       route.target, route.lane, before->source, before->target, before->lane);
  }
  return {};
}

std::vector<Route> read_routes(Lines& lines, const Head& head) {
  Words words(lines, lines.next("the routes"));
  words.keyword("routes");
  const auto count = words.number<std::int64_t>("routes", 1);
  words.end();
  std::vector<Route> routes;
  for (std::int64_t i = 0; i < count; ++i) {
    Words line(lines, lines.next("a route"));
    Route route;
    line.keyword("route");
    route.source = line.number("source");
    line.keyword(">");
    route.target = line.number("target");
    line.keyword("lane");
    route.lane = line.number("lane");
    line.keyword("layer");
    route.layer = line.number("layer");
    line.keyword("links");
    while (!line.done()) route.links.push_back(line.number("link"));
    const std::string fault = route_fault(head.header.shape, routes.empty() ? nullptr : &routes.back(), route);
    if (!fault.empty()) throw lines.error(fault);
    routes.push_back(std::move(route));
  }
  return routes;
}

void write_routes_begin(SealedLines& out, std::size_t routes) { out.line(fmt::format("routes {}", routes)); }

std::string route_lines(const std::vector<Route>& routes) {
  std::string lines;
  for (const Route& route : routes) {
    fmt::format_to(std::back_inserter(lines), "route {} > {} lane {} layer {} links", route.source, route.target,
                   route.lane, route.layer);
    for (const LinkId link : route.links) lines.append(" ").append(fmt::format_int(link).c_str());
    lines.push_back('\n');
  }
  return lines;
}

}  // namespace colltopo::text
