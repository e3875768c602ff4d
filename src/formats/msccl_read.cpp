// An MSCCL algorithm as a schedule: its steps take their turns, and what they move is placed in our buffers.
#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/lines.h"
#include "base/xml.h"
#include "colltopo/formats.h"
#include "colltopo/verify.h"
#include "formats/gpu_memory.h"
#include "formats/msccl_order.h"

namespace colltopo {

namespace {

using namespace msccl;

struct Reading {
  bool in_place = false;  // i and o are one memory
  // MSCCL buffers what is sent, so a receive may write where a send reads that waits for it. With every such message
  // received into scratch of its own, no receive waits.
  bool receives_aside = false;
};

struct PlacedOp {
  Action action = Action::copy;
  Rank peer = 0;
  Lane lane = 0;
  Step step = 0;
  Runs source, target;
};

Runs runs_of(const std::vector<Value>& values) {
  Runs runs;
  for (const Value& value : values) {
    if (!runs.empty() && runs.back().buffer == value.buffer && runs.back().first + runs.back().count == value.chunk)
      ++runs.back().count;
    else
      runs.push_back({value.buffer, value.chunk, 1});
  }
  return runs;
}

class Placement {
 public:
  Placement(const msccl::Algorithm& algorithm, const Shape& shape, Chunk split, const std::string& file,
            Reading reading)
      : algorithm_(algorithm), shape_(shape), split_(split), file_(file), reading_(reading) {
    for (Rank rank = 0; rank < shape.ranks; ++rank) gpus_.emplace_back(shape_, rank, reading.in_place);
    ops_.resize(gpus_.size());
    bank_.resize(gpus_.size());
  }

  std::vector<Program> programs(const std::vector<Turn>& turns) {
    for (const Turn& turn : turns) take(turn);
    std::vector<Program> programs;
    for (Rank rank = 0; rank < shape_.ranks; ++rank) programs.push_back(program(rank));
    return programs;
  }

 private:
  using Cell = GpuMemory::Cell;
  // Owners of scratch slots besides cells.
  static constexpr std::int64_t k_block = std::int64_t{3} << 40, k_message = std::int64_t{4} << 40;

  GpuMemory& gpu(Rank rank) { return gpus_[static_cast<std::size_t>(rank)]; }

  Error error(const Instruction& step, std::string_view what) const { return error_at(file_, step.line, what); }

  std::vector<Cell> cells(Rank rank, const Instruction& step, const Place& place) {
    const Chunk first = place.first * split_, count = step.count * split_;
    if (place.memory != Memory::scratch && first + count > gpu(rank).size(place.memory))
      throw error(step, fmt::format("chunks {}..{} of {}, of which {} has {}", place.first,
                                    place.first + step.count - 1, place.memory == Memory::input ? "i" : "o",
                                    name(shape_.collective), gpu(rank).size(place.memory) / split_));
    std::vector<Cell> cells;
    for (Chunk chunk = first; chunk < first + count; ++chunk) cells.push_back(gpu(rank).cell(place.memory, chunk));
    return cells;
  }

  std::vector<Value> read(Rank rank, const Instruction& step, const std::vector<Cell>& cells) {
    std::vector<Value> values;
    for (const Cell cell : cells) {
      const Value* const value = gpu(rank).value(cell);
      if (value == nullptr)
        throw error(step, fmt::format("gpu {} reads a chunk that nothing has been written to", rank));
      values.push_back(*value);
    }
    return values;
  }

  void add(Rank rank, PlacedOp op) {
    for (const Run& run : op.target)
      for (Chunk i = 0; i < run.count; ++i) being_sent_.erase(location(rank, run.buffer, run.first + i));
    ops_[static_cast<std::size_t>(rank)].push_back(std::move(op));
  }

  std::int64_t location(Rank rank, Buffer buffer, Chunk chunk) const {
    return (std::int64_t{rank} << 34) + (static_cast<std::int64_t>(buffer) << 32) + chunk;
  }

  void take(const Turn& turn) {
    const ThreadBlock& block =
        algorithm_.gpus[static_cast<std::size_t>(turn.rank)].blocks[static_cast<std::size_t>(turn.block)];
    const Instruction& step = block.steps[static_cast<std::size_t>(turn.step)];
    if (step.count == 0) return;
    if (turn.what == Turn::What::message) {
      receive(turn, block, message_slots(turn));
      return;
    }
    std::vector<Value> result;  // what a fused step sends
    if (receives(step.type))
      result = reduces(step.type) ? receive_and_reduce(turn, block, step) : receive_and_keep(turn, block, step);
    else if (step.type == StepType::copy)
      copy(turn, step);
    else if (step.type == StepType::reduce)
      reduce(turn, step);
    if (!sends(step.type)) return;
    if (step.type == StepType::send) result = read(turn.rank, step, cells(turn.rank, step, step.source));
    send(turn, block, result);
  }

  void send(const Turn& turn, const ThreadBlock& block, const std::vector<Value>& values) {
    std::vector<Chunk>& classes = messages_[turn.sent];
    for (const Value& value : values) {
      classes.push_back(value.size_class);
      being_sent_.insert(location(turn.rank, value.buffer, value.chunk));
    }
    add(turn.rank, {Action::send, block.send, block.channel, turn.leaves, runs_of(values), {}});
  }

  void receive(const Turn& turn, const ThreadBlock& block, const std::vector<Value>& values) {
    add(turn.rank, {Action::recv, block.recv, block.channel, turn.arrives, {}, runs_of(values)});
  }

  std::vector<Value> message_slots(const Turn& turn) {
    std::vector<Value> values;
    Chunk place = 0;
    for (const Chunk size_class : messages_[turn.received])
      values.push_back(
          gpu(turn.rank).slot(k_message + (static_cast<std::int64_t>(turn.received) << 20) + place++, size_class));
    return values;
  }

  /// Scratch for a message that is added to something: of its thread block, two in turn, so that one may arrive while
  /// the one before is still used.
  std::vector<Value> block_slots(const Turn& turn) {
    int& bank = bank_[static_cast<std::size_t>(turn.rank)][turn.block];
    bank = 1 - bank;
    std::vector<Value> values;
    std::map<Chunk, int> used;  // of a class
    for (const Chunk size_class : messages_[turn.received])
      values.push_back(
          gpu(turn.rank).slot(k_block + (std::int64_t{turn.block} << 20) + 2 * used[size_class]++ + bank, size_class));
    return values;
  }

  /// The message, in scratch.
  std::vector<Value> received_aside(const Turn& turn, const ThreadBlock& block) {
    if (turn.what == Turn::What::all_but_message) return message_slots(turn);
    const std::vector<Value> values = reading_.receives_aside ? message_slots(turn) : block_slots(turn);
    receive(turn, block, values);
    return values;
  }

  std::vector<Value> homes(Rank rank, const std::vector<Cell>& cells, const std::vector<Chunk>& classes) {
    std::vector<Value> values;
    for (std::size_t i = 0; i < cells.size(); ++i) values.push_back(gpu(rank).home(cells[i], classes[i]));
    return values;
  }

  void keep(Rank rank, const std::vector<Cell>& cells, const std::vector<Value>& values) {
    for (std::size_t i = 0; i < cells.size(); ++i) gpu(rank).set(cells[i], values[i]);
  }

  std::vector<Value> receive_and_keep(const Turn& turn, const ThreadBlock& block, const Instruction& step) {
    const std::vector<Cell> target = cells(turn.rank, step, step.target);
    const std::vector<Value> values = homes(turn.rank, target, messages_[turn.received]);
    const bool waits = std::any_of(values.begin(), values.end(), [&](const Value& value) {
      return being_sent_.contains(location(turn.rank, value.buffer, value.chunk));
    });
    if (turn.what == Turn::What::all_but_message || (reading_.receives_aside && waits)) {
      const std::vector<Value> aside = received_aside(turn, block);
      add(turn.rank, {Action::copy, 0, 0, turn.arrives, runs_of(aside), runs_of(values)});
    } else {
      receive(turn, block, values);
    }
    keep(turn.rank, target, values);
    return values;
  }

  void require_same_places(const Instruction& step, const std::vector<Value>& values,
                           const std::vector<Chunk>& classes) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i].size_class != classes[i])
        throw error(step, fmt::format("adds chunk {} of the vector to chunk {}; expected the same of two ranks",
                                      classes[i] / split_, values[i].size_class / split_));
  }

  std::vector<Value> receive_and_reduce(const Turn& turn, const ThreadBlock& block, const Instruction& step) {
    const std::vector<Chunk> classes = messages_[turn.received];
    const std::vector<Value> source = read(turn.rank, step, cells(turn.rank, step, step.source));
    require_same_places(step, source, classes);
    const std::vector<Value> message = received_for_sum(turn, block, step, source);
    if (step.type == StepType::recv_reduce_send) {
      add(turn.rank, {Action::reduce, 0, 0, turn.arrives, runs_of(source), runs_of(message)});
      return message;
    }
    const std::vector<Cell> target = cells(turn.rank, step, step.target);
    const std::vector<Value> values = homes(turn.rank, target, classes);
    if (same(message, values)) {
      add(turn.rank, {Action::reduce, 0, 0, turn.arrives, runs_of(source), runs_of(values)});
    } else {
      move(turn.rank, turn.arrives, source, values);
      add(turn.rank, {Action::reduce, 0, 0, turn.arrives, runs_of(message), runs_of(values)});
    }
    keep(turn.rank, target, values);
    return values;
  }

  static bool same(const std::vector<Value>& a, const std::vector<Value>& b) {
    return std::ranges::equal(
        a, b, [](const Value& x, const Value& y) { return x.buffer == y.buffer && x.chunk == y.chunk; });
  }

  /// A sum that goes to scratch from elsewhere is made where it goes: the message is received there. In output, which
  /// may be the memory of input, it would overwrite what is to be added to it.
  std::vector<Value> received_for_sum(const Turn& turn, const ThreadBlock& block, const Instruction& step,
                                      const std::vector<Value>& source) {
    if (step.type == StepType::recv_reduce_send || turn.what != Turn::What::all || reading_.receives_aside)
      return received_aside(turn, block);
    const std::vector<Value> values = homes(turn.rank, cells(turn.rank, step, step.target), messages_[turn.received]);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i].buffer != Buffer::scratch || source[i].buffer == Buffer::scratch)
        return received_aside(turn, block);
    receive(turn, block, values);
    return values;
  }

  /// Copies what is not there already.
  void move(Rank rank, Step step, const std::vector<Value>& from, const std::vector<Value>& to) {
    std::vector<Value> source, target;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i].buffer == to[i].buffer && from[i].chunk == to[i].chunk) continue;
      source.push_back(from[i]);
      target.push_back(to[i]);
    }
    if (!source.empty()) add(rank, {Action::copy, 0, 0, step, runs_of(source), runs_of(target)});
  }

  void copy(const Turn& turn, const Instruction& step) {
    const std::vector<Cell> target = cells(turn.rank, step, step.target);
    const std::vector<Value> from = read(turn.rank, step, cells(turn.rank, step, step.source));
    std::vector<Value> to;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Value home = gpu(turn.rank).home(target[i], from[i].size_class);
      // Nobody writes to input: a private copy of it can be read there.
      to.push_back(home.buffer == Buffer::scratch && from[i].buffer == Buffer::input ? from[i] : home);
    }
    move(turn.rank, turn.leaves, from, to);
    keep(turn.rank, target, to);
  }

  void reduce(const Turn& turn, const Instruction& step) {
    const std::vector<Cell> target = cells(turn.rank, step, step.target);
    const std::vector<Value> source = read(turn.rank, step, cells(turn.rank, step, step.source));
    const std::vector<Value> held = read(turn.rank, step, target);
    std::vector<Chunk> classes;
    for (const Value& value : held) classes.push_back(value.size_class);
    require_same_places(step, source, classes);
    const std::vector<Value> values = homes(turn.rank, target, classes);
    move(turn.rank, turn.leaves, held, values);
    add(turn.rank, {Action::reduce, 0, 0, turn.leaves, runs_of(source), runs_of(values)});
    keep(turn.rank, target, values);
  }

  Program program(Rank rank) {
    std::vector<Value> from, to;
    gpu(rank).keep_first_values(from, to);
    ProgramBuilder program(shape_, rank);
    program.copy(runs_of(from), runs_of(to));
    for (PlacedOp& op : ops_[static_cast<std::size_t>(rank)])
      program.add({op.action, op.peer, op.lane, op.step, {}, {}}, std::move(op.source), std::move(op.target));
    return std::move(program).build();
  }

  const msccl::Algorithm& algorithm_;
  const Shape& shape_;
  Chunk split_;  // our chunks in one of the algorithm's
  const std::string& file_;
  Reading reading_;
  std::vector<GpuMemory> gpus_;
  std::vector<std::vector<PlacedOp>> ops_;                        // [rank]
  std::unordered_map<std::size_t, std::vector<Chunk>> messages_;  // [number] size classes of its chunks
  std::vector<std::unordered_map<std::int32_t, int>> bank_;       // [rank][thread block]
  std::unordered_set<std::int64_t> being_sent_;                   // places read by a send and not written since
};

/// The rank that has, or gets, the vector: alone in receiving, or sending, nothing.
Rank root_of(const msccl::Algorithm& algorithm, const std::string& file) {
  const bool spreads = row(algorithm.collective).spreads;
  std::vector<Rank> roots;
  for (Rank rank = 0; rank < static_cast<Rank>(algorithm.gpus.size()); ++rank) {
    bool plain = true;
    for (const ThreadBlock& block : algorithm.gpus[static_cast<std::size_t>(rank)].blocks)
      for (const Instruction& step : block.steps) plain = plain && !(spreads ? receives(step.type) : sends(step.type));
    if (plain) roots.push_back(rank);
  }
  if (roots.size() == 1) return roots.front();
  throw Error(fmt::format("{}: {} gpus {} nothing; expected one, the root, which the file does not name", file,
                          roots.size(), spreads ? "receive" : "send"));
}

/// `split`: into how many of ours a chunk is cut; a vector of ours has a whole number of chunks per rank.
Shape shape_of(const msccl::Algorithm& algorithm, const std::string& file, Chunk& split) {
  const auto ranks = static_cast<Rank>(algorithm.gpus.size());
  Shape shape{algorithm.collective, ranks, algorithm.chunks, 0};
  split = 1;
  if (rooted(algorithm.collective)) {
    shape.root = root_of(algorithm, file);
    return shape;
  }
  constexpr std::int64_t k_most = 1 << 22;
  if (!row(algorithm.collective).counts_shards()) {
    const std::int64_t chunks = std::lcm(std::int64_t{algorithm.chunks}, std::int64_t{ranks});
    if (chunks > k_most)
      throw Error(fmt::format("{}: nchunksperloop {} for {} gpus: {} chunks are needed; expected at most {}", file,
                              algorithm.chunks, ranks, chunks, k_most));
    for (const Gpu& gpu : algorithm.gpus)
      if (gpu.scratch > k_most / (chunks / algorithm.chunks))
        throw Error(fmt::format("{}: s_chunks {}, each of which is cut in {}; expected at most {} in all", file,
                                gpu.scratch, chunks / algorithm.chunks, k_most));
    split = static_cast<Chunk>(chunks / algorithm.chunks);
    shape.chunks = static_cast<Chunk>(chunks / ranks);
    return shape;
  }
  if (algorithm.chunks % ranks != 0)
    throw Error(fmt::format("{}: nchunksperloop {} for {} gpus; {} needs as many chunks of each", file,
                            algorithm.chunks, ranks, name(algorithm.collective)));
  shape.chunks = algorithm.chunks / ranks;
  return shape;
}

std::string plain_name(const msccl::Algorithm& algorithm) {
  std::string plain = algorithm.name.empty() ? "msccl" : algorithm.name;
  for (char& letter : plain)
    if (static_cast<unsigned char>(letter) < 32 || letter == 127) letter = ' ';
  return plain;
}

}  // namespace

bool is_msccl_xml(std::string_view contents) { return has_xml_root(contents, "algo"); }

Schedule read_msccl_xml(std::string_view contents, const std::string& file) {
  const msccl::Algorithm algorithm = parsed(contents, file);
  const std::vector<Turn> order = turns(algorithm, file);
  Chunk split = 1;
  Schedule schedule;
  schedule.name = plain_name(algorithm);
  schedule.shape = shape_of(algorithm, file, split);
  std::vector<Reading> readings;
  for (const bool in_place : {false, true}) {
    if (!(in_place ? algorithm.in_place : algorithm.out_of_place || !algorithm.in_place)) continue;
    readings.push_back({in_place, false});
    readings.push_back({in_place, true});
  }
  std::optional<Schedule> first;
  std::optional<Error> fault;
  for (const Reading& reading : readings) {
    try {
      schedule.programs = Placement(algorithm, schedule.shape, split, file, reading).programs(order);
    } catch (const Error& error) {
      if (!fault) fault = error;
      continue;
    }
    if (verify(schedule).valid()) return schedule;
    if (!first) first = schedule;
  }
  if (!first) throw Error(*fault);
  return *first;
}

}  // namespace colltopo
