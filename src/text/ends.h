// The end of a file: the index of sections and the last line, by which a rank finds its own section.
#pragma once

#include <vector>

#include "text/header.h"

namespace colltopo::text {

/// Where a section lies.
struct Place {
  Stretch bytes;
  std::int64_t line = 0;  // number of its first line
  Seal seal = 0;          // of its last line

  friend bool operator==(const Place&, const Place&) = default;
};

/// Section i of the file, as the index names it: of rank i, or (i = ranks) of the routes; of a symmetric schedule the
/// symmetry, the targets of an orbit or its paths.
std::string section_name(const ScheduleHeader& header, std::size_t section);

std::vector<Place> read_index(Lines& lines, const Head& head);
/// `names`: [section] as section_name() has them.
void write_index(SealedLines& out, const std::vector<std::string>& names, const std::vector<Place>& places);

/// The last line.
struct LastLine {
  std::int64_t lines = 0;  // of the file, this one included
  Stretch header, index;

  friend bool operator==(const LastLine&, const LastLine&) = default;
};

LastLine last_line_from(Words words);
LastLine read_last_line(Lines& lines);
void write_last_line(SealedLines& out, const LastLine& last);

}  // namespace colltopo::text
