// Thread blocks from programs. A message of several runs becomes one step per stretch that is contiguous at both ends;
// what ops wait for, by the hazards of their plan, is said on their first steps.
#include "formats/msccl_blocks.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "colltopo/plan.h"
#include "formats/pieces.h"
#include "formats/used_slots.h"

namespace colltopo::msccl {

namespace {

bool alike(std::span<const Run> a, std::span<const Run> b) {
  return std::ranges::equal(a, b, [](const Run& x, const Run& y) { return x.count == y.count; });
}

// The reduction that can be one step with each receive: it alone reads what was received, and it waits for nothing
// later than the receive. It adds the message to something, or something to the message. [op] the reduction of a
// receive, the receive of a reduction; -1: none.
class Fusions {
 public:
  explicit Fusions(const Plan& plan)
      : plan_(plan),
        writer_(static_cast<std::size_t>(plan.program().scratch()), -1),
        reader_(plan.size(), -1),
        waits_for_(plan.size(), -1) {}

  std::vector<std::int32_t> partners() {
    const Program& program = plan_.program();
    for (std::size_t i = 0; i < program.size(); ++i) note(static_cast<std::int32_t>(i), program.op(i));
    std::vector<std::int32_t> partner(program.size(), -1);
    for (std::size_t i = 0; i < program.size(); ++i) {
      const std::int32_t by = reader_[i];
      if (by < 0 || program.op(i).action != Action::recv) continue;
      const auto reduction = static_cast<std::size_t>(by);
      if (!fits(program.op(i), program.op(reduction)) || waits_for_[reduction] > static_cast<std::int32_t>(i)) continue;
      partner[i] = by;
      partner[reduction] = static_cast<std::int32_t>(i);
    }
    return partner;
  }

 private:
  static bool fits(const Op& receive, const Op& reduction) {
    if (reduction.action != Action::reduce) return false;
    return std::ranges::equal(receive.target, reduction.source) ||
           (std::ranges::equal(receive.target, reduction.target) && alike(reduction.source, reduction.target));
  }

  template <class Visit>
  void each_slot(std::span<const Run> runs, const Visit& visit) {
    for (const Run& run : runs)
      for (Chunk k = 0; k < run.count && run.buffer == Buffer::scratch; ++k)
        visit(writer_[static_cast<std::size_t>(run.first + k)]);
  }

  void note(std::int32_t index, const Op& op) {
    const auto note_reader = [&](std::int32_t written_by) {
      if (written_by < 0) return;
      std::int32_t& known = reader_[static_cast<std::size_t>(written_by)];
      known = known == -1 || known == index ? index : k_several;
    };
    each_slot(op.source, note_reader);
    if (op.action == Action::reduce) each_slot(op.target, note_reader);
    each_slot(op.target, [&](std::int32_t& written_by) { written_by = index; });
    for (const std::uint32_t later : plan_.after_completion(static_cast<std::size_t>(index)))
      waits_for_[later] = std::max(waits_for_[later], index);
  }

  static constexpr std::int32_t k_several = -2;
  const Plan& plan_;
  std::vector<std::int32_t> writer_;     // [slot] the last op that wrote it
  std::vector<std::int32_t> reader_;     // [op] the op that reads what it wrote to scratch
  std::vector<std::int32_t> waits_for_;  // [op] the last that it waits for
};

class GpuBlocks {
 public:
  explicit GpuBlocks(const Plan& plan)
      : plan_(plan), slots_(plan.program()), last_step_(plan.size()), waits_(plan.size()) {
    const Shape& shape = plan.program().shape();
    gpu_.input = shape.input_chunks(plan.program().rank());
    gpu_.output = shape.output_chunks(plan.program().rank());
    gpu_.scratch = slots_.count();
    for (std::uint32_t op = 0; op < plan.size(); ++op)
      for (const std::uint32_t later : plan.after_completion(op)) waits_[later].push_back(op);
  }

  Place place(const Run& run) const {
    if (run.buffer == Buffer::scratch) return {Memory::scratch, slots_.index(run.first)};
    return {run.buffer == Buffer::input ? Memory::input : Memory::output, run.first};
  }

  /// The thread block of an op's steps: of a peer, a direction and a lane, or of local steps.
  std::size_t block(Rank send, Rank recv, Lane lane, std::int64_t own) {
    const auto [known, made] = blocks_.try_emplace({send, recv, lane, own}, gpu_.blocks.size());
    if (made) {
      ThreadBlock block;
      block.send = send;
      block.recv = recv;
      block.channel = lane;
      gpu_.blocks.push_back(std::move(block));
    }
    return known->second;
  }

  /// The steps of an op, after those of the ops that it waits for. `with`: an op that these steps do too, or -1.
  void add(std::size_t block, std::size_t op, std::int32_t with, std::vector<Instruction> steps) {
    std::map<std::int32_t, std::int32_t> awaited;  // thread block to step
    await(block, op, awaited);
    if (with >= 0) await(block, static_cast<std::size_t>(with), awaited);
    std::vector<Instruction>& list = gpu_.blocks[block].steps;
    for (auto wait = awaited.begin(); wait != awaited.end(); ++wait) {
      Instruction& step = std::next(wait) == awaited.end() ? steps.front() : list.emplace_back();
      step.awaited_block = wait->first;
      step.awaited_step = wait->second;
      seen_[{block, wait->first}] = wait->second;
    }
    list.insert(list.end(), steps.begin(), steps.end());
    const End end{static_cast<std::int32_t>(block), static_cast<std::int32_t>(list.size()) - 1};
    last_step_[op] = end;
    if (with >= 0) last_step_[static_cast<std::size_t>(with)] = end;
  }

  void copy_input() {
    gpu_.output = gpu_.input;
    std::vector<Instruction>& steps = gpu_.blocks[block(-1, -1, 0, -1)].steps;
    for (Chunk first = 0; first < gpu_.input; first += k_most_chunks_of_step) {
      Instruction step;
      step.type = StepType::copy;
      step.source = {Memory::input, first};
      step.target = {Memory::output, first};
      step.count = std::min(k_most_chunks_of_step, gpu_.input - first);
      steps.push_back(step);
    }
  }

  Gpu take() { return std::move(gpu_); }

 private:
  struct End {
    std::int32_t block = -1, step = -1;
  };

  /// Of each other thread block only the last step, and none that an earlier step of this block has waited for.
  void await(std::size_t block, std::size_t op, std::map<std::int32_t, std::int32_t>& awaited) const {
    for (const std::uint32_t before : waits_[op]) {
      const End& end = last_step_[before];
      if (end.block < 0 || end.block == static_cast<std::int32_t>(block)) continue;
      const auto seen = seen_.find({block, end.block});
      if (seen != seen_.end() && seen->second >= end.step) continue;
      const auto [known, made] = awaited.try_emplace(end.block, end.step);
      if (!made) known->second = std::max(known->second, end.step);
    }
  }

  const Plan& plan_;
  const UsedSlots slots_;
  Gpu gpu_;
  std::map<std::tuple<Rank, Rank, Lane, std::int64_t>, std::size_t> blocks_;
  std::vector<End> last_step_;                     // [op]
  std::vector<std::vector<std::uint32_t>> waits_;  // [op] the ops it waits for
  std::map<std::pair<std::size_t, std::int32_t>, std::int32_t> seen_;
};

class Writing {
 public:
  Writing(const Schedule& schedule, Grouping grouping, bool in_place)
      : schedule_(schedule), grouping_(grouping), match_(matches(schedule)) {
    for (const Program& program : schedule.programs) {
      plans_.emplace_back(program, PlanOptions{in_place});
      partner_.push_back(grouping == Grouping::few_blocks ? Fusions(plans_.back()).partners()
                                                          : std::vector<std::int32_t>(program.size(), -1));
    }
    for (const Plan& plan : plans_) gpus_.emplace_back(plan);
  }

  std::vector<Gpu> gpus() {
    std::vector<Gpu> gpus;
    for (Rank rank = 0; rank < schedule_.shape.ranks; ++rank) {
      const Program& program = schedule_.programs[static_cast<std::size_t>(rank)];
      for (std::size_t i = 0; i < program.size(); ++i) add(program, i);
      copy_of_root(program);
      gpus.push_back(gpu(rank).take());
    }
    return gpus;
  }

 private:
  GpuBlocks& gpu(Rank rank) { return gpus_[static_cast<std::size_t>(rank)]; }
  std::int32_t partner(Rank rank, std::size_t op) const { return partner_[static_cast<std::size_t>(rank)][op]; }

  /// Where a message ends up: in what it is added to, where that is one step with its receive.
  std::span<const Run> landing(Rank rank, std::size_t receive) const {
    const Program& program = schedule_.programs[static_cast<std::size_t>(rank)];
    const std::int32_t reduction = partner(rank, receive);
    return program.op(reduction < 0 ? receive : static_cast<std::size_t>(reduction)).target;
  }

  void add(const Program& program, std::size_t index) {
    const Rank rank = program.rank();
    const Op op = program.op(index);
    switch (op.action) {
      case Action::send:
        return add_message(program, index, StepType::send);
      case Action::recv:
        return add_message(program, index, partner(rank, index) < 0 ? StepType::recv : StepType::recv_reduce_copy);
      case Action::copy:
        return add_local(rank, index, op, StepType::copy);
      case Action::reduce:
        if (partner(rank, index) < 0) add_local(rank, index, op, StepType::reduce);
    }
  }

  void add_message(const Program& program, std::size_t index, StepType type) {
    const Rank rank = program.rank();
    const Op op = program.op(index);
    const bool sending = type == StepType::send;
    const auto other = static_cast<std::size_t>(match_[static_cast<std::size_t>(rank)][index]);
    const Op its_other = schedule_.programs[static_cast<std::size_t>(op.peer)].op(other);
    const std::span<const Run> source = sending ? op.source : its_other.source;
    const std::span<const Run> target = sending ? landing(op.peer, other) : landing(rank, index);
    if (chunks_in(source) != chunks_in(target) || op.lane != its_other.lane)
      throw Error(
          fmt::format("rank {} op {}: the two ends of a message differ; expected a valid schedule", rank, index));
    std::vector<Instruction> steps;
    for (const Piece& piece : pieces_of(source, target, k_most_chunks_of_step)) {
      Instruction step;
      step.type = type;
      step.source = gpu(sending ? rank : op.peer).place(piece.source);
      step.target = gpu(sending ? op.peer : rank).place(piece.target);
      step.count = piece.source.count;
      steps.push_back(step);
    }
    if (type == StepType::recv_reduce_copy) name_addends(program, index, steps);
    const std::size_t block =
        sending ? gpu(rank).block(op.peer, -1, op.lane, -1) : gpu(rank).block(-1, op.peer, op.lane, -1);
    gpu(rank).add(block, index, sending ? -1 : partner(rank, index), std::move(steps));
  }

  /// What is added to the message: its place itself, or what lies elsewhere.
  void name_addends(const Program& program, std::size_t receive, std::vector<Instruction>& steps) {
    const Op reduction = program.op(static_cast<std::size_t>(partner(program.rank(), receive)));
    const bool message_is_source = std::ranges::equal(program.op(receive).target, reduction.source);
    std::size_t run = 0;
    Chunk in_run = 0;
    for (Instruction& step : steps) {
      const Run& source = message_is_source ? reduction.target[run] : reduction.source[run];
      step.source = gpu(program.rank()).place({source.buffer, source.first + in_run, step.count});
      in_run += step.count;
      if (in_run == source.count) ++run, in_run = 0;
    }
  }

  void add_local(Rank rank, std::size_t index, const Op& op, StepType type) {
    std::vector<Instruction> steps;
    for (const Piece& piece : pieces_of(op.source, op.target, k_most_chunks_of_step)) {
      Instruction step;
      step.type = type;
      step.source = gpu(rank).place(piece.source);
      step.target = gpu(rank).place(piece.target);
      step.count = piece.source.count;
      steps.push_back(step);
    }
    const std::int64_t own = grouping_ == Grouping::apart ? static_cast<std::int64_t>(index) : -1;
    gpu(rank).add(gpu(rank).block(-1, -1, 0, own), index, -1, std::move(steps));
  }

  /// MSCCL's broadcast gives the root its output too; ours, as MPI's, has none there.
  void copy_of_root(const Program& program) {
    const Shape& shape = schedule_.shape;
    if (!row(shape.collective).one_buffer || program.rank() != shape.root) return;
    gpu(program.rank()).copy_input();
  }

  const Schedule& schedule_;
  Grouping grouping_;
  std::vector<std::vector<std::int32_t>> match_;    // [rank][op]
  std::vector<Plan> plans_;                         // [rank]
  std::vector<std::vector<std::int32_t>> partner_;  // [rank][op]
  std::vector<GpuBlocks> gpus_;                     // [rank]
};

}  // namespace

Algorithm in_blocks(const Schedule& schedule, Grouping grouping, bool in_place) {
  Algorithm algorithm;
  algorithm.name = schedule.name;
  algorithm.collective = schedule.shape.collective;
  algorithm.chunks = schedule.shape.whole();
  algorithm.in_place = in_place;
  algorithm.gpus = Writing(schedule, grouping, in_place).gpus();
  return algorithm;
}

}  // namespace colltopo::msccl
