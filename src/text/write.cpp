// Writing a schedule file in one pass: offsets are counted, so the stream need not be seekable.

#include <algorithm>
#include <atomic>
#include <sstream>

#include <fmt/format.h>

#include "base/parallel.h"
#include "colltopo/error.h"
#include "text/binary.h"
#include "text/ends.h"
#include "text/section.h"
#include "text/symmetry.h"

namespace colltopo {

namespace {

using namespace text;

void require_writable(const Program& program, const Shape& shape, Rank rank) {
  if (program.rank() == rank && program.shape() == shape) return;
  throw Error(fmt::format(
      "schedule cannot be written: program {} is of rank {} or another shape, expected the schedule's shape "
      "and rank {}",
      rank, program.rank(), rank));
}

void require_writable(const Schedule& schedule) {
  if (schedule.programs.size() != static_cast<std::size_t>(schedule.shape.ranks)) {
    throw Error(fmt::format("schedule cannot be written: {} programs, expected {}, one per rank",
                            schedule.programs.size(), schedule.shape.ranks));
  }
  Rank rank = 0;
  for (const Program& program : schedule.programs) require_writable(program, schedule.shape, rank++);
  const Route* before = nullptr;
  for (const Route& route : schedule.routes) {
    if (const std::string fault = route_fault(schedule.shape, before, route); !fault.empty()) {
      throw Error("schedule cannot be written: " + fault);
    }
    before = &route;
  }
}

ScheduleHeader header_of(const SymmetricSchedule& schedule) {
  ScheduleHeader header;
  header.name = schedule.name;
  header.shape = schedule.shape;
  header.steps = 1;
  header.topology = schedule.topology;
  header.topology_name = schedule.topology_name;
  header.bound = schedule.bound;
  header.proof = schedule.proof;
  header.orbits = schedule.symmetry.orbits();
  return header;
}

void require_writable(const SymmetricSchedule& schedule) {
  const auto orbits = static_cast<std::size_t>(schedule.symmetry.orbits());
  if (schedule.symmetry.hosts() != schedule.shape.ranks || schedule.splits.size() != orbits ||
      schedule.paths.size() != orbits)
    throw Error(fmt::format("schedule cannot be written: splits of {} and paths of {} orbits, expected {} of {} ranks",
                            schedule.splits.size(), schedule.paths.size(), orbits, schedule.shape.ranks));
  for (std::size_t orbit = 0; orbit < orbits; ++orbit) {
    const Rank host = schedule.symmetry.representatives()[orbit];
    if (const std::string fault = split_fault(schedule.shape, host, schedule.splits[orbit]); !fault.empty())
      throw Error(fmt::format("schedule cannot be written: orbit {}: {}", orbit, fault));
  }
}

template <class Use>
void for_each_line(std::string_view lines, const Use& use) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    use(lines.substr(0, end));
    lines.remove_prefix(end + 1);
  }
}

Sealed sealed_section(const Program& program, Seal before) {
  std::ostringstream text;
  SealedLines lines(text);
  lines.continue_from(before);
  write_section(lines, program);
  return {std::move(text).str(), lines.seal(), lines.lines()};
}

// Writes by `write` a section chained to the header, and says where it lies.
template <class Write>
Place written_in_place(SealedLines& out, Seal header, const Write& write) {
  Place place;
  place.bytes.first = out.bytes();
  place.line = out.lines() + 1;
  out.continue_from(header);
  write();
  place.bytes.bytes = out.bytes() - place.bytes.first;
  place.seal = out.seal();
  return place;
}

void write_ends(SealedLines& out, const ScheduleHeader& header, Seal seal, std::uint64_t header_bytes,
                const std::vector<Place>& places) {
  std::vector<std::string> names;
  for (std::size_t section = 0; section < places.size(); ++section) names.push_back(section_name(header, section));
  const Place index = written_in_place(out, seal, [&] { write_index(out, names, places); });
  write_last_line(out, {out.lines() + 1, {0, header_bytes}, index.bytes});
}

}  // namespace

void write_schedule(std::ostream& stream, const Schedule& schedule) {
  require_writable(schedule);
  write_schedule(stream, sections_of(schedule));
}

void write_schedule(std::ostream& stream, const SectionedSchedule& schedule) {
  const Shape& shape = schedule.facts.shape;
  const ScheduleHeader header = header_of(schedule);
  SealedLines out(stream);
  write_head(out, header, schedule.has_routes);
  const Seal seal = out.seal();
  const std::uint64_t header_bytes = out.bytes();
  std::vector<Place> places;
  const auto ranks = static_cast<std::size_t>(shape.ranks);
  places.reserve(ranks + 1);
  make_in_order<Sealed>(
      ranks, schedule.threads,
      [&](std::size_t index) {
        const auto rank = static_cast<Rank>(index);
        const Program program = schedule.program(rank);
        require_writable(program, shape, rank);
        return sealed_section(program, seal);
      },
      [&](const Sealed& section) { places.push_back(written_in_place(out, seal, [&] { out.append(section); })); });
  if (schedule.has_routes) {
    std::atomic<std::size_t> routes{0};
    for_each_index(ranks, schedule.threads,
                   [&](std::size_t rank, unsigned) { routes += schedule.routes(static_cast<Rank>(rank)).size(); });
    places.push_back(written_in_place(out, seal, [&] {
      write_routes_begin(out, routes);
      make_in_order<std::string>(
          ranks, schedule.threads,
          [&](std::size_t rank) { return route_lines(schedule.routes(static_cast<Rank>(rank))); },
          [&](const std::string& lines) { for_each_line(lines, [&](std::string_view line) { out.line(line); }); });
    }));
  }
  write_ends(out, header, seal, header_bytes, places);
}

void write_binary(std::ostream& out, const SectionedSchedule& schedule) { text::write_binary(out, schedule); }

void write_parametric(std::ostream& stream, const ScheduleHeader& header) {
  if (header.algorithm.empty())
    throw Error("schedule cannot be written: no algorithm, expected one that makes the programs");
  SealedLines out(stream);
  write_head(out, header, false);
  write_ends(out, header, out.seal(), out.bytes(), {});
}

void write_symmetric(std::ostream& stream, const SymmetricSchedule& schedule) {
  const ScheduleHeader header = header_of(schedule);
  require_writable(schedule);
  SealedLines out(stream);
  write_head(out, header, false);
  const Seal seal = out.seal();
  const std::uint64_t header_bytes = out.bytes();
  std::vector<Place> places;
  places.push_back(written_in_place(out, seal, [&] { write_symmetry(out, schedule.symmetry); }));
  for (std::int32_t orbit = 0; orbit < header.orbits; ++orbit)
    places.push_back(written_in_place(out, seal, [&] { write_targets(out, schedule, orbit); }));
  for (std::int32_t orbit = 0; orbit < header.orbits; ++orbit)
    places.push_back(written_in_place(out, seal, [&] { write_paths(out, schedule, orbit); }));
  write_ends(out, header, seal, header_bytes, places);
}

}  // namespace colltopo
