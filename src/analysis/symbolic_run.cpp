#include "analysis/symbolic_run.h"

#include <fmt/format.h>

#include <unordered_map>

namespace colltopo {

namespace {
constexpr std::size_t k_most_violations = 20;
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
    memory_.emplace_back(cells_.back().size(), k_nothing);
  }
  next_op_.assign(index_of(shape_.ranks), 0);
}

void SymbolicRun::fault(Rank rank, int op, std::string what) {
  if (violations_.size() < k_most_violations) violations_.push_back({rank, op, std::move(what)});
}

bool SymbolicRun::run() {
  fill_inputs();
  for (Rank rank = shape_.ranks; rank-- > 0;) runnable_.push_back(rank);
  while (!runnable_.empty()) {
    const Rank rank = runnable_.back();
    runnable_.pop_back();
    run_rank(rank);
  }
  check_left_over();
  if (violations_.empty()) check_result();
  return violations_.empty();
}

void SymbolicRun::fill_inputs() {
  for (Rank rank = 0; rank < shape_.ranks; ++rank) {
    for (Chunk chunk = 0; chunk < shape_.input_chunks(rank); ++chunk) {
      memory_[index_of(rank)][cells_[index_of(rank)].at(Buffer::input, chunk)] = symbols_.leaf(rank, chunk);
    }
  }
}

// Runs a rank until it ends or must wait for a message.
void SymbolicRun::run_rank(Rank rank) {
  const Program& program = schedule_.programs[index_of(rank)];
  for (std::uint32_t& next = next_op_[index_of(rank)]; next < program.size(); ++next) {
    const Op op = program.op(next);
    switch (op.action) {
      case Action::send: {
        std::vector<Symbol> symbols = read(rank, next, op.source);
        auto& wire = wires_[{rank, op.peer}];
        wire.push_back({next, op.step, op.lane, std::move(symbols)});
        const Program& receiver = schedule_.programs[index_of(op.peer)];
        const std::uint32_t waiting = next_op_[index_of(op.peer)];
        if (wire.size() == 1 && waiting < receiver.size()) {
          const Op wanted = receiver.op(waiting);
          if (wanted.action == Action::recv && wanted.peer == rank) runnable_.push_back(op.peer);
        }
        break;
      }
      case Action::recv:
        if (!receive(rank, next, op)) return;
        break;
      case Action::copy:
        check_places(rank, next, op);
        write(rank, next, op.target, read(rank, next, op.source));
        break;
      case Action::reduce: {
        check_places(rank, next, op);
        const std::vector<Symbol> source = read(rank, next, op.source);
        std::vector<Symbol> target = read(rank, next, op.target);
        for (std::size_t i = 0; i < target.size(); ++i) {
          if (source[i] == k_nothing || target[i] == k_nothing) continue;  // reported by read()
          std::string what;
          target[i] = symbols_.reduced(source[i], target[i], &what);
          if (!what.empty()) fault(rank, static_cast<int>(next), what);
        }
        write(rank, next, op.target, target);
        break;
      }
    }
  }
}

bool SymbolicRun::receive(Rank rank, std::uint32_t index, const Op& op) {
  const auto wire = wires_.find({op.peer, rank});
  if (wire == wires_.end() || wire->second.empty()) return false;
  const Message message = std::move(wire->second.front());
  wire->second.pop_front();
  const Chunk wanted = chunks_in(op.target);
  if (static_cast<std::size_t>(wanted) != message.symbols.size()) {
    fault(rank, static_cast<int>(index),
          fmt::format("receives {} chunks from {}, which sends {} (op {})", wanted, op.peer, message.symbols.size(),
                      message.op));
  }
  if (op.step != message.step || op.lane != message.lane) {
    fault(
        rank, static_cast<int>(index),
        fmt::format("receives in step {} on lane {} what {} sends in step {} on lane {} (op {}); both ends must agree",
                    op.step, op.lane, op.peer, message.step, message.lane, message.op));
  }
  matches_.push_back({op.peer, rank, message.op, index});
  write(rank, index, op.target, message.symbols);
  return true;
}

std::vector<Symbol> SymbolicRun::read(Rank rank, std::uint32_t index, std::span<const Run> source) {
  std::vector<Symbol> symbols;
  symbols.reserve(static_cast<std::size_t>(chunks_in(source)));
  for (const Run& run : source) {
    for (Chunk chunk = run.first; chunk < run.first + run.count; ++chunk) {
      symbols.push_back(memory_[index_of(rank)][cells_[index_of(rank)].at(run.buffer, chunk)]);
      if (symbols.back() == k_nothing) {
        fault(rank, static_cast<int>(index),
              fmt::format("reads {}:{}, which nothing has written", name(run.buffer), chunk));
      }
    }
  }
  return symbols;
}

void SymbolicRun::write(Rank rank, std::uint32_t index, std::span<const Run> target,
                        const std::vector<Symbol>& symbols) {
  std::size_t next = 0;
  for (const Run& run : target) {
    for (Chunk chunk = run.first; chunk < run.first + run.count && next < symbols.size(); ++chunk, ++next) {
      memory_[index_of(rank)][cells_[index_of(rank)].at(run.buffer, chunk)] = symbols[next];
      if (symbols[next] == k_nothing) continue;
      // A value keeps its size only in places of its own size class.
      const Chunk period = shape_.classes();
      const Chunk place = size_class(shape_, rank, run.buffer, chunk) % period;
      const Chunk value = symbols_.size_class(symbols[next]) % period;
      if (place != value) {
        fault(rank, static_cast<int>(index),
              fmt::format("puts {} into {}:{}, which has the size of class {}, not {}",
                          symbols_.describe(symbols[next]), name(run.buffer), chunk, place, value));
      }
    }
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
  for (const auto& [ends, wire] : wires_) {
    if (!wire.empty()) {
      fault(ends.first, static_cast<int>(wire.front().op),
            fmt::format("sends a message that {} never receives", ends.second));
    }
  }
}

void SymbolicRun::check_result() {
  const Chunk c = shape_.chunks;
  std::vector<Symbol> results(static_cast<std::size_t>(shape_.classes()), k_nothing);  // allreduce: rank 0's
  for (Rank rank = 0; rank < shape_.ranks; ++rank) {
    const Chunk outputs = shape_.output_chunks(rank);
    for (Chunk chunk = 0; chunk < outputs; ++chunk) {
      if (reduces(shape_.collective)) {
        const Chunk offset = shape_.collective == Collective::reduce_scatter ? rank * c : 0;
        check_reduced(rank, chunk, chunk + offset, results);
        continue;
      }
      const Symbol expected = shape_.collective == Collective::alltoall ? symbols_.leaf(chunk / c, rank * c + chunk % c)
                              : shape_.collective == Collective::allgather ? symbols_.leaf(chunk / c, chunk % c)
                                                                           : symbols_.leaf(shape_.root, chunk);
      const Symbol found = memory_[index_of(rank)][cells_[index_of(rank)].at(Buffer::output, chunk)];
      if (found != expected) {
        fault(rank, -1,
              fmt::format("output:{} ends with {}, not {}", chunk, symbols_.describe(found),
                          symbols_.describe(expected)));
      }
    }
  }
}

void SymbolicRun::check_reduced(Rank rank, Chunk chunk, Chunk vector_chunk, std::vector<Symbol>& results) {
  const Symbol found = memory_[index_of(rank)][cells_[index_of(rank)].at(Buffer::output, chunk)];
  if (!symbols_.is_full(found, vector_chunk)) {
    fault(rank, -1,
          fmt::format("output:{} ends with {}, not chunk {} reduced over all ranks", chunk, symbols_.describe(found),
                      vector_chunk));
    return;
  }
  keeps_rank_order_ = keeps_rank_order_ && symbols_.in_rank_order(found);
  if (shape_.collective != Collective::allreduce) return;
  Symbol& first = results[static_cast<std::size_t>(vector_chunk)];
  if (first == k_nothing) first = found;
  same_on_all_ranks_ = same_on_all_ranks_ && first == found;
}

}  // namespace colltopo
