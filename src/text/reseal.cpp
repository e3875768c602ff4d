// Sealing what a person wrote: everything that follows from the other lines is made anew.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <vector>

#include "text/ends.h"

namespace colltopo {

namespace {

using namespace text;

constexpr std::array<std::string_view, 5> k_sections = {"section ", "routes ", "symmetry ", "targets ", "paths "};

// A file's lines without seals, by what they belong to.
struct Parted {
  std::vector<std::string_view> header;
  std::vector<std::vector<std::string_view>> sections;  // each with its first line; the routes too
  std::vector<std::string_view> after;                  // behind the last line
};

std::string_view without_seal(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (seal_of(line)) line.remove_suffix(k_mark);
  return line;
}

Parted parted(std::string_view text) {
  enum class Part { header, sections, index, after } part = Part::header;
  Parted file;
  while (!text.empty()) {
    const std::size_t newline = std::min(text.find('\n'), text.size());
    const std::string_view line = without_seal(text.substr(0, newline));
    text.remove_prefix(std::min(newline + 1, text.size()));
    if (line.empty()) continue;
    const bool ends = line.starts_with("end ");
    const bool opens = std::ranges::any_of(k_sections, [&](std::string_view word) { return line.starts_with(word); });
    if (part != Part::after && line.starts_with("index "))
      part = Part::index;
    else if (part == Part::header && opens)
      part = Part::sections;

    if (part == Part::after)
      file.after.push_back(line);
    else if (ends)
      part = Part::after;
    else if (part == Part::header)
      file.header.push_back(line);
    else if (part == Part::sections && opens)
      file.sections.push_back({line});
    else if (part == Part::sections)
      file.sections.back().push_back(line);
  }
  return file;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (bool more = true; more;) {
    const std::size_t space = line.find(' ');
    words.push_back(line.substr(0, space));
    more = space != std::string_view::npos;
    if (more) line.remove_prefix(space + 1);
  }
  return words;
}

// The number at the beginning of a word; 0 when there is none, which reading will report.
std::int64_t number_at(std::string_view word) {
  std::int64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return std::clamp<std::int64_t>(number, 0, k_most_chunks);
}

// What an op's line adds to the totals.
void count_op(std::string_view line, std::int64_t& steps, std::int64_t& slots) {
  constexpr std::string_view k_scratch = "scratch:";
  const auto words = words_of(line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "step" && i + 1 < words.size()) steps = std::max(steps, number_at(words[i + 1]));
    if (!words[i].starts_with(k_scratch)) continue;
    const std::string_view run = words[i].substr(k_scratch.size());
    const std::size_t plus = run.find('+');
    if (plus != std::string_view::npos) slots = std::max(slots, number_at(run) + number_at(run.substr(plus + 1)));
  }
}

std::string first_line_of(const std::vector<std::string_view>& section, std::int64_t& steps) {
  const std::size_t count = section.size() - 1;
  const std::string_view first = section.front();
  if (first.starts_with("routes ")) return fmt::format("routes {}", count);
  const auto words = words_of(first);
  if (words[0] == "symmetry") return fmt::format("symmetry {}", count - 1);
  if (words[0] == "targets" || words[0] == "paths") {
    // Every word of a line of paths but the first two is a node.
    std::size_t nodes = 0;
    for (std::size_t i = 1; i < section.size(); ++i) nodes += words_of(section[i]).size() - 2;
    const std::string_view host = words.size() > 3 ? words[3] : "0";
    return words[0] == "targets" ? fmt::format("targets {} host {} lines {}", words[1], host, count)
                                 : fmt::format("paths {} nodes {}", words[1], nodes);
  }
  std::int64_t slots = 0;
  for (std::size_t i = 1; i < section.size(); ++i) count_op(section[i], steps, slots);
  return fmt::format("section {} ops {} scratch {}", words[1], count, slots);
}

}  // namespace

std::string sealed(std::string_view text) {
  const Parted file = parted(text);
  std::int64_t steps = 0;
  std::vector<std::string> first_lines;
  for (const auto& section : file.sections) first_lines.push_back(first_line_of(section, steps));

  const bool has_programs =
      std::ranges::any_of(file.sections, [](const auto& section) { return section.front().starts_with("section "); });
  std::ostringstream stream;
  SealedLines out(stream);
  for (const std::string_view line : file.header) {
    if (line.starts_with("sections "))
      out.line(fmt::format("sections {}", file.sections.size()));
    else if (line.starts_with("steps ") && has_programs)
      out.line(fmt::format("steps {}", steps));
    else
      out.line(line);
  }
  const Seal header = out.seal();
  const Stretch header_bytes{0, out.bytes()};
  std::vector<Place> places;
  for (std::size_t i = 0; i < file.sections.size(); ++i) {
    Place place{{out.bytes(), 0}, out.lines() + 1, 0};
    out.continue_from(header);
    out.line(first_lines[i]);
    for (std::size_t k = 1; k < file.sections[i].size(); ++k) out.line(file.sections[i][k]);
    place.bytes.bytes = out.bytes() - place.bytes.first;
    place.seal = out.seal();
    places.push_back(place);
  }
  std::vector<std::string> names;
  for (const std::string& line : first_lines) {
    const auto words = words_of(line);
    const bool alone = words[0] == "routes" || words[0] == "symmetry";
    names.push_back(alone ? std::string(words[0]) : fmt::format("section {}", names.size()));
    if (!alone && words[0] != "section") names.back() = fmt::format("{} {}", words[0], words[1]);
  }
  const std::uint64_t index = out.bytes();
  out.continue_from(header);
  write_index(out, names, places);
  write_last_line(out, {out.lines() + 1, header_bytes, {index, out.bytes() - index}});
  for (const std::string_view line : file.after) out.line(line);
  return std::move(stream).str();
}

}  // namespace colltopo
