// Index and last line are chained to the header and name the seal of every section, so the last seal depends on the
// whole file although nobody has to read all of it.

#include "text/ends.h"

#include <fmt/format.h>

#include <algorithm>

namespace colltopo::text {

std::string section_name(const ScheduleHeader& header, std::size_t section) {
  const auto orbits = static_cast<std::size_t>(header.orbits);
  if (orbits > 0) {
    if (section == 0) return "symmetry";
    return section <= orbits ? fmt::format("targets {}", section - 1) : fmt::format("paths {}", section - 1 - orbits);
  }
  if (section == static_cast<std::size_t>(header.shape.ranks)) return "routes";
  return fmt::format("section {}", section);
}

std::vector<Place> read_index(Lines& lines, const Head& head) {
  Words first(lines, lines.next("the index"));
  first.keyword("index");
  first.number("sections in the index", head.sections, head.sections);
  first.end();
  std::vector<Place> places;
  for (std::int32_t i = 0; i < head.sections; ++i) {
    const std::string section = section_name(head.header, static_cast<std::size_t>(i));
    const std::size_t space = std::min(section.find(' '), section.size());
    Words words(lines, lines.next("a line of the index"));
    words.keyword(std::string_view(section).substr(0, space));
    if (space < section.size()) words.keyword(std::string_view(section).substr(space + 1));
    Place place;
    words.keyword("bytes");
    place.bytes = words.stretch("bytes");
    words.keyword("line");
    place.line = words.number<std::int64_t>("line", 1);
    words.keyword("seal");
    place.seal = words.seal("seal");
    words.end();
    places.push_back(place);
  }
  return places;
}

void write_index(SealedLines& out, const std::vector<std::string>& names, const std::vector<Place>& places) {
  out.line(fmt::format("index {}", places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    out.line(fmt::format("{} bytes {}+{} line {} seal {}", names[i], place.bytes.first, place.bytes.bytes, place.line,
                         digits(place.seal)));
  }
}

LastLine last_line_from(Words words) {
  LastLine last;
  words.keyword("end");
  words.keyword("lines");
  last.lines = words.number<std::int64_t>("lines", 1);
  words.keyword("header");
  last.header = words.stretch("header");
  words.keyword("index");
  last.index = words.stretch("index");
  words.end();
  return last;
}

LastLine read_last_line(Lines& lines) { return last_line_from(Words(lines, lines.next("the last line"))); }

void write_last_line(SealedLines& out, const LastLine& last) {
  out.line(fmt::format("end lines {} header {}+{} index {}+{}", last.lines, last.header.first, last.header.bytes,
                       last.index.first, last.index.bytes));
}

}  // namespace colltopo::text
