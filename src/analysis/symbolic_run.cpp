#include "analysis/symbolic_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/route_checks.h"

namespace colltopo {

namespace {
constexpr std::size_t index_of(Rank rank) { return static_cast<std::size_t>(rank); }
}  // namespace

SymbolicRun::SymbolicRun(const Schedule& schedule, bool in_place, std::vector<Violation>& violations)
    : schedule_(schedule),
      shape_(schedule.shape),
      in_place_(in_place),
      violations_(violations),
      symbols_(schedule.shape) {
  for (Rank rank = 0; rank < shape_.ranks; ++rank) {
    cells_.emplace_back(shape_, rank, schedule.programs[index_of(rank)].scratch(), in_place);
    memory_.emplace_back(cells_.back().size(), shape_.chunks);
  }
  next_op_.assign(index_of(shape_.ranks), 0);
}

void SymbolicRun::fault(Rank rank, int op, std::string what) {
  if (violations_.size() < analysis::Violations::k_most) violations_.push_back({rank, op, std::move(what)});
}

bool SymbolicRun::run() {
  fill_inputs();
  for (Rank rank = shape_.ranks; rank-- > 0;) runnable_.push_back(rank);
  while (!runnable_.empty() && (!in_place_ || violations_.empty())) {
    const Rank rank = runnable_.back();
    runnable_.pop_back();
    run_rank(rank);
  }
  if (in_place_ && !violations_.empty()) return false;
  check_left_over();
  if (violations_.empty()) check_result();
  return violations_.empty();
}

void SymbolicRun::fill_inputs() {
  for (Rank rank = 0; rank < shape_.ranks; ++rank) {
    if (const Chunk inputs = shape_.input_chunks(rank); inputs > 0)
      memory_[index_of(rank)].write(cells_[index_of(rank)].at(Buffer::input, 0), {symbols_.leaf(rank, 0), inputs});
  }
}

// Runs a rank until it ends or must wait for a message.
void SymbolicRun::run_rank(Rank rank) {
  const Program& program = schedule_.programs[index_of(rank)];
  for (std::uint32_t& next = next_op_[index_of(rank)]; next < program.size(); ++next) {
    const Op op = program.op(next);
    switch (op.action) {
      case Action::send:
        send(rank, next, op);
        break;
      case Action::recv:
        if (!receive(rank, next, op)) return;
        break;
      case Action::copy:
        check_places(rank, next, op);
        write(rank, next, op.target, read(rank, next, op.source));
        break;
      case Action::reduce:
        check_places(rank, next, op);
        reduce(rank, next, op);
        break;
    }
  }
}

void SymbolicRun::send(Rank rank, std::uint32_t index, const Op& op) {
  std::uint32_t message = free_message_;
  if (message == k_none) {
    message = static_cast<std::uint32_t>(messages_.size());
    messages_.emplace_back();
  } else {
    free_message_ = messages_[message].next;
  }
  messages_[message] = {index, op.step, op.lane, read(rank, index, op.source), k_none};
  Wire& wire = this->wire(rank, op.peer);
  if (wire.first != k_none) {
    messages_[wire.last].next = message;
    wire.last = message;
    return;
  }
  wire.first = wire.last = message;
  const Program& receiver = schedule_.programs[index_of(op.peer)];
  const std::uint32_t waiting = next_op_[index_of(op.peer)];
  if (waiting == receiver.size()) return;
  const Op wanted = receiver.op(waiting);
  if (wanted.action == Action::recv && wanted.peer == rank) runnable_.push_back(op.peer);
}

void SymbolicRun::reduce(Rank rank, std::uint32_t index, const Op& op) {
  const Stretches source = read(rank, index, op.source), target = read(rank, index, op.target);
  Stretches results;
  std::size_t s = 0, t = 0;
  for (Chunk in_s = 0, in_t = 0; s < source.size() && t < target.size();) {
    const Symbol left = source[s].at(in_s), right = target[t].at(in_t);
    Symbol result = right;
    if (left != k_nothing && right != k_nothing) {  // otherwise reported by read()
      std::string what;
      result = symbols_.reduced(left, right, &what);
      if (!what.empty()) fault(rank, static_cast<int>(index), what);
    }
    results.push_back({result, 1});
    if (++in_s == source[s].count) ++s, in_s = 0;
    if (++in_t == target[t].count) ++t, in_t = 0;
  }
  write(rank, index, op.target, results);
}

bool SymbolicRun::receive(Rank rank, std::uint32_t index, const Op& op) {
  Wire& wire = this->wire(op.peer, rank);
  if (wire.first == k_none) return false;
  Message& message = messages_[wire.first];
  Chunk sent = 0;
  for (const Stretch& stretch : message.symbols) sent += stretch.count;
  const Chunk wanted = chunks_in(op.target);
  if (wanted != sent) {
    fault(rank, static_cast<int>(index),
          fmt::format("receives {} chunks from {}, which sends {} (op {})", wanted, op.peer, sent, message.op));
  }
  if (op.step != message.step || op.lane != message.lane) {
    fault(
        rank, static_cast<int>(index),
        fmt::format("receives in step {} on lane {} what {} sends in step {} on lane {} (op {}); both ends must agree",
                    op.step, op.lane, op.peer, message.step, message.lane, message.op));
  }
  matches_.push_back({op.peer, rank, message.op, index});
  write(rank, index, op.target, message.symbols);
  const std::uint32_t taken = wire.first;
  wire.first = message.next;
  message.symbols = {};
  message.next = free_message_;
  free_message_ = taken;
  return true;
}

Stretches SymbolicRun::read(Rank rank, std::uint32_t index, std::span<const Run> source) {
  Stretches symbols;
  for (const Run& run : source) {
    found_.clear();
    memory_[index_of(rank)].read(cells_[index_of(rank)].at(run.buffer, run.first), run.count, found_);
    Chunk chunk = run.first;
    for (const Stretch& stretch : found_) {
      for (Chunk i = 0; stretch.first == k_nothing && i < stretch.count; ++i) {
        fault(rank, static_cast<int>(index),
              fmt::format("reads {}:{}, which nothing has written", name(run.buffer), chunk + i));
      }
      append(symbols, stretch);
      chunk += stretch.count;
    }
  }
  return symbols;
}

void SymbolicRun::write(Rank rank, std::uint32_t index, std::span<const Run> target, const Stretches& symbols) {
  std::size_t next = 0;
  Chunk used = 0;  // of symbols[next]
  for (const Run& run : target) {
    for (Chunk chunk = run.first; chunk < run.first + run.count && next < symbols.size();) {
      const Stretch piece{symbols[next].at(used), std::min(run.first + run.count - chunk, symbols[next].count - used)};
      memory_[index_of(rank)].write(cells_[index_of(rank)].at(run.buffer, chunk), piece);
      if (piece.first != k_nothing) check_class(rank, index, run.buffer, chunk, piece);
      chunk += piece.count;
      used += piece.count;
      if (used == symbols[next].count) ++next, used = 0;
    }
  }
}

// A value keeps its size only in places of its own size class. The classes of neighbours follow each other in every
// buffer, so the first of a stretch of inputs speaks for all.
void SymbolicRun::check_class(Rank rank, std::uint32_t index, Buffer buffer, Chunk chunk, Stretch value) {
  const Chunk period = shape_.classes();
  const Chunk last = symbols_.is_leaf(value.at(value.count - 1)) ? 0 : value.count - 1;
  for (Chunk i = 0; i <= last; ++i) {
    const Chunk place = size_class(shape_, rank, buffer, chunk + i) % period;
    const Chunk of_value = symbols_.size_class(value.at(i)) % period;
    if (place == of_value) continue;
    fault(rank, static_cast<int>(index),
          fmt::format("puts {} into {}:{}, which has the size of class {}, not {}", symbols_.describe(value.at(i)),
                      name(buffer), chunk + i, place, of_value));
  }
}

// In place, chunks of input and output may be the same memory: an op may move one onto itself, not onto another's
// place.
void SymbolicRun::check_places(Rank rank, std::uint32_t index, const Op& op) {
  if (!in_place_) return;
  const Cells& cells = cells_[index_of(rank)];
  std::unordered_map<std::size_t, Chunk> read_at;  // cell -> position among the op's chunks
  Chunk position = 0;
  for (const Run& run : op.source) {
    for (Chunk chunk = run.first; chunk < run.first + run.count; ++chunk)
      read_at[cells.at(run.buffer, chunk)] = position++;
  }
  position = 0;
  for (const Run& run : op.target) {
    for (Chunk chunk = run.first; chunk < run.first + run.count; ++chunk, ++position) {
      const auto found = read_at.find(cells.at(run.buffer, chunk));
      if (found == read_at.end() || (op.action == Action::copy && found->second == position)) continue;
      fault(rank, static_cast<int>(index),
            fmt::format("writes {}:{} while it reads it, in place", name(run.buffer), chunk));
      return;
    }
  }
}

void SymbolicRun::check_left_over() {
  for (Rank rank = 0; rank < shape_.ranks; ++rank) {
    const std::uint32_t next = next_op_[index_of(rank)];
    if (next < schedule_.programs[index_of(rank)].size()) {
      fault(rank, static_cast<int>(next),
            fmt::format("waits for ever for a message from {}", schedule_.programs[index_of(rank)].op(next).peer));
    }
  }
  std::vector<std::uint64_t> left;
  for (const auto& [ends, wire] : wires_) {
    if (wire.first != k_none) left.push_back(ends);
  }
  std::ranges::sort(left);
  for (const std::uint64_t ends : left) {
    fault(static_cast<Rank>(ends >> 32), static_cast<int>(messages_[wires_[ends].first].op),
          fmt::format("sends a message that {} never receives", static_cast<Rank>(ends & 0xffffffffU)));
  }
}

void SymbolicRun::check_result() {
  if (!reduces(shape_.collective)) {
    for (Rank rank = 0; rank < shape_.ranks; ++rank) check_moved(rank);
    return;
  }
  std::vector<Symbol> results(static_cast<std::size_t>(shape_.classes()), k_nothing);  // allreduce: rank 0's
  for (Rank rank = 0; rank < shape_.ranks; ++rank) {
    for (Chunk chunk = 0; chunk < shape_.output_chunks(rank); ++chunk)
      check_reduced(rank, chunk, shape_.origin(rank, chunk).chunk, results);
  }
}

// Where nothing is reduced, each shard (or the vector) of the output is a stretch of somebody's input.
void SymbolicRun::check_moved(Rank rank) {
  const Chunk c = shape_.chunks;
  for (Chunk shard = 0; shard < shape_.output_chunks(rank) / c; ++shard) {
    const Origin origin = shape_.origin(rank, shard * c);
    const Symbol expected = symbols_.leaf(origin.rank, origin.chunk);
    found_.clear();
    memory_[index_of(rank)].read(cells_[index_of(rank)].at(Buffer::output, shard * c), c, found_);
    Chunk chunk = 0;
    for (const Stretch& stretch : found_) {
      for (Chunk i = 0; stretch.first != expected + chunk && i < stretch.count; ++i) {
        fault(rank, -1,
              fmt::format("output:{} ends with {}, not {}", shard * c + chunk + i, symbols_.describe(stretch.at(i)),
                          symbols_.describe(expected + chunk + i)));
      }
      chunk += stretch.count;
    }
  }
}

void SymbolicRun::check_reduced(Rank rank, Chunk chunk, Chunk vector_chunk, std::vector<Symbol>& results) {
  found_.clear();
  memory_[index_of(rank)].read(cells_[index_of(rank)].at(Buffer::output, chunk), 1, found_);
  const Symbol found = found_.front().first;
  if (!symbols_.is_full(found, vector_chunk)) {
    fault(rank, -1,
          fmt::format("output:{} ends with {}, not chunk {} reduced over all ranks", chunk, symbols_.describe(found),
                      vector_chunk));
    return;
  }
  keeps_rank_order_ = keeps_rank_order_ && symbols_.in_rank_order(found);
  if (!combines_and_spreads(shape_.collective)) return;
  Symbol& first = results[static_cast<std::size_t>(vector_chunk)];
  if (first == k_nothing) first = found;
  same_on_all_ranks_ = same_on_all_ranks_ && first == found;
}

}  // namespace colltopo
