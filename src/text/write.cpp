// Writing a schedule file in one pass: offsets are counted, so the stream need not be seekable.

#include <fmt/format.h>

#include "colltopo/error.h"
#include "text/ends.h"
#include "text/section.h"

namespace colltopo {

namespace {

using namespace text;

void require_writable(const Schedule& schedule) {
  if (schedule.programs.size() != static_cast<std::size_t>(schedule.shape.ranks)) {
    throw Error(fmt::format("schedule cannot be written: {} programs, expected {}, one per rank",
                            schedule.programs.size(), schedule.shape.ranks));
  }
  Rank rank = 0;
  for (const Program& program : schedule.programs) {
    if (program.rank() != rank || program.shape() != schedule.shape) {
      throw Error(
          fmt::format("schedule cannot be written: program {} is of rank {} or another shape, expected the "
                      "schedule's shape and rank {}",
                      rank, program.rank(), rank));
    }
    ++rank;
  }
  const Route* before = nullptr;
  for (const Route& route : schedule.routes) {
    if (const std::string fault = route_fault(schedule.shape, before, route); !fault.empty()) {
      throw Error("schedule cannot be written: " + fault);
    }
    before = &route;
  }
}

// Writes by `write` a section chained to the header, and says where it lies.
template <class Write>
Place placed(SealedLines& out, Seal header, const Write& write) {
  Place place;
  place.bytes.first = out.bytes();
  place.line = out.lines() + 1;
  out.continue_from(header);
  write();
  place.bytes.bytes = out.bytes() - place.bytes.first;
  place.seal = out.seal();
  return place;
}

void write_ends(SealedLines& out, const Shape& shape, Seal header, std::uint64_t header_bytes,
                const std::vector<Place>& places) {
  const Place index = placed(out, header, [&] { write_index(out, shape, places); });
  write_last_line(out, {out.lines() + 1, {0, header_bytes}, index.bytes});
}

}  // namespace

void write_schedule(std::ostream& stream, const Schedule& schedule) {
  require_writable(schedule);
  ScheduleHeader header;
  header.name = schedule.name;
  header.shape = schedule.shape;
  header.steps = schedule.steps();
  header.topology = schedule.topology;
  header.topology_name = schedule.topology_name;
  header.bound = schedule.bound;
  header.proof = schedule.proof;

  SealedLines out(stream);
  write_head(out, header, !schedule.routes.empty());
  const Seal seal = out.seal();
  const std::uint64_t header_bytes = out.bytes();
  std::vector<Place> places;
  places.reserve(schedule.programs.size() + 1);
  for (const Program& program : schedule.programs) {
    places.push_back(placed(out, seal, [&] { write_section(out, program); }));
  }
  if (!schedule.routes.empty()) places.push_back(placed(out, seal, [&] { write_routes(out, schedule.routes); }));
  write_ends(out, schedule.shape, seal, header_bytes, places);
}

void write_parametric(std::ostream& stream, const ScheduleHeader& header) {
  if (header.algorithm.empty())
    throw Error("schedule cannot be written: no algorithm, expected one that makes the programs");
  SealedLines out(stream);
  write_head(out, header, false);
  write_ends(out, header.shape, out.seal(), out.bytes(), {});
}

}  // namespace colltopo
