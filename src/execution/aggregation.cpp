#include "colltopo/aggregation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/index.h"

namespace colltopo {

using Length = AggregationPlan::Length;

void Aggregation::start(const AggregationPlan& plan, Transport& transport, std::byte* arena, const std::byte* input,
                        std::byte* output, const UnevenShards& shards, int mismatch) {
  plan_ = &plan;
  transport_ = &transport;
  arena_ = arena;
  input_ = input;
  output_ = output;
  shards_ = shards;
  mismatch_ = mismatch;
  slots_.assign(static_cast<std::size_t>(plan.program().scratch()), {});
  waits_ = plan.waits_;
  for (Ready* const ready : {&receives_, &others_}) {
    ready->ops.clear();
    ready->ops.reserve(waits_.size());
    ready->next = 0;
  }
  actives_.clear();
  actives_.reserve(waits_.size());
  left_ = waits_.size();
  sent_.assign(waits_.size(), 0);
  status_ = 0;
  gave_up_ = false;
  for (std::size_t direction = 0; direction < open_.size(); ++direction) {
    const std::vector<AggregationPlan::Stage>& stages = plan.lines_[direction].stages;
    Open& open = open_[direction];
    open.first = open.next = open.end = 0;
    open.at.resize(stages.size());
    open.left.resize(stages.size());
  }
  kept_ = 0;
  free_.clear();
  const std::size_t beside =
      plan.lines_[AggregationPlan::k_receives].begin + plan.lines_[AggregationPlan::k_receives].capacity;
  for (std::size_t i = 0; i < plan.kept_; ++i) free_.push_back(arena + beside + i * plan.limit_);
  open_stages();
  for (std::uint32_t op = 0; op < waits_.size(); ++op)
    if (plan.waits_[op] == 0) became_ready(op);
}

// A step's messages get memory all at once, in the order of steps. Whatever has memory waits for messages of its own
// step and of earlier ones alone, at all ranks, so it is over some time; then there is room for the next step.
void Aggregation::open_stages() noexcept {
  may_open_ = false;
  for (std::size_t direction = 0; direction < open_.size(); ++direction)
    while (open_next(direction)) {
    }
}

bool Aggregation::open_next(std::size_t direction) noexcept {
  const std::vector<AggregationPlan::Stage>& stages = plan_->lines_[direction].stages;
  Open& open = open_[direction];
  if (open.next == stages.size()) return false;
  const AggregationPlan::Stage& stage = stages[open.next];
  if (plan_->is_tight_ && kept_ + stage.keeps > plan_->kept_) return false;
  while (!place(direction, stage.bytes, &open.at[open.next])) {
    if (open.left[open.first] > 0) return false;
    make_way(stages[open.first++]);
  }
  if (plan_->is_tight_) kept_ += stage.keeps;
  open.end = open.at[open.next] + stage.bytes;
  open.left[open.next++] = stage.ops.size();
  for (const std::uint32_t op : stage.ops)
    if (--waits_[op] == 0) became_ready(op);
  return true;
}

// A ring of stages, each in one piece.
bool Aggregation::place(std::size_t direction, std::size_t bytes, std::size_t* at) const noexcept {
  const Open& open = open_[direction];
  const std::size_t capacity = plan_->lines_[direction].capacity;
  const bool empty = open.first == open.next;
  const std::size_t oldest = empty ? capacity : open.at[open.first];
  const std::size_t end = empty ? 0 : open.end;
  const bool around = !empty && end <= oldest;
  if (end + bytes <= (around ? oldest : capacity)) return *at = end, true;
  return *at = 0, !around && !empty && bytes <= oldest;
}

// Blocks that have come with these messages and not gone on leave their memory.
void Aggregation::make_way(const AggregationPlan::Stage& stage) noexcept {
  if (stage.keeps == 0) return;
  for (const std::uint32_t op : stage.ops) {
    const std::byte* const begin = memory_of(op);
    const std::byte* const end = begin + plan_->messages_of_[op].room;
    for (const Run& run : plan_->program().op(op).target) {
      if (run.buffer != Buffer::scratch) continue;
      for (Chunk chunk = 0; chunk < run.count; ++chunk) {
        Block& kept = slots_[index(run.first + chunk)];
        if (kept.bytes == 0 || kept.at < begin || kept.at >= end) continue;
        std::memcpy(free_.back(), kept.at, kept.bytes);
        kept.at = free_.back();
        free_.pop_back();
      }
    }
  }
}

// What has been sent on.
void Aggregation::release(const Run& run) noexcept {
  if (run.buffer != Buffer::scratch) return;
  const AggregationPlan::Line& receives = plan_->lines_[AggregationPlan::k_receives];
  std::byte* const beside = arena_ + receives.begin + receives.capacity;
  std::byte* const end = beside + plan_->kept_ * plan_->limit_;
  for (Chunk chunk = 0; chunk < run.count; ++chunk) {
    Block& block = slots_[index(run.first + chunk)];
    if (block.bytes > 0 && block.at >= beside && block.at < end) free_.push_back(beside + (block.at - beside));
    block = {};
  }
}

std::byte* Aggregation::memory_of(std::uint32_t op) const noexcept {
  const std::size_t direction =
      plan_->program().op(op).action == Action::send ? AggregationPlan::k_sends : AggregationPlan::k_receives;
  const AggregationPlan::Message& message = plan_->messages_of_[op];
  return arena_ + plan_->lines_[direction].begin + open_[direction].at[message.stage] + message.at;
}

bool Aggregation::progress() noexcept {
  for (;;) {
    while (Ready* const ready = first_ready()) {
      issue(ready->ops[ready->next++]);
      if (status_ != 0) return true;
    }
    if (!test_actives()) return true;
    if (may_open_) open_stages();
    if (first_ready() == nullptr) return left_ == 0;
  }
}

Aggregation::Ready* Aggregation::first_ready() noexcept {
  for (Ready* const ready : {&receives_, &others_})
    if (ready->next < ready->ops.size()) return ready;
  return nullptr;
}

// What has arrived leaves; the others close up. False: the call has failed.
bool Aggregation::test_actives() noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < actives_.size(); ++i) {
    if (const int code = transport_->test(&actives_[i].request); code != 0) return fail(code), false;
    if (actives_[i].request != nullptr) {
      if (kept != i) actives_[kept] = {actives_[i].op, std::exchange(actives_[i].request, nullptr)};
      ++kept;
      continue;
    }
    arrived(actives_[i].op);
    if (status_ != 0) return false;
  }
  actives_.resize(kept);
  return true;
}

void Aggregation::became_ready(std::uint32_t op) noexcept {
  (plan_->program().op(op).action == Action::recv ? receives_ : others_).ops.push_back(op);
}

std::size_t Aggregation::expected(Chunk shard) const noexcept {
  const std::size_t bytes = shards_.output.bytes[static_cast<std::size_t>(shard)];
  return bytes <= plan_->limit_ ? bytes : 0;
}

Aggregation::Block Aggregation::block(const Run& run, Chunk chunk) const noexcept {
  if (run.buffer == Buffer::scratch) return slots_[index(run.first + chunk)];
  const auto shard = index(run.first + chunk);
  if (run.buffer == Buffer::output) return {output_ + shards_.output.at[shard], expected(run.first + chunk)};
  const std::size_t bytes = shards_.input.bytes[shard];
  return {input_ + shards_.input.at[shard], bytes <= plan_->limit_ ? bytes : 0};
}

// A block that has come where it belongs, or has to go on.
void Aggregation::keep(const Run& run, Chunk chunk, const Block& block) noexcept {
  if (run.buffer == Buffer::scratch) {
    slots_[index(run.first + chunk)] = block;
    return;
  }
  const Chunk shard = run.first + chunk;
  if (block.bytes == expected(shard)) {
    std::byte* const to = output_ + shards_.output.at[static_cast<std::size_t>(shard)];
    if (block.bytes > 0 && to != block.at) std::memcpy(to, block.at, block.bytes);
    return;
  }
  status_ = mismatch_;
}

void Aggregation::issue(std::uint32_t index) noexcept {
  const Op op = plan_->program().op(index);
  if (op.action == Action::send) return send(index);
  if (op.action != Action::recv) {
    copy(index);
    return completed(index);
  }
  Transport::Request request = nullptr;
  const std::size_t room = plan_->messages_of_[index].room;
  const int code = transport_->recv(memory_of(index), room, op.peer, op.lane, &request);
  if (code != 0) return fail(code);
  started(index);
  if (request != nullptr) return actives_.push_back({index, request});
  arrived(index);
}

void Aggregation::send(std::uint32_t index) noexcept {
  const Op op = plan_->program().op(index);
  std::byte* const message = memory_of(index);
  std::byte* length_at = message;
  std::byte* data = message + static_cast<std::size_t>(chunks_in(op.source)) * sizeof(Length);
  for (const Run& run : op.source) {
    for (Chunk chunk = 0; chunk < run.count; ++chunk) {
      const Block sent = block(run, chunk);
      const auto length = static_cast<Length>(sent.bytes);
      std::memcpy(length_at, &length, sizeof(length));
      length_at += sizeof(length);
      if (sent.bytes > 0) std::memcpy(data, sent.at, sent.bytes);
      data += sent.bytes;
    }
    if (plan_->is_tight_) release(run);
  }
  if (plan_->is_tight_) {
    kept_ -= plan_->messages_of_[index].passed;
    may_open_ = true;
  }
  const auto bytes = static_cast<std::size_t>(data - message);
  Transport::Request request = nullptr;
  if (const int code = transport_->send(message, bytes, op.peer, op.lane, &request); code != 0) return fail(code);
  sent_[index] = bytes;
  started(index);
  if (request != nullptr) return actives_.push_back({index, request});
  completed(index);
}

void Aggregation::arrived(std::uint32_t index) noexcept {
  const Op op = plan_->program().op(index);
  if (op.action == Action::recv) {
    const std::byte* length_at = memory_of(index);
    const std::byte* data = length_at + static_cast<std::size_t>(chunks_in(op.target)) * sizeof(Length);
    for (const Run& run : op.target) {
      for (Chunk chunk = 0; chunk < run.count; ++chunk) {
        Length length = 0;
        std::memcpy(&length, length_at, sizeof(length));
        length_at += sizeof(length);
        if (length > plan_->limit_) return fail(mismatch_);
        keep(run, chunk, {data, length});
        data += length;
      }
    }
    if (status_ != 0) return fail(status_);
  }
  completed(index);
}

// Runs of equal length on both sides, whose ends need not coincide.
void Aggregation::copy(std::uint32_t index) noexcept {
  const Op op = plan_->program().op(index);
  std::size_t target = 0;
  Chunk done = 0;  // of that run
  for (const Run& run : op.source) {
    for (Chunk chunk = 0; chunk < run.count; ++chunk) {
      while (done == op.target[target].count) {
        ++target;
        done = 0;
      }
      keep(op.target[target], done++, block(run, chunk));
    }
  }
  if (status_ != 0) fail(status_);
}

void Aggregation::started(std::uint32_t op) noexcept {
  const std::int32_t next = plan_->plan_->next_with_peer(op);
  if (next >= 0 && --waits_[static_cast<std::size_t>(next)] == 0) became_ready(static_cast<std::uint32_t>(next));
}

void Aggregation::completed(std::uint32_t op) noexcept {
  if (status_ != 0) return;
  --left_;
  if (const Action action = plan_->program().op(op).action; is_message(action)) {
    const std::size_t direction = action == Action::send ? AggregationPlan::k_sends : AggregationPlan::k_receives;
    --open_[direction].left[plan_->messages_of_[op].stage];
    may_open_ = true;
  }
  for (const std::uint32_t next : plan_->plan_->after_completion(op))
    if (--waits_[next] == 0) became_ready(next);
}

void Aggregation::fail(int code) noexcept {
  status_ = code;
  for (Active& active : actives_) {
    if (active.request == nullptr) continue;
    transport_->abandon(&active.request);
    gave_up_ = true;
  }
  actives_.clear();
  for (Ready* const ready : {&receives_, &others_}) ready->next = ready->ops.size();
  left_ = 0;
}

}  // namespace colltopo
