#include "colltopo/aggregation.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "colltopo/arena.h"

namespace colltopo {

namespace {

using Length = std::uint32_t;

}  // namespace

AggregationPlan::AggregationPlan(std::shared_ptr<const Plan> plan, std::size_t limit)
    : plan_(std::move(plan)), limit_(limit), messages_of_(plan_->size()), waits_(plan_->size()) {
  const Program& program = plan_->program();
  assert(program.shape().collective == Collective::alltoall && program.shape().chunks == 1);
  for (std::uint32_t i = 0; i < plan_->size(); ++i) {
    const Op op = program.op(i);
    waits_[i] = plan_->waits(i);
    if (!is_message(op.action)) continue;
    const bool sends = op.action == Action::send;
    const auto blocks = static_cast<std::size_t>(chunks_in(sends ? op.source : op.target));
    messages_of_[i] = {blocks * (limit + sizeof(Length)), arena_bytes_};
    arena_bytes_ += Arena::aligned(messages_of_[i].room);
    messages_ += sends ? 1 : 0;
  }
  for (std::uint32_t i = 0; i < plan_->size(); ++i)
    if (const std::int32_t next = plan_->next_with_peer(i); next >= 0) ++waits_[static_cast<std::size_t>(next)];
  for (std::uint32_t i = 0; i < waits_.size(); ++i)
    if (waits_[i] == 0) first_ready_.push_back(i);
}

std::size_t AggregationPlan::memory_bytes() const {
  return sizeof(*this) + messages_of_.capacity() * sizeof(Message) + (first_ready_.capacity() + waits_.capacity()) * 4;
}

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
  ready_.clear();
  ready_.reserve(waits_.size());
  actives_.clear();
  actives_.reserve(waits_.size());
  left_ = waits_.size();
  sent_.assign(waits_.size(), 0);
  status_ = 0;
  gave_up_ = false;
  for (const std::uint32_t op : plan.first_ready_) became_ready(op);
}

// Ops that may start are few at a time: a search for the best of them costs less than queues.
bool Aggregation::progress() noexcept {
  for (;;) {
    while (!ready_.empty()) {
      const auto order = [&](std::uint32_t op) { return plan_->program().op(op).action != Action::recv; };
      const auto next = std::ranges::min_element(ready_, {}, order);
      const std::uint32_t op = *next;
      ready_.erase(next);
      issue(op);
      if (status_ != 0) return true;
    }
    for (std::size_t i = 0; i < actives_.size();) {
      if (const int code = transport_->test(&actives_[i].request); code != 0) return fail(code), true;
      if (actives_[i].request != nullptr) {
        ++i;
        continue;
      }
      const std::uint32_t op = actives_[i].op;
      actives_.erase(actives_.begin() + static_cast<std::ptrdiff_t>(i));
      arrived(op);
      if (status_ != 0) return true;
    }
    if (ready_.empty()) return left_ == 0;
  }
}

void Aggregation::became_ready(std::uint32_t op) noexcept { ready_.push_back(op); }

std::size_t Aggregation::expected(Chunk shard) const noexcept {
  const std::size_t bytes = shards_.output.bytes[static_cast<std::size_t>(shard)];
  return bytes <= plan_->limit_ ? bytes : 0;
}

Aggregation::Block Aggregation::block(const Run& run, Chunk chunk) const noexcept {
  if (run.buffer == Buffer::scratch) return slots_[static_cast<std::size_t>(run.first + chunk)];
  const auto shard = static_cast<std::size_t>(run.first + chunk);
  if (run.buffer == Buffer::output) return {output_ + shards_.output.at[shard], expected(run.first + chunk)};
  const std::size_t bytes = shards_.input.bytes[shard];
  return {input_ + shards_.input.at[shard], bytes <= plan_->limit_ ? bytes : 0};
}

// A block that has come where it belongs, or has to go on.
void Aggregation::keep(const Run& run, Chunk chunk, const Block& block) noexcept {
  if (run.buffer == Buffer::scratch) {
    slots_[static_cast<std::size_t>(run.first + chunk)] = block;
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
  const AggregationPlan::Message& message = plan_->messages_of_[index];
  Transport::Request request = nullptr;
  const int code = transport_->recv(arena_ + message.at, message.room, op.peer, op.lane, &request);
  if (code != 0) return fail(code);
  started(index);
  if (request != nullptr) return actives_.push_back({index, request});
  arrived(index);
}

void Aggregation::send(std::uint32_t index) noexcept {
  const Op op = plan_->program().op(index);
  std::byte* const message = arena_ + plan_->messages_of_[index].at;
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
    const std::byte* length_at = arena_ + plan_->messages_of_[index].at;
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
  ready_.clear();
  left_ = 0;
}

std::size_t aggregation_limit(double message_s, double byte_s, double copied_byte_s, double hops) {
  constexpr double k_least = 64, k_most = 8192;
  const double added = (hops - 1) * byte_s + 2 * hops * copied_byte_s;  // s for a byte
  return static_cast<std::size_t>(std::clamp(added > 0 ? message_s / added : k_most, k_least, k_most));
}

}  // namespace colltopo
