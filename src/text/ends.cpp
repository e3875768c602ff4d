// Index and last line are chained to the header and name the seal of every section, so the last seal depends on the
// whole file although nobody has to read all of it.

#include "text/ends.h"

#include <fmt/format.h>

namespace colltopo::text {

std::string section_name(const Shape& shape, std::size_t section) {
  if (section == static_cast<std::size_t>(shape.ranks)) return "routes";
  return fmt::format("section {}", section);
}

std::vector<Place> read_index(Lines& lines, const Head& head) {
  const Shape& shape = head.header.shape;
  Words first(lines, lines.next("the index"));
  first.keyword("index");
  first.number("sections in the index", head.sections, head.sections);
  first.end();
  std::vector<Place> places;
  for (std::int32_t i = 0; i < head.sections; ++i) {
    const std::string section = section_name(shape, static_cast<std::size_t>(i));
    Words words(lines, lines.next("a line of the index"));
    words.keyword(i < shape.ranks ? "section" : "routes");
    if (i < shape.ranks) words.number("rank", i, i);
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

void write_index(SealedLines& out, const Shape& shape, const std::vector<Place>& places) {
  out.line(fmt::format("index {}", places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    out.line(fmt::format("{} bytes {}+{} line {} seal {}", section_name(shape, i), place.bytes.first, place.bytes.bytes,
                         place.line, digits(place.seal)));
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
