// The schedule file: text, sealed line by line, one section per rank or per orbit of ranks, an index at the end; or the
// same in binary, with compressed sections (docs/schedule.md).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "colltopo/algorithms.h"
#include "colltopo/schedule.h"
#include "colltopo/sections.h"
#include "colltopo/symmetric.h"

namespace colltopo {

/// What stands before the sections. Programs that a file does not list are made when they are needed: by the algorithm
/// of its `generate` line, or out of the orbits of a symmetric schedule.
struct ScheduleHeader {
  std::string name;
  Shape shape;
  Step steps = 0;
  std::string topology;       // its fingerprint
  std::string topology_name;  // as Schedule's
  std::string bound;
  std::optional<Proof> proof;  // as Schedule's
  std::string algorithm;       // of the `generate` line; empty: the file has sections
  AlgorithmOptions options;    // of the `generate` line
  std::int32_t orbits = 0;     // of a symmetric schedule; 0: it is none
  /// Seal of the last line, which depends on every line of the file: ranks that read equal ones read the same file.
  /// Set by reading, not used by writing.
  std::uint32_t checksum = 0;
};

/// Both throw Error when what they write could not be read back, before writing anything.
void write_schedule(std::ostream& out, const Schedule& schedule);
void write_parametric(std::ostream& out, const ScheduleHeader& header);
void write_symmetric(std::ostream& out, const SymmetricSchedule& schedule);
/// The text file of a schedule by sections, some of which are made at the same time, on all cores. Each is made as
/// often as the file needs it: programs once, routes twice, since their number stands before them.
void write_schedule(std::ostream& out, const SectionedSchedule& schedule);
/// The binary file of the same meaning and proof: sections are made, compressed and written some at a time.
void write_binary(std::ostream& out, const SectionedSchedule& schedule);

/// Whole file. Every error is an Error "FILE:LINE: what is there, what should be". A symmetric schedule is refused: its
/// routes are whole on a topology alone (symmetric.h).
Schedule read_schedule(const std::string& path);
Schedule read_schedule(std::istream& in, const std::string& name_for_errors);
/// The whole of a file whose header has orbits. That its symmetries are a group, and ones of the topology, is left to
/// verify().
SymmetricSchedule read_symmetric(const std::string& path);
SymmetricSchedule read_symmetric(std::istream& in, const std::string& name_for_errors);

/// A file that is opened once and read by its index: only header, index, last line and the sections asked for are read
/// and checked, and all of them are of one file, whatever takes its name meanwhile. Throws as read_schedule, but names
/// lines only of what it has read.
class ScheduleFile {
 public:
  explicit ScheduleFile(const std::string& path);
  ~ScheduleFile();
  ScheduleFile(ScheduleFile&&) noexcept;
  ScheduleFile& operator=(ScheduleFile&&) noexcept;

  const ScheduleHeader& header() const;
  Program program(Rank rank);
  /// Of a binary file, which must outlive them; none of a text file, whose routes are one section.
  std::optional<SectionedSchedule> sections();

  struct Opened;

 private:
  std::unique_ptr<Opened> opened_;
};

/// The header alone, and one rank's program, as ScheduleFile reads them; a fault outside of what is read is named too.
/// Streams must be seekable.
ScheduleHeader read_header(const std::string& path);
ScheduleHeader read_header(std::istream& in, const std::string& name_for_errors);
Program read_program(const std::string& path, Rank rank);
Program read_program(std::istream& in, const std::string& name_for_errors, Rank rank);

/// Whether there is a file of that name, and a binary one.
bool is_in_sections(const std::string& path);

/// A schedule file written or changed by hand with its seals, counts of ops, index and last line made anew; lines need
/// not have been sealed before. What the lines say is not judged: read_schedule does that.
std::string sealed(std::string_view text);

}  // namespace colltopo
