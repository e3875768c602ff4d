// Numbers of fixed size are written low byte first. Seals are CRC-32, as in text files: of each section's compressed
// bytes, of the index continued from the header's, of the trailer continued from the index's. So the last one depends
// on the whole file, and ranks that find the same have the same file.
#include "text/binary.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "text/limits.h"
#include "text/packed.h"

namespace colltopo::text {

namespace {

constexpr std::string_view k_beginning = "topo-schedule-binary ";
constexpr std::string_view k_trailer = "topo-end";
constexpr std::size_t k_trailer_bytes = 8 + 8 + 8 + 4 + 4;  // word, header's bytes, index's place, seals of both
constexpr std::size_t k_entry_bytes = 8 + 8 + 4;            // bytes, raw bytes, seal
constexpr std::string_view k_do = "copy the file again, or make it anew";

template <class Number>
void put_fixed(std::string& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) bytes.push_back(static_cast<char>(number >> (8 * i) & 255));
}

template <class Number>
Number fixed_at(std::string_view bytes, std::size_t at) {
  Number number = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    number = static_cast<Number>(number << 8 | static_cast<std::uint8_t>(bytes[at + i]));
  return number;
}

Seal sealed_from(Seal before, std::string_view bytes) {
  return static_cast<Seal>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string compressed(const std::string& raw) {
  uLongf size = compressBound(raw.size());
  std::string bytes(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(raw.data()), raw.size(),
                Z_BEST_SPEED) != Z_OK)
    throw Error("schedule cannot be written: no memory to compress a section");
  bytes.resize(size);
  return bytes;
}

/// A section as it is written.
struct Packed {
  std::string bytes;
  std::uint64_t raw_bytes = 0;
};

Packed packed_section(const std::string& raw) {
  if (raw.size() > Limits::k_most_raw) throw Error("schedule cannot be written: a section of more than 2^30 bytes");
  return {compressed(raw), raw.size()};
}

}  // namespace

ScheduleHeader header_of(const SectionedSchedule& schedule) {
  ScheduleHeader header;
  header.name = schedule.facts.name;
  header.shape = schedule.facts.shape;
  header.steps = schedule.steps;
  header.topology = schedule.facts.topology;
  header.topology_name = schedule.facts.topology_name;
  header.bound = schedule.facts.bound;
  header.proof = schedule.facts.proof;
  return header;
}

bool is_binary(std::string_view beginning) { return beginning.starts_with(k_beginning); }

void write_binary(std::ostream& out, const SectionedSchedule& schedule) {
  const Shape& shape = schedule.facts.shape;
  SealedLines lines(out);
  write_head(lines, header_of(schedule), schedule.has_routes, Form::binary);
  std::uint64_t place = lines.bytes();
  const std::uint64_t header_bytes = place;
  const std::size_t of_rank = schedule.has_routes ? 2 : 1;
  std::string index;
  make_in_order<Packed>(
      of_rank * static_cast<std::size_t>(shape.ranks), schedule.threads,
      [&](std::size_t section) {
        const auto rank = static_cast<Rank>(section / of_rank);
        return packed_section(section % of_rank == 0 ? packed(schedule.program(rank))
                                                     : packed(schedule.routes(rank), shape, rank));
      },
      [&](const Packed& section) {
        out.write(section.bytes.data(), static_cast<std::streamsize>(section.bytes.size()));
        put_fixed<std::uint64_t>(index, section.bytes.size());
        put_fixed<std::uint64_t>(index, section.raw_bytes);
        put_fixed<Seal>(index, sealed_from(0, section.bytes));
        place += section.bytes.size();
      });
  const Seal seal = sealed_from(lines.seal(), index);
  std::string trailer(k_trailer);
  put_fixed<std::uint64_t>(trailer, header_bytes);
  put_fixed<std::uint64_t>(trailer, place);
  put_fixed<Seal>(trailer, seal);
  put_fixed<Seal>(trailer, sealed_from(seal, trailer));
  out << index << trailer;
}

void BinaryFile::expect_to_hold_whole() const {
  const std::uint64_t most = std::max(Limits::k_least_most_whole, Limits::k_whole_per_byte * size_);
  if (raw_bytes_ > most)
    throw Error(
        fmt::format("{}: {} bytes of sections, uncompressed, in {} bytes, expected at most {} of what is taken "
                    "into memory whole",
                    file_, raw_bytes_, size_, most));
}

Error BinaryFile::error_at(std::uint64_t byte, const std::string& fact) const {
  return Error(fmt::format("{}: byte {}: {}", file_, byte, fact));
}

BinaryFile::BinaryFile(std::istream& in, std::string file) : in_(in), file_(std::move(file)) {
  in_.clear();
  in_.seekg(0, std::ios::end);
  const auto size = static_cast<std::streamoff>(in_.tellg());
  if (!in_ || size < 0) throw Error(file_ + ": cannot be read by its index, expected a file on disk");
  size_ = static_cast<std::uint64_t>(size);

  // What the header says tells more than what the end says: of another version, say.
  constexpr std::uint64_t k_most_header = 1 << 16;
  const std::string beginning = bytes(0, std::min(size_, k_most_header));
  Lines lines(beginning, file_);
  const std::string_view first_line = std::string_view(beginning).substr(0, beginning.find(" ~"));
  if (is_binary(first_line) && first_line.size() < 40 && first_line.substr(k_beginning.size()) != "1")
    throw colltopo::error_at(file_, 1,
                             fmt::format("{}, expected \"{}1\"; another version of colltopo made this file: "
                                         "this one cannot read it",
                                         in_quotes(first_line), k_beginning));
  head_ = read_head(lines, Form::binary);

  const std::uint64_t least = lines.offset() + k_trailer_bytes;
  const std::string trailer = size_ < least ? "" : bytes(size_ - k_trailer_bytes, k_trailer_bytes);
  if (!trailer.starts_with(k_trailer))
    throw error_at(size_, fmt::format("the file ends without its trailer, expected {} bytes that begin with \"{}\"; it "
                                      "was cut short: {}",
                                      k_trailer_bytes, k_trailer, k_do));
  const auto header_bytes = fixed_at<std::uint64_t>(trailer, 8), index = fixed_at<std::uint64_t>(trailer, 16);
  const auto seal = fixed_at<Seal>(trailer, 24), own = fixed_at<Seal>(trailer, 28);
  const Seal expected = sealed_from(seal, std::string_view(trailer).substr(0, 28));
  if (own != expected)
    throw error_at(size_ - k_trailer_bytes, fmt::format("the trailer has seal {}, expected {}; it was altered: {}",
                                                        digits(own), digits(expected), k_do));
  const std::uint64_t index_bytes = k_entry_bytes * static_cast<std::uint64_t>(head_.sections);
  if (header_bytes != lines.offset() || index < header_bytes || index != size_ - k_trailer_bytes - index_bytes)
    throw error_at(size_ - k_trailer_bytes,
                   fmt::format("the trailer says header 0+{} and index {}+{}, expected 0+{} and an end at {}; parts of "
                               "the file are missing or added: {}",
                               header_bytes, index, index_bytes, lines.offset(), size_ - k_trailer_bytes, k_do));
  read_index(header_bytes, index, seal);
  head_.header.checksum = own;
}

void BinaryFile::read_index(std::uint64_t header_bytes, std::uint64_t first, Seal expected) {
  const std::string index = bytes(first, k_entry_bytes * static_cast<std::uint64_t>(head_.sections));
  if (const Seal own = sealed_from(head_.seal, index); own != expected)
    throw error_at(first, fmt::format("the index has seal {}, expected {}; it or the header was altered: {}",
                                      digits(own), digits(expected), k_do));
  std::uint64_t next = header_bytes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(head_.sections); ++i) {
    Section section;
    section.bytes = fixed_at<std::uint64_t>(index, i * k_entry_bytes);
    section.raw_bytes = fixed_at<std::uint64_t>(index, i * k_entry_bytes + 8);
    section.seal = fixed_at<Seal>(index, i * k_entry_bytes + 16);
    section.first = next;
    // A byte never stands for more than 1,032 (zlib's documentation), and never are there many for nothing.
    if (section.bytes > std::min(first - next, 2 * section.raw_bytes + 64) ||
        section.raw_bytes > std::min(most_raw_bytes(head_.header.shape), 1032 * section.bytes + 64))
      throw error_at(first + i * k_entry_bytes, fmt::format("section {} of {} bytes, {} uncompressed, expected less", i,
                                                            section.bytes, section.raw_bytes));
    next += section.bytes;
    raw_bytes_ += section.raw_bytes;
    sections_.push_back(section);
  }
  if (next != first)
    throw error_at(next, fmt::format("the sections end here, expected them to end at byte {}: {}", first, k_do));
}

std::string BinaryFile::bytes(std::uint64_t first, std::uint64_t count) {
  std::string text(count, '\0');
  const std::lock_guard lock(mutex_);
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(first));
  in_.read(text.data(), static_cast<std::streamsize>(count));
  if (!in_) throw error_at(first, fmt::format("{} bytes cannot be read, expected as many", count));
  return text;
}

template <class Unpack>
auto BinaryFile::section(std::size_t number, const Unpack& unpack) {
  const Section& place = sections_[number];
  const bool of_routes = has_routes() && number % 2 == 1;
  const std::size_t rank = has_routes() ? number / 2 : number;
  const auto fault = [&](const std::string& what) {
    return error_at(place.first, fmt::format("{} of rank {}: {}", of_routes ? "routes" : "section", rank, what));
  };
  const std::string packed = bytes(place.first, place.bytes);
  if (const Seal own = sealed_from(0, packed); own != place.seal)
    throw fault(
        fmt::format("seal {}, expected {}; the file was altered here: {}", digits(own), digits(place.seal), k_do));
  std::string raw(place.raw_bytes, '\0');
  uLongf size = raw.size();
  const int result = uncompress(reinterpret_cast<Bytef*>(raw.data()), &size,
                                reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (result != Z_OK || size != raw.size())
    throw fault(fmt::format("it does not uncompress to {} bytes, expected so many: {}", raw.size(), k_do));
  try {
    return unpack(std::string_view(raw));
  } catch (const Error& error) {
    throw fault(error.what());
  }
}

Program BinaryFile::program(Rank rank) {
  const ScheduleHeader& header = head_.header;
  if (rank < 0 || rank >= header.shape.ranks)
    throw Error(fmt::format("{}: rank {}, expected one of the schedule's 0..{}", file_, rank, header.shape.ranks - 1));
  return section(static_cast<std::size_t>(rank) * (has_routes() ? 2 : 1),
                 [&](std::string_view raw) { return unpacked_program(raw, header.shape, rank, header.steps); });
}

std::vector<Route> BinaryFile::routes(Rank source) {
  return section(2 * static_cast<std::size_t>(source) + 1,
                 [&](std::string_view raw) { return unpacked_routes(raw, head_.header.shape, source); });
}

}  // namespace colltopo::text
