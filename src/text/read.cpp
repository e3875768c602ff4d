// Reading a schedule file: all of it, or by its index only what one rank needs.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <istream>
#include <optional>
#include <sstream>
#include <system_error>

#include "base/read_file.h"
#include "colltopo/error.h"
#include "text/binary.h"
#include "text/ends.h"
#include "text/limits.h"
#include "text/section.h"
#include "text/symmetry.h"

namespace colltopo {

namespace {

using namespace text;

std::string rest_of(std::istream& in, const std::string& file) {
  std::string all;
  std::string block(1 << 16, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    all.append(block, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw Error(file + ": cannot be read");
  return all;
}

void require_steps(const Head& head, Step largest, const std::string& file) {
  if (largest == head.header.steps) return;
  throw error_at(file, head.steps_line,
                 fmt::format("steps {}, expected {}, the largest step of any op", head.header.steps, largest));
}

std::vector<Program> generated_programs(const Head& head, const std::string& file) {
  std::vector<Program> programs;
  std::uint64_t bytes = 0;
  for (Rank rank = 0; rank < head.header.shape.ranks; ++rank) {
    const Program program = generated(head, file, rank);
    programs.push_back(program);  // a copy has no room to spare
    for (std::size_t i = 0; i < program.size() && bytes <= Limits::k_most_whole_bytes; ++i)
      bytes += 64 + 16 * (program.op(i).source.size() + program.op(i).target.size());
    if (bytes > Limits::k_most_whole_bytes)
      throw error_at(file, head.programs_line,
                     fmt::format("programs of {} ranks, expected fewer of what is taken into memory whole: up to {} "
                                 "bytes",
                                 head.header.shape.ranks, Limits::k_most_whole_bytes));
  }
  return programs;
}

// Reads by `read` a section chained to the header, and says where it lies.
template <class Read>
Place read_in_place(Lines& lines, Seal header, const Read& read) {
  Place place;
  place.bytes.first = lines.offset();
  place.line = lines.line() + 1;
  lines.continue_from(header);
  read();
  place.bytes.bytes = lines.offset() - place.bytes.first;
  place.seal = lines.seal();
  return place;
}

void require_places(const Lines& lines, const ScheduleHeader& header, const std::vector<Place>& stated,
                    const std::vector<Place>& actual) {
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (stated[i] == actual[i]) continue;
    const std::int64_t line = lines.line() - static_cast<std::int64_t>(actual.size() - 1 - i);
    throw error_at(lines.file(), line,
                   fmt::format("the index misplaces {}, expected bytes {}+{} line {} seal {}", section_name(header, i),
                               actual[i].bytes.first, actual[i].bytes.bytes, actual[i].line, digits(actual[i].seal)));
  }
}

// Index and last line behind sections that lie in these places.
void read_ends(Lines& lines, const Head& head, const Stretch& header, const std::vector<Place>& places) {
  std::vector<Place> stated;
  const Place index = read_in_place(lines, head.seal, [&] { stated = read_index(lines, head); });
  require_places(lines, head.header, stated, places);
  const LastLine last = read_last_line(lines);
  if (last != LastLine{lines.line(), header, index.bytes}) {
    throw lines.error(fmt::format("lines {} header {}+{} index {}+{}, expected lines {} header 0+{} index {}+{}",
                                  last.lines, last.header.first, last.header.bytes, last.index.first, last.index.bytes,
                                  lines.line(), header.bytes, index.bytes.first, index.bytes.bytes));
  }
  lines.expect_end("nothing after the last line");
}

SymmetricSchedule read_orbits(std::string_view text, const std::string& file) {
  Lines lines(text, file);
  const Head head = read_head(lines);
  if (!head.symmetric()) throw error_at(file, head.programs_line, "no orbits, expected a symmetric schedule");
  const Stretch header{0, lines.offset()};
  if (head.header.steps != 1) throw error_at(file, head.steps_line, "steps of a symmetric schedule, expected 1");
  SymmetricSchedule schedule;
  schedule.name = head.header.name;
  schedule.shape = head.header.shape;
  schedule.topology = head.header.topology;
  schedule.topology_name = head.header.topology_name;
  schedule.bound = head.header.bound;
  schedule.proof = head.header.proof;
  std::vector<Place> places;
  places.push_back(read_in_place(lines, head.seal, [&] { schedule.symmetry = read_symmetry(lines, head); }));
  for (std::int32_t orbit = 0; orbit < head.header.orbits; ++orbit)
    places.push_back(read_in_place(
        lines, head.seal, [&] { schedule.splits.push_back(read_targets(lines, head, schedule.symmetry, orbit)); }));
  for (std::int32_t orbit = 0; orbit < head.header.orbits; ++orbit)
    places.push_back(
        read_in_place(lines, head.seal, [&] { schedule.paths.push_back(read_paths(lines, head, orbit)); }));
  read_ends(lines, head, header, places);
  return schedule;
}

Schedule read_all(std::string_view text, const std::string& file) {
  Lines lines(text, file);
  const Head head = read_head(lines);
  if (head.symmetric())
    throw error_at(file, head.programs_line,
                   "orbits, expected a schedule with a section for each rank; a symmetric one is whole on a topology");
  const Shape& shape = head.header.shape;
  const Stretch header{0, lines.offset()};

  Schedule schedule{head.header.name, shape, {}, {}, head.header.topology, head.header.bound, head.header.topology_name,
                    head.header.proof};
  std::vector<Place> places;
  for (Rank rank = 0; rank < shape.ranks && !head.parametric(); ++rank) {
    places.push_back(
        read_in_place(lines, head.seal, [&] { schedule.programs.push_back(read_section(lines, head, rank)); }));
  }
  if (head.has_routes()) {
    places.push_back(read_in_place(lines, head.seal, [&] { schedule.routes = read_routes(lines, head); }));
  }
  if (!head.parametric()) require_steps(head, schedule.steps(), file);
  read_ends(lines, head, header, places);
  if (head.parametric()) {
    schedule.programs = generated_programs(head, file);
    require_steps(head, schedule.steps(), file);
  }
  return schedule;
}

// Throws the first fault of a file, by its line.
void look_through(std::string_view text, const std::string& file) {
  Lines lines(text, file);
  if (read_head(lines).symmetric())
    read_orbits(text, file);
  else
    read_all(text, file);
}

// A file of which parts are read.
class Parts {
 public:
  /// `thorough`: a fault that is found from the end is looked for from the beginning as well, to name its line.
  Parts(std::istream& in, std::string file, bool thorough) : in_(in), file_(std::move(file)) {
    in_.seekg(0, std::ios::end);
    const auto size = static_cast<std::streamoff>(in_.tellg());
    if (!in_ || size < 0) throw Error(file_ + ": cannot be read by its index, expected a file on disk");
    size_ = static_cast<std::uint64_t>(size);
    try {
      open();
    } catch (const Error&) {
      if (!thorough || size_ > Limits::k_most_searched) {
        expect_header();
        throw;
      }
      // Found from the end, a fault has no sure line: reading everything names the first one.
      in_.clear();
      in_.seekg(0);
      look_through(rest_of(in_, file_), file_);
      throw;
    }
  }

  const ScheduleHeader& header() const { return head_.header; }

  Program program(Rank rank) {
    const Shape& shape = head_.header.shape;
    if (rank < 0 || rank >= shape.ranks) {
      throw Error(fmt::format("{}: rank {}, expected one of the schedule's 0..{}", file_, rank, shape.ranks - 1));
    }
    if (head_.symmetric()) return moved(rank);
    Program program = head_.parametric() ? generated(head_, file_, rank) : section(rank);
    if (program.last_step() > head_.header.steps) require_steps(head_, program.last_step(), file_);
    return program;
  }

 private:
  // A file may have more bytes than a disk has, as one with holes.
  std::string bytes(const Stretch& stretch, std::uint64_t most = Limits::k_most_raw) {
    if (stretch.end() > size_)
      throw Error(fmt::format("{}: {} bytes, expected {} or more", file_, size_, stretch.end()));
    if (stretch.bytes > most)
      throw Error(fmt::format("{}: a part of {} bytes, expected at most {}", file_, stretch.bytes, most));
    std::string text(stretch.bytes, '\0');
    in_.seekg(static_cast<std::streamoff>(stretch.first));
    in_.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!in_) throw Error(file_ + ": cannot be read");
    return text;
  }

  // A header that is wrong, as another format's is, tells more than what the end says.
  void expect_header() {
    constexpr std::uint64_t k_most = 1 << 16;
    in_.clear();
    const std::string text = bytes({0, std::min(size_, k_most)});
    Lines lines(text, file_);
    read_head(lines);
  }

  void open() {
    constexpr std::uint64_t k_most = 256;  // bytes; more than any last line has
    const std::uint64_t tail = std::min(size_, k_most);
    const std::string text = bytes({size_ - tail, tail});
    const std::size_t newline = text.size() < 2 ? std::string::npos : text.rfind('\n', text.size() - 2);
    const std::string_view last_line = std::string_view(text).substr(newline + 1);
    // Its seal is chained to the index, which only this line finds: what it says is believed first and proved below.
    const LastLine last = last_line_in(last_line);
    if (last.header.first != 0 || last.header.bytes > last.index.first ||
        last.index.end() != size_ - last_line.size()) {
      throw Error(file_ + ": the last line misplaces header or index");
    }
    const std::string header = bytes(last.header, Limits::k_most_header);
    Lines header_lines(header, file_);
    head_ = read_head(header_lines);
    header_lines.expect_end("the header's end");

    const std::string ends = bytes({last.index.first, size_ - last.index.first});
    Lines lines(ends, file_, last.lines - head_.sections - 1, head_.seal);
    places_ = read_index(lines, head_);
    if (lines.offset() != last.index.bytes) throw lines.error("the index ends here, expected more of it");
    require_neighbours(last);
    if (read_last_line(lines) != last) throw lines.error("another last line");
    head_.header.checksum = lines.seal();
  }

  // Which line of the file it is, only itself could tell.
  LastLine last_line_in(std::string_view line) const {
    const Lines nowhere("", file_);
    try {
      return last_line_from(Words(nowhere, line.substr(0, line.find(" ~"))));
    } catch (const Error&) {
      throw Error(
          fmt::format("{}: {} at the end, expected \"end lines ...\"; the file was cut short or altered: copy it "
                      "again, or make it anew",
                      file_, in_quotes(line)));
    }
  }

  void require_neighbours(const LastLine& last) const {
    std::uint64_t next = last.header.bytes;
    for (const Place& place : places_) {
      if (place.bytes.first != next)
        throw Error(fmt::format("{}: sections do not follow each other at byte {}", file_, next));
      next = place.bytes.end();
    }
    if (next != last.index.first) throw Error(file_ + ": the index does not follow the sections");
  }

  // Reads section i by `read`.
  template <class Read>
  auto section(std::size_t i, const Read& read) {
    const Place& place = places_[i];
    const std::string text = bytes(place.bytes);
    Lines lines(text, file_, place.line, head_.seal);
    auto result = read(lines);
    lines.expect_end(fmt::format("the end of {}", section_name(head_.header, i)));
    if (lines.seal() != place.seal) {
      throw lines.error(fmt::format("the section ends with seal {}, expected {} as in the index", digits(lines.seal()),
                                    digits(place.seal)));
    }
    return result;
  }

  Program section(Rank rank) {
    return section(static_cast<std::size_t>(rank), [&](Lines& lines) { return read_section(lines, head_, rank); });
  }

  // What the representatives send, moved to the rank; paths are not read.
  Program moved(Rank rank) {
    if (head_.header.steps != 1) throw error_at(file_, head_.steps_line, "steps of a symmetric schedule, expected 1");
    if (splits_.empty()) {
      symmetry_ = section(0, [&](Lines& lines) { return read_symmetry(lines, head_); });
      for (std::int32_t orbit = 0; orbit < head_.header.orbits; ++orbit)
        splits_.push_back(section(1 + static_cast<std::size_t>(orbit),
                                  [&](Lines& lines) { return read_targets(lines, head_, symmetry_, orbit); }));
    }
    return symmetric_program(head_.header.shape, symmetry_, splits_, rank);
  }

  std::istream& in_;
  std::string file_;
  std::uint64_t size_ = 0;
  Head head_;
  std::vector<Place> places_;
  Symmetry symmetry_;                       // of a symmetric file, once it has been read
  std::vector<std::vector<Split>> splits_;  // likewise
};

}  // namespace

namespace {

bool begins_binary(std::istream& in) {
  std::string beginning(32, '\0');
  in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(in.gcount()));
  in.clear();
  in.seekg(0);
  return is_binary(beginning);
}

SectionedSchedule sections_in(BinaryFile& file) {
  const ScheduleHeader& header = file.head().header;
  SectionedSchedule sections;
  sections.facts = {header.name,  header.shape,         {},          {}, header.topology,
                    header.bound, header.topology_name, header.proof};
  sections.steps = header.steps;
  sections.has_routes = file.has_routes();
  sections.program = [&file](Rank rank) { return file.program(rank); };
  sections.routes = [&file](Rank source) { return file.routes(source); };
  return sections;
}

Schedule read_binary(std::istream& in, const std::string& file) {
  BinaryFile binary(in, file);
  binary.expect_to_hold_whole();
  Schedule schedule = whole(sections_in(binary));
  if (schedule.steps() != binary.head().header.steps) require_steps(binary.head(), schedule.steps(), file);
  return schedule;
}

}  // namespace

/// In one form or the other.
struct ScheduleFile::Opened {
  Opened(const std::string& path, bool thorough) : file(std::in_place, path, k_schedule_file), in(*file) {
    open(path, thorough);
  }
  Opened(std::istream& stream, const std::string& name) : in(stream) { open(name, true); }

  void open(const std::string& name, bool thorough) {
    if (begins_binary(in))
      binary.emplace(in, name);
    else
      parts.emplace(in, name, thorough);
  }
  const ScheduleHeader& header() const { return binary ? binary->head().header : parts->header(); }
  Program program(Rank rank) { return binary ? binary->program(rank) : parts->program(rank); }

  std::optional<FileStream> file;
  std::istream& in;
  std::optional<Parts> parts;
  std::optional<BinaryFile> binary;
};

ScheduleFile::ScheduleFile(const std::string& path) : opened_(std::make_unique<Opened>(path, false)) {}
ScheduleFile::~ScheduleFile() = default;
ScheduleFile::ScheduleFile(ScheduleFile&&) noexcept = default;
ScheduleFile& ScheduleFile::operator=(ScheduleFile&&) noexcept = default;

const ScheduleHeader& ScheduleFile::header() const { return opened_->header(); }
Program ScheduleFile::program(Rank rank) { return opened_->program(rank); }

std::optional<SectionedSchedule> ScheduleFile::sections() {
  if (!opened_->binary) return {};
  return sections_in(*opened_->binary);
}

Schedule read_schedule(std::istream& in, const std::string& name_for_errors) {
  std::string contents = rest_of(in, name_for_errors);
  if (!is_binary(contents)) return read_all(contents, name_for_errors);
  std::istringstream again(std::move(contents));
  return read_binary(again, name_for_errors);
}

Schedule read_schedule(const std::string& path) {
  FileStream in(path, k_whole_schedule_file);
  return read_schedule(in, path);
}

SymmetricSchedule read_symmetric(std::istream& in, const std::string& name_for_errors) {
  return read_orbits(rest_of(in, name_for_errors), name_for_errors);
}

SymmetricSchedule read_symmetric(const std::string& path) {
  FileStream in(path, k_whole_schedule_file);
  return read_symmetric(in, path);
}

ScheduleHeader read_header(std::istream& in, const std::string& name_for_errors) {
  return ScheduleFile::Opened(in, name_for_errors).header();
}

ScheduleHeader read_header(const std::string& path) {
  FileStream in(path, k_schedule_file);
  return read_header(in, path);
}

Program read_program(std::istream& in, const std::string& name_for_errors, Rank rank) {
  return ScheduleFile::Opened(in, name_for_errors).program(rank);
}

Program read_program(const std::string& path, Rank rank) {
  FileStream in(path, k_schedule_file);
  return read_program(in, path, rank);
}

bool is_in_sections(const std::string& path) {
  // What is read of a pipe is gone from it.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  FileStream in(path, k_schedule_file);
  return begins_binary(in);
}

}  // namespace colltopo
