// Building programs, with every op checked as it is added.

#include "colltopo/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "colltopo/error.h"
#include "schedule/scratch.h"

namespace colltopo {

std::string_view name(Buffer buffer) {
  switch (buffer) {
    case Buffer::input:
      return "input";
    case Buffer::output:
      return "output";
    case Buffer::scratch:
      return "scratch";
  }
  return "";
}

std::string_view name(Action action) {
  switch (action) {
    case Action::send:
      return "send";
    case Action::recv:
      return "recv";
    case Action::copy:
      return "copy";
    case Action::reduce:
      return "reduce";
  }
  return "";
}

bool operator==(const Op& a, const Op& b) {
  return a.action == b.action && a.peer == b.peer && a.lane == b.lane && a.step == b.step &&
         std::ranges::equal(a.source, b.source) && std::ranges::equal(a.target, b.target);
}

Chunk chunks_in(std::span<const Run> runs) {
  Chunk sum = 0;
  for (const Run& run : runs) sum += run.count;
  return sum;
}

Chunk size_class(const Shape& shape, Rank rank, Buffer buffer, Chunk chunk) {
  switch (buffer) {
    case Buffer::input:
      return shape.input_class(rank, chunk);
    case Buffer::output:
      return shape.output_class(rank, chunk);
    case Buffer::scratch:
      return chunk % shape.classes();
  }
  return 0;
}

Op Program::op(std::size_t index) const {
  const Stored& op = ops_[index];
  const Run* runs = runs_.data();
  return {
      op.action, op.peer, op.lane, op.step, {runs + op.source, op.source_count}, {runs + op.target, op.target_count}};
}

Step Program::last_step() const {
  Step last = 0;
  for (const Stored& op : ops_) last = std::max(last, op.step);
  return last;
}

bool operator==(const Program& a, const Program& b) {
  if (a.shape_ != b.shape_ || a.rank_ != b.rank_ || a.scratch_ != b.scratch_ || a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a.op(i) == b.op(i))) return false;
  }
  return true;
}

namespace {

// The first chunk position at which two run lists differ in size class; -1 when they agree throughout.
Chunk first_class_mismatch(const Shape& shape, Rank rank, std::span<const Run> a, std::span<const Run> b) {
  std::size_t i = 0, j = 0;
  Chunk in_i = 0, in_j = 0, position = 0;
  const Chunk period = shape.classes();
  if (period == 1) return -1;
  while (i < a.size() && j < b.size()) {
    const Chunk length = std::min(a[i].count - in_i, b[j].count - in_j);
    const Chunk class_a = size_class(shape, rank, a[i].buffer, a[i].first + in_i);
    const Chunk class_b = size_class(shape, rank, b[j].buffer, b[j].first + in_j);
    if (class_a % period != class_b % period) return position;  // classes are consecutive within runs
    position += length;
    in_i += length;
    in_j += length;
    if (in_i == a[i].count) ++i, in_i = 0;
    if (in_j == b[j].count) ++j, in_j = 0;
  }
  return -1;
}

struct Stretch {
  Buffer buffer;
  Chunk first, end;
  bool written;
};

bool overlap(std::vector<Stretch>& all) {
  std::ranges::sort(all, {}, [](const Stretch& s) { return std::tuple(s.buffer, s.first); });
  Chunk read_to = 0, written_to = 0;  // ends so far in the buffer at hand
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || all[i].buffer != all[i - 1].buffer) read_to = written_to = 0;
    if (all[i].first < written_to || (all[i].written && all[i].first < read_to)) return true;
    Chunk& to = all[i].written ? written_to : read_to;
    to = std::max(to, all[i].end);
  }
  return false;
}

// Cuts the runs into few pieces that each go upwards through one buffer; false when there are more than fit.
struct Pieces {
  static constexpr std::size_t k_most = 8;
  std::array<Stretch, k_most> pieces;
  std::size_t count = 0;

  bool add(std::span<const Run> runs, bool written) {
    Stretch* piece = nullptr;
    for (const Run& run : runs) {
      if (piece != nullptr && piece->buffer == run.buffer && run.first >= piece->end) {
        piece->end = run.first + run.count;
        continue;
      }
      if (count == k_most) return false;
      piece = &pieces[count++];
      *piece = {run.buffer, run.first, run.first + run.count, written};
    }
    return true;
  }
  bool apart() const {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Stretch &a = pieces[i], &b = pieces[j];
        if ((a.written || b.written) && a.buffer == b.buffer && a.first < b.end && b.first < a.end) return false;
      }
    }
    return true;
  }
};

// Whether a chunk is written twice by one op, or read and written by it: what then happens would depend on the order in
// which the op's bytes are moved. Generators mostly list runs upwards, which needs no sorting.
bool overlap(std::span<const Run> source, std::span<const Run> target) {
  Pieces pieces;
  if (pieces.add(source, false) && pieces.add(target, true) && pieces.apart()) return false;
  std::vector<Stretch> all;
  all.reserve(source.size() + target.size());
  for (const Run& run : source) all.push_back({run.buffer, run.first, run.first + run.count, false});
  for (const Run& run : target) all.push_back({run.buffer, run.first, run.first + run.count, true});
  return overlap(all);
}

}  // namespace

ProgramBuilder::ProgramBuilder(const Shape& shape, Rank rank) : shape_(shape) {
  if (shape.ranks < 1 || shape.chunks < 1) {
    throw Error(
        fmt::format("a shape of {} ranks and {} chunks per shard: both must be at least 1", shape.ranks, shape.chunks));
  }
  if (rank < 0 || rank >= shape.ranks) throw Error(fmt::format("rank {} is not in 0..{}", rank, shape.ranks - 1));
  if (shape.root < 0 || shape.root >= shape.ranks || (!rooted(shape.collective) && shape.root != 0)) {
    throw Error(fmt::format("root {} of {} on {} ranks: must be a rank for collectives with a root, else 0", shape.root,
                            name(shape.collective), shape.ranks));
  }
  program_.shape_ = shape;
  program_.rank_ = rank;
  limits_[static_cast<std::size_t>(Buffer::input)] = shape.input_chunks(rank);
  limits_[static_cast<std::size_t>(Buffer::output)] = shape.output_chunks(rank);
  limits_[static_cast<std::size_t>(Buffer::scratch)] = most_scratch(shape);
}

ProgramBuilder& ProgramBuilder::step(Step step) {
  if (step < 0) throw Error(fmt::format("rank {}: step {} is negative", rank(), step));
  step_ = step;
  return *this;
}

ProgramBuilder& ProgramBuilder::send(RunList source, Rank peer, Lane lane) {
  add(Action::send, peer, lane, source, {});
  return *this;
}
ProgramBuilder& ProgramBuilder::recv(RunList target, Rank peer, Lane lane) {
  add(Action::recv, peer, lane, {}, target);
  return *this;
}
ProgramBuilder& ProgramBuilder::copy(RunList source, RunList target) {
  add(Action::copy, rank(), 0, source, target);
  return *this;
}
ProgramBuilder& ProgramBuilder::reduce(RunList source, RunList target) {
  add(Action::reduce, rank(), 0, source, target);
  return *this;
}

ProgramBuilder& ProgramBuilder::add(const Op& like, RunList source, RunList target) {
  const bool message = like.action == Action::send || like.action == Action::recv;
  step(like.step).add(like.action, message ? like.peer : rank(), message ? like.lane : 0, source, target);
  return *this;
}

ProgramBuilder& ProgramBuilder::reserve(std::size_t ops, std::size_t runs) {
  program_.ops_.reserve(program_.ops_.size() + ops);
  program_.runs_.reserve(program_.runs_.size() + runs);
  return *this;
}

Error ProgramBuilder::fault(Action action, const std::string& what) const {
  return Error(fmt::format("rank {} op {} ({}): {}", rank(), program_.size(), name(action), what));
}

// Returns the slots of scratch that the runs need.
Chunk ProgramBuilder::check(Action action, View runs, bool written) const {
  Chunk scratch = 0;
  for (const Run& run : runs) {
    const Chunk limit = limits_[static_cast<std::size_t>(run.buffer)];
    if (run.first < 0 || run.count < 0 || run.first > limit - run.count) {
      throw fault(action, fmt::format("run {}:{}+{} is outside the buffer's {} chunks", name(run.buffer), run.first,
                                      run.count, limit));
    }
    if (run.buffer == Buffer::scratch)
      scratch = std::max(scratch, run.first + run.count);
    else if (written && run.buffer == Buffer::input)
      throw fault(action, "writes to input, which is the user's send buffer");
  }
  return scratch;
}

void ProgramBuilder::check_peer(Action action, Rank peer, Lane lane) const {
  if (peer < 0 || peer >= shape_.ranks)
    throw fault(action, fmt::format("peer {} is not in 0..{}", peer, shape_.ranks - 1));
  if (peer == rank()) throw fault(action, "the peer is the rank itself; use copy");
  if (lane < 0) throw fault(action, fmt::format("lane {} is negative", lane));
}

void ProgramBuilder::check_pair(Action action, View source, View target) const {
  const Chunk read = chunks_in(source), written = chunks_in(target);
  if (read != written)
    throw fault(action, fmt::format("{} chunks are read and {} written; must be equal", read, written));
  if (action == Action::reduce && !reduces(shape_.collective))
    throw fault(action, fmt::format("{} has no reduction", name(shape_.collective)));
  if (const Chunk at = first_class_mismatch(shape_, rank(), source, target); at >= 0)
    throw fault(action, fmt::format("chunk {} of the runs goes to a place of another size class", at));
}

// Joins neighbours and drops empty runs.
std::uint32_t ProgramBuilder::append(View runs) {
  std::vector<Run>& all = program_.runs_;
  const std::size_t begin = all.size();
  if (all.capacity() < begin + runs.size()) all.reserve(std::max(begin + runs.size(), 2 * all.capacity()));
  Run joined{};
  for (const Run& run : runs) {
    if (run.count == 0) continue;
    if (joined.buffer == run.buffer && joined.first + joined.count == run.first && joined.count > 0) {
      joined.count += run.count;
      continue;
    }
    if (joined.count > 0) all.push_back(joined);
    joined = run;
  }
  if (joined.count > 0) all.push_back(joined);
  return static_cast<std::uint32_t>(all.size() - begin);
}

void ProgramBuilder::add(Action action, Rank peer, Lane lane, View source, View target) {
  const Chunk scratch = std::max(check(action, source, false), check(action, target, true));
  if (action == Action::send || action == Action::recv)
    check_peer(action, peer, lane);
  else
    check_pair(action, source, target);
  Program::Stored stored{action, peer, lane, step_, 0, 0, 0, 0};
  stored.source = static_cast<std::uint32_t>(program_.runs_.size());
  stored.source_count = append(source);
  stored.target = stored.source + stored.source_count;
  stored.target_count = append(target);
  const View runs(program_.runs_);
  if (action != Action::send &&
      overlap(runs.subspan(stored.source, stored.source_count), runs.subspan(stored.target, stored.target_count))) {
    throw fault(action, "writes a chunk twice, or one that it reads; every chunk may take part once");
  }
  program_.scratch_ = std::max(program_.scratch_, scratch);
  if (stored.source_count + stored.target_count > 0) program_.ops_.push_back(stored);
}

Program ProgramBuilder::build() && { return std::move(program_); }

}  // namespace colltopo
