// The header has its lines in one fixed order; topology, bound and proof are left out when empty, root when there is
// none.

#include "text/header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/plain.h"
#include "text/limits.h"

namespace colltopo::text {

namespace {

constexpr std::string_view first_line(Form form) {
  return form == Form::text ? "topo-schedule 1" : "topo-schedule-binary 1";
}

std::int32_t count_of_sections(const Shape& shape, bool routes, Form form) {
  return shape.ranks + (!routes ? 0 : form == Form::text ? 1 : shape.ranks);
}

// The words of a `proof` line.
struct Proved {
  std::string_view word;
  bool Proof::*value;
};
constexpr std::array<Proved, 5> k_proved = {{{"in-place", &Proof::in_place},
                                             {"rank-order", &Proof::keeps_rank_order},
                                             {"equal-bits", &Proof::same_on_all_ranks},
                                             {"stepped", &Proof::stepped},
                                             {"independent", &Proof::independent}}};

bool one_line(std::string_view text) { return control_at(text) == std::string_view::npos; }

// The text after the line's keyword, kept as it is.
std::string free_text(const Lines& lines, std::string_view line, std::string_view keyword) {
  const bool alone = line == keyword;
  if (!alone && !line.starts_with(std::string(keyword) + ' ')) {
    throw lines.error(fmt::format("{}, expected \"{}\"", in_quotes(line), keyword));
  }
  const std::string_view text = alone ? std::string_view() : line.substr(keyword.size() + 1);
  if (!one_line(text)) throw lines.error(fmt::format("{} has control characters, expected plain text", keyword));
  return std::string(text);
}

std::int32_t number_line(Lines& lines, std::string_view keyword, std::int32_t low, std::int32_t high) {
  Words words(lines, lines.next(keyword));
  words.keyword(keyword);
  const auto number = words.number(keyword, low, high);
  words.end();
  return number;
}

std::vector<int> numbers(const Words& words, std::string_view list, char between, std::string_view what, int low,
                         std::size_t most) {
  std::vector<int> numbers;
  for (bool more = true; more;) {
    if (numbers.size() == most)
      throw words.error(fmt::format("{} with more than {} numbers, expected no more", what, most));
    const std::size_t end = list.find(between);
    numbers.push_back(static_cast<int>(words.number_in(list.substr(0, end), what, low, k_most_chunks)));
    more = end != std::string_view::npos;
    if (more) list = list.substr(end + 1);
  }
  return numbers;
}

Proof read_proof(Words& words) {
  Proof proof;
  words.keyword("proof");
  while (!words.done()) {
    const std::string_view word = words.word("what is proved");
    const auto known = std::ranges::find(k_proved, word, &Proved::word);
    if (known == k_proved.end() || proof.*known->value) {
      throw words.error(
          fmt::format("proof of {}, expected in-place, rank-order, equal-bits, stepped or independent, each once",
                      in_quotes(word)));
    }
    proof.*known->value = true;
  }
  return proof;
}

// What a row knows and a placement has, by the names of a `generate` line.
std::string expected_options(const Algorithm* algorithm) {
  std::string names;
  for (const Option& option : algorithm == nullptr ? all_options() : std::span(algorithm->options))
    names += fmt::format("{}=, ", option.name);
  return names + "group-of= or dimensions=";
}

void read_option(const Words& words, std::string_view option, ScheduleHeader& header) {
  AlgorithmOptions& options = header.options;
  const std::size_t equals = option.find('=');
  const std::string_view key = option.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? std::string_view() : option.substr(equals + 1);
  // What another row knows does this one no harm.
  if (const auto known = std::ranges::find(all_options(), key, &Option::name); known != all_options().end()) {
    const bool flag = known->least == 0;
    options.values.set(key,
                       static_cast<int>(words.number_in(value, key, flag ? 0 : 1, flag ? known->most : k_most_chunks)));
  } else if (key == "group-of") {
    options.groups = grouped(numbers(words, value, ',', key, 0, static_cast<std::size_t>(header.shape.ranks)));
  } else if (key == "dimensions") {
    options.dimensions = numbers(words, value, 'x', key, 1, Limits::k_most_sides);
  } else {
    throw words.error(
        fmt::format("option {}, expected {}", in_quotes(option), expected_options(algorithm_named(header.algorithm))));
  }
}

void read_generate(Words& words, ScheduleHeader& header) {
  header.algorithm = words.word("an algorithm");
  if (header.algorithm.empty()) throw words.error("no algorithm, expected its name");
  std::set<std::string_view> seen;
  while (!words.done()) {
    const std::string_view option = words.word("an option");
    if (!seen.insert(option.substr(0, option.find('='))).second) {
      throw words.error(fmt::format("option {} stands twice, expected once", in_quotes(option)));
    }
    read_option(words, option, header);
  }
}

std::string generate_line(const ScheduleHeader& header) {
  const AlgorithmOptions& options = header.options;
  std::string line = "generate " + header.algorithm;
  for (const Option& option : algorithm_named(header.algorithm)->options) {
    if (const auto value = options.values.find(option.name)) line += fmt::format(" {}={}", option.name, *value);
  }
  if (options.groups) line += fmt::format(" group-of={}", fmt::join(options.groups->all(), ","));
  if (!options.dimensions.empty()) line += fmt::format(" dimensions={}", fmt::join(options.dimensions, "x"));
  return line;
}

// Empty when the algorithm can make the programs; otherwise why not.
std::string generate_fault(const ScheduleHeader& header) {
  const Algorithm* algorithm = algorithm_named(header.algorithm);
  const Shape& shape = header.shape;
  if (algorithm == nullptr) {
    std::vector<std::string_view> known;
    for (const Algorithm& a : algorithms()) known.push_back(a.name);
    return fmt::format("algorithm {} is not known, expected one of {}", in_quotes(header.algorithm),
                       fmt::join(known, ", "));
  }
  if (!serves(*algorithm, shape.collective)) {
    return fmt::format("{} does not do {}, expected an algorithm that does", algorithm->name, name(shape.collective));
  }
  if (const auto& groups = header.options.groups; groups && groups->ranks() != shape.ranks) {
    return fmt::format("group-of lists {} ranks, expected {}", groups->ranks(), shape.ranks);
  }
  if (const std::string refusal = algorithm->refusal(shape, header.options); !refusal.empty()) return refusal;
  if (const Chunk chunks = algorithm->chunks(shape, header.options); chunks != shape.chunks) {
    return fmt::format("chunks {}, expected the {} that {} uses", shape.chunks, chunks, algorithm->name);
  }
  return {};
}

void require_writable_header(const ScheduleHeader& header) {
  const Shape& shape = header.shape;
  const auto require = [](bool good, std::string_view fact) {
    if (!good) throw Error(fmt::format("schedule cannot be written: {}", fact));
  };
  require(
      one_line(header.name) && one_line(header.topology) && one_line(header.topology_name) && one_line(header.bound),
      "name, topology or bound has control characters, expected one line of plain text each");
  require(shape.ranks >= 1, fmt::format("ranks {}, expected 1 or more", shape.ranks));
  require(shape.ranks <= Limits::k_most_ranks,
          fmt::format("ranks {}, expected at most {}", shape.ranks, Limits::k_most_ranks));
  require(shape.chunks >= 1 && shape.chunks <= most_chunks(shape.ranks),
          fmt::format("chunks {}, expected 1..{}", shape.chunks, most_chunks(shape.ranks)));
  require(shape.root >= 0 && (rooted(shape.collective) ? shape.root < shape.ranks : shape.root == 0),
          fmt::format("root {}, expected a rank, and 0 when there is no root", shape.root));
  require(header.steps >= 0 && header.steps <= Limits::k_most_steps,
          fmt::format("steps {}, expected 0..{}", header.steps, Limits::k_most_steps));
  require(header.orbits == 0 || shape.collective == Collective::alltoall,
          fmt::format("a symmetric {}, expected alltoall", name(shape.collective)));
  if (header.algorithm.empty()) return;
  const auto bad = [](int side) { return side < 1 || side > k_most_chunks; };
  require(std::ranges::none_of(header.options.dimensions, bad), "a side of the dimensions is out of range");
  const std::string fault = generate_fault(header);
  require(fault.empty(), fault);
}

}  // namespace

Head read_head(Lines& lines, Form form) {
  Head head;
  head.form = form;
  ScheduleHeader& header = head.header;
  Shape& shape = header.shape;
  const std::string_view expected = first_line(form);
  const std::string_view first = lines.next_or_stranger(expected.substr(0, expected.find(' ') + 1), expected);
  if (first != expected) throw lines.error(fmt::format("{}, expected \"{}\"", in_quotes(first), expected));
  header.name = free_text(lines, lines.next("name"), "name");

  Words words(lines, lines.next("collective"));
  words.keyword("collective");
  const std::string_view collective = words.word("a collective");
  if (!collective_named(collective)) {
    throw lines.error(
        fmt::format("collective {}, expected alltoall, allgather, reduce_scatter, allreduce, bcast or reduce",
                    in_quotes(collective)));
  }
  shape.collective = *collective_named(collective);
  words.end();
  shape.ranks = number_line(lines, "ranks", 1, Limits::k_most_ranks);
  shape.chunks = number_line(lines, "chunks", 1, most_chunks(shape.ranks));
  if (rooted(shape.collective)) shape.root = number_line(lines, "root", 0, shape.ranks - 1);
  header.steps = number_line(lines, "steps", 0, Limits::k_most_steps);
  head.steps_line = lines.line();

  constexpr std::string_view k_expected = "topology, bound, proof, sections, orbits or generate";
  std::string_view line = lines.next(k_expected);
  if (line.starts_with("topology ")) {
    const std::string topology = free_text(lines, line, "topology");
    const std::size_t space = std::min(topology.find(' '), topology.size());
    header.topology = topology.substr(0, space);
    header.topology_name = topology.substr(std::min(space + 1, topology.size()));
    line = lines.next(k_expected);
  }
  if (line.starts_with("bound ")) {
    header.bound = free_text(lines, line, "bound");
    line = lines.next(k_expected);
  }
  if (line == "proof" || line.starts_with("proof ")) {
    Words proof(lines, line);
    header.proof = read_proof(proof);
    line = lines.next(k_expected);
  }
  Words last(lines, line);
  if (form == Form::binary && !last.next_is("sections"))
    throw lines.error(fmt::format("{}, expected \"sections\": only these are written in binary", in_quotes(line)));
  if (last.takes("generate")) {
    if (shape.ranks > Limits::k_most_generated)
      throw lines.error(fmt::format("programs of {} ranks by an algorithm, expected at most {}", shape.ranks,
                                    Limits::k_most_generated));
    read_generate(last, header);
    if (const std::string fault = generate_fault(header); !fault.empty()) throw lines.error(fault);
  } else if (last.takes("sections")) {
    const std::int32_t with_routes = count_of_sections(shape, true, form);
    head.sections = last.number("sections", shape.ranks, with_routes);
    if (head.sections != shape.ranks && head.sections != with_routes)
      throw lines.error(fmt::format("{} sections, expected {} or {}", head.sections, shape.ranks, with_routes));
    last.end();
  } else if (last.takes("orbits")) {
    if (shape.collective != Collective::alltoall)
      throw lines.error(fmt::format("orbits of {}, expected them of alltoall alone", name(shape.collective)));
    header.orbits = last.number("orbits", 1, shape.ranks);
    if (shape.ranks % header.orbits != 0)
      throw lines.error(fmt::format("{} orbits, expected a divisor of the {} ranks", header.orbits, shape.ranks));
    head.sections = 1 + 2 * header.orbits;
    last.end();
  } else {
    throw lines.error(fmt::format("{}, expected {}", in_quotes(line), k_expected));
  }
  head.programs_line = lines.line();
  head.seal = lines.seal();
  return head;
}

void write_head(SealedLines& out, const ScheduleHeader& header, bool routes, Form form) {
  require_writable_header(header);
  const Shape& shape = header.shape;
  out.line(first_line(form));
  out.line(header.name.empty() ? "name" : "name " + header.name);
  out.line(fmt::format("collective {}", name(shape.collective)));
  out.line(fmt::format("ranks {}", shape.ranks));
  out.line(fmt::format("chunks {}", shape.chunks));
  if (rooted(shape.collective)) out.line(fmt::format("root {}", shape.root));
  out.line(fmt::format("steps {}", header.steps));
  if (!header.topology.empty())
    out.line("topology " + header.topology + (header.topology_name.empty() ? "" : " ") + header.topology_name);
  if (!header.bound.empty()) out.line("bound " + header.bound);
  if (header.proof) {
    std::string line = "proof";
    for (const Proved& proved : k_proved)
      if ((*header.proof).*proved.value) line += fmt::format(" {}", proved.word);
    out.line(line);
  }
  if (header.orbits > 0)
    out.line(fmt::format("orbits {}", header.orbits));
  else if (header.algorithm.empty())
    out.line(fmt::format("sections {}", count_of_sections(shape, routes, form)));
  else
    out.line(generate_line(header));
}

Program generated(const Head& head, const std::string& file, Rank rank) {
  const ScheduleHeader& header = head.header;
  try {
    return algorithm_named(header.algorithm)->program(header.shape, rank, header.options);
  } catch (const Error& error) {
    throw error_at(file, head.programs_line, error.what());
  }
}

}  // namespace colltopo::text
