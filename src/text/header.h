// The lines before the sections: what the schedule is, and where its programs come from.
#pragma once

#include <cstdint>

#include "colltopo/text.h"
#include "text/lines.h"
#include "text/seal.h"

namespace colltopo::text {

inline constexpr std::int32_t k_most_chunks = 1 << 26;  // of scratch, and in the runs of an op

/// What follows the header: lines, or sections that are not text (binary.h).
enum class Form : std::uint8_t { text, binary };

/// A header as it stands in a file.
struct Head {
  ScheduleHeader header;
  Form form = Form::text;
  // One per rank, and one more when there are routes (binary: one more for each rank); none when parametric; when
  // symmetric the generators, then targets of every orbit, then paths of every orbit.
  std::int32_t sections = 0;
  std::int64_t steps_line = 0;     // line number
  std::int64_t programs_line = 0;  // of `sections` or `generate`, the header's last line
  Seal seal = 0;                   // of that last line: sections and index are chained to it

  bool parametric() const { return !header.algorithm.empty(); }
  bool symmetric() const { return header.orbits > 0; }
  bool has_routes() const { return !symmetric() && sections > header.shape.ranks; }
};

Head read_head(Lines& lines, Form form = Form::text);
/// `routes`: sections of routes will follow.
void write_head(SealedLines& out, const ScheduleHeader& header, bool routes, Form form = Form::text);

/// One rank's program by the algorithm of the `generate` line.
Program generated(const Head& head, const std::string& file, Rank rank);

}  // namespace colltopo::text
