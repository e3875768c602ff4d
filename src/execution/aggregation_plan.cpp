// Where the messages of an aggregated alltoall lie in memory: all at once, or one step after the other.

#include <algorithm>
#include <cassert>

#include "base/index.h"
#include "colltopo/aggregation.h"

namespace colltopo {

AggregationPlan::AggregationPlan(std::shared_ptr<const Plan> plan, std::size_t limit, std::size_t roomy_bytes)
    : plan_(std::move(plan)), limit_(limit), messages_of_(plan_->size()), waits_(plan_->size()) {
  const Program& program = plan_->program();
  assert(program.shape().collective == Collective::alltoall && program.shape().chunks == 1);
  for (std::uint32_t i = 0; i < plan_->size(); ++i) {
    waits_[i] += plan_->waits(i);
    if (const std::int32_t next = plan_->next_with_peer(i); next >= 0) ++waits_[static_cast<std::size_t>(next)];
    if (is_message(program.op(i).action)) add_message(i);
  }
  divide_memory(roomy_bytes);
}

void AggregationPlan::add_message(std::uint32_t index) {
  const Op op = plan_->program().op(index);
  const bool sends = op.action == Action::send;
  Line& line = lines_[sends ? k_sends : k_receives];
  if (line.stages.empty() || line.stages.back().step != op.step) line.stages.push_back({op.step, {}, 0, 0});
  Stage& stage = line.stages.back();
  const auto blocks = static_cast<std::size_t>(chunks_in(sends ? op.source : op.target));
  Message& message = messages_of_[index];
  message = {blocks * (limit_ + sizeof(Length)), stage.bytes, static_cast<std::uint32_t>(line.stages.size() - 1), 0};
  stage.ops.push_back(index);
  stage.bytes += Arena::aligned(message.room);
  ++waits_[index];
  messages_ += sends ? 1 : 0;
}

std::size_t AggregationPlan::Line::all() const {
  std::size_t bytes = 0;
  for (const Stage& stage : stages) bytes += stage.bytes;
  return bytes;
}

std::size_t AggregationPlan::Line::largest() const {
  std::size_t bytes = 0;
  for (const Stage& stage : stages) bytes = std::max(bytes, stage.bytes);
  return bytes;
}

// Whether every block that arrives and has to go on is sent once, in a later step, and nothing else is done with it.
// Counts those blocks, here and there.
bool AggregationPlan::passes_each_block_once() {
  const Program& program = plan_->program();
  std::vector<Step> came(static_cast<std::size_t>(program.scratch()), -1);  // [slot] when; -1: nothing that came
  const auto for_each_slot = [](std::span<const colltopo::Run> runs, const auto& visit) {
    bool right = true;
    for (const colltopo::Run& run : runs)
      for (Chunk chunk = 0; run.buffer == Buffer::scratch && chunk < run.count; ++chunk)
        right = visit(index(run.first + chunk)) && right;
    return right;
  };
  bool right = plan_->in_order();
  for (std::uint32_t i = 0; right && i < program.size(); ++i) {
    const Op op = program.op(i);
    Message& message = messages_of_[i];
    right = for_each_slot(op.source, [&](std::size_t slot) {
      if (came[slot] < 0) return true;
      const bool later = came[slot] < op.step;
      came[slot] = -1;
      ++message.passed;
      return later && op.action == Action::send;
    });
    right = right && for_each_slot(op.target, [&](std::size_t slot) {
              if (came[slot] >= 0) return false;
              if (op.action != Action::recv) return true;
              came[slot] = op.step;
              ++message.passed;
              ++lines_[k_receives].stages[message.stage].keeps;
              return true;
            });
  }
  return right && std::ranges::all_of(came, [](Step step) { return step < 0; });
}

// Blocks that are held when what is sent up to a step has gone, and what comes in it is there.
std::size_t AggregationPlan::most_kept() const {
  const std::vector<Stage>& sends = lines_[k_sends].stages;
  std::size_t most = 0, kept = 0, sent = 0;
  for (const Stage& stage : lines_[k_receives].stages) {
    for (; sent < sends.size() && sends[sent].step <= stage.step; ++sent)
      for (const std::uint32_t op : sends[sent].ops) kept -= messages_of_[op].passed;
    kept += stage.keeps;
    most = std::max(most, kept);
  }
  return most;
}

// What is over after the least that works lets more steps be under way.
void AggregationPlan::divide_memory(std::size_t roomy_bytes) {
  Line &sends = lines_[k_sends], &receives = lines_[k_receives];
  sends.capacity = sends.all();
  receives.capacity = receives.all();
  const std::size_t all = sends.capacity + receives.capacity;
  if (all > roomy_bytes && passes_each_block_once()) {
    const std::size_t kept = most_kept();
    const std::size_t least = Arena::aligned(kept * limit_) + sends.largest() + receives.largest();
    const std::size_t of_ranks = static_cast<std::size_t>(plan_->program().shape().ranks) * (limit_ + sizeof(Length));
    const std::size_t over = least < of_ranks ? (of_ranks - least) / 2 / Arena::k_alignment * Arena::k_alignment : 0;
    if (std::max(least, of_ranks) < all) {
      is_tight_ = true;
      kept_ = kept;
      sends.capacity = std::min(sends.capacity, sends.largest() + over);
      receives.capacity = std::min(receives.capacity, receives.largest() + over);
    }
  }
  receives.begin = sends.capacity;
  arena_bytes_ = sends.capacity + receives.capacity + Arena::aligned(kept_ * limit_);
}

std::size_t AggregationPlan::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + messages_of_.capacity() * sizeof(Message) + waits_.capacity() * 4;
  for (const Line& line : lines_)
    for (const Stage& stage : line.stages) bytes += sizeof(stage) + stage.ops.capacity() * 4;
  return bytes;
}

std::size_t aggregation_limit(double message_s, double byte_s, double copied_byte_s, double hops) {
  constexpr double k_least = 64, k_most = 8192;
  const double added = (hops - 1) * byte_s + 2 * hops * copied_byte_s;  // s for a byte
  return static_cast<std::size_t>(std::clamp(added > 0 ? message_s / added : k_most, k_least, k_most));
}

}  // namespace colltopo
