// The schedule file: text, sealed line by line, one section per rank, an index at the end (docs/schedule.md).
#pragma once

#include <iosfwd>
#include <string>

#include "colltopo/algorithms.h"
#include "colltopo/schedule.h"

namespace colltopo {

/// What stands before the sections. A parametric file has a `generate` line and no sections: its programs are made by the
/// named algorithm when they are needed.
struct ScheduleHeader {
  std::string name;
  Shape shape;
  Step steps = 0;
  std::string topology;
  std::string bound;
  std::string algorithm;     // of the `generate` line; empty: the file has sections
  AlgorithmOptions options;  // of the `generate` line
};

void write_schedule(std::ostream& out, const Schedule& schedule);
void write_parametric(std::ostream& out, const ScheduleHeader& header);

/// Whole file. Every error is an Error "FILE:LINE: what is there, what should be".
Schedule read_schedule(const std::string& path);
Schedule read_schedule(std::istream& in, const std::string& name_for_errors);

/// The header alone, and one rank's program, by the index: only those parts of the file are read and checked.
ScheduleHeader read_header(const std::string& path);
Program read_program(const std::string& path, Rank rank);

}  // namespace colltopo
