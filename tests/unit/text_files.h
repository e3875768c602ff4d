// Schedules and files for tests of the schedule file.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/error.h"
#include "colltopo/text.h"
#include "text/seal.h"

namespace colltopo {

inline std::string text_of(const Schedule& schedule) {
  std::ostringstream out;
  write_schedule(out, schedule);
  return out.str();
}

inline Schedule schedule_from(const std::string& text) {
  std::istringstream in(text);
  return read_schedule(in, "FILE");
}

inline ScheduleHeader header_from(const std::string& text) {
  std::istringstream in(text);
  return read_header(in, "FILE");
}

inline Program program_from(const std::string& text, Rank rank) {
  std::istringstream in(text);
  return read_program(in, "FILE", rank);
}

/// The message of the Error that `read` throws; empty when it throws none.
template <class Read>
std::string fault_of(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline std::string fault_in(const std::string& text) {
  return fault_of([&] { schedule_from(text); });
}

/// Lines without their newlines.
inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

inline std::string without_seal(const std::string& line) { return line.substr(0, line.size() - text::k_mark); }

/// The file with right seals on lines that are otherwise left as they are, even when their numbers are wrong.
inline std::string with_seals_alone(const std::vector<std::string>& contents) {
  std::ostringstream stream;
  text::SealedLines out(stream);
  text::Seal header = 0;
  bool in_header = true, in_index = false;
  for (const std::string& line : contents) {
    const bool opens = line.starts_with("section ") || line.starts_with("routes ") || line.starts_with("index ");
    if (opens && in_header) header = out.seal();
    if (opens && !in_index) out.continue_from(header);
    in_header = in_header && !opens;
    in_index = in_index || line.starts_with("index ");
    out.line(line);
  }
  return stream.str();
}

inline std::vector<std::string> contents_of(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  for (std::string& line : lines) line = without_seal(line);
  return lines;
}

/// Random ops that ProgramBuilder accepts; what they compute is of no interest here.
class RandomPrograms {
 public:
  explicit RandomPrograms(std::uint32_t seed) : random_(seed) {}

  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

  Schedule schedule(const Shape& shape, int ops) {
    Schedule schedule = schedule_of("random", shape, [&](Rank rank) { return program(shape, rank, below(ops + 1)); });
    for (Rank source = 0; source + 1 < shape.ranks && below(2) == 0; ++source) {
      for (Lane lane = 0; lane < 2; ++lane) schedule.routes.push_back({source, source + 1, lane, below(3), links()});
    }
    if (below(2) == 0) schedule.topology = "9h0s36l-4f00";
    if (!schedule.topology.empty() && below(2) == 0) schedule.topology_name = "my networks/torus 3x3.json";
    if (below(2) == 0) schedule.bound = " all-to-all 1/9 of  link bandwidth ~";
    return schedule;
  }

  Program program(const Shape& shape, Rank rank, int ops) {
    ProgramBuilder program(shape, rank);
    for (int i = 0; i < ops; ++i) {
      program.step(below(5));
      try {
        add_op(program, shape, rank);
      } catch (const Error&) {  // it touched a chunk twice
      }
    }
    return std::move(program).build();
  }

 private:
  void add_op(ProgramBuilder& program, const Shape& shape, Rank rank) {
    const int action = below(reduces(shape.collective) ? 4 : 3);
    if (action < 2 && shape.ranks > 1) {
      const Rank peer = (rank + 1 + below(shape.ranks - 1)) % shape.ranks;
      if (action == 0)
        program.send(runs(shape, rank, true), peer, below(3));
      else
        program.recv(runs(shape, rank, false), peer, below(3));
      return;
    }
    const Run source = run(shape, rank, true, 1);
    const Chunk kind = size_class(shape, rank, source.buffer, source.first);
    Run target{Buffer::scratch, kind + shape.classes() * below(4), 1};
    for (Chunk chunk = 0; chunk < shape.output_chunks(rank); ++chunk) {
      if (shape.output_class(rank, chunk) == kind && below(2) == 0) target = {Buffer::output, chunk, 1};
    }
    if (action == 3)
      program.reduce({source}, {target});
    else
      program.copy({source}, {target});
  }

  std::vector<LinkId> links() {
    std::vector<LinkId> links(static_cast<std::size_t>(below(4)));
    for (LinkId& link : links) link = below(100);
    return links;
  }

  Run run(const Shape& shape, Rank rank, bool reads, Chunk most) {
    const Chunk input = reads ? shape.input_chunks(rank) : 0, output = shape.output_chunks(rank);
    const int buffer = below(3);
    if (buffer == 0 && input > 0) return within(Buffer::input, input, most);
    if (buffer == 1 && output > 0) return within(Buffer::output, output, most);
    return within(Buffer::scratch, 20, most);
  }

  Run within(Buffer buffer, Chunk chunks, Chunk most) {
    const Chunk first = below(chunks);
    return {buffer, first, 1 + below(std::min(most, chunks - first))};
  }

  Runs runs(const Shape& shape, Rank rank, bool reads) {
    Runs runs;
    for (int i = 1 + below(3); i > 0; --i) runs.push_back(run(shape, rank, reads, 4));
    return runs;
  }

  std::mt19937 random_;
};

}  // namespace colltopo
