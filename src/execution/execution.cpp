// The executor: queues of messages and of moves that may start, lists of what is under way, and counters of what each
// op still waits for. What is worked out before a run is in binding.cpp, what runs small plans in line_execution.cpp.

#include "colltopo/execution.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace colltopo {

namespace {

constexpr std::size_t k_most_tested = 16;  // messages in a row that are not there yet, in one look

template <class T>
void grow(std::vector<T>& v, std::size_t size) {
  if (v.size() < size) v.resize(size);
}

}  // namespace

void Execution::prepare(const Bound& of) {
  grow(line_requests_, std::max(of.line_messages_, 1u));
  if (of.is_line_) return;
  const Frame& frame = *of.frame_;
  const std::size_t count = frame.instances_.size();
  const auto instances = [&](Action action) { return frame.actions_[static_cast<std::size_t>(action)]; };
  const std::size_t parts = k_parts_under_way * std::size_t{frame.long_messages_};
  grow(waits_, count);
  grow(receives_.instances, instances(Action::recv));
  grow(sends_.instances, instances(Action::send));
  grow(reductions_.ready.instances, instances(Action::reduce));
  grow(copies_.ready.instances, instances(Action::copy));
  grow(receiving_.all, instances(Action::recv) + parts);
  grow(sending_.all, instances(Action::send) + parts);
  grow(long_messages_, frame.long_messages_);
  grow(stage_left_, frame.stage_sizes_.size());
  grow(stage_held_, frame.stage_sizes_.size());
  if (frame.ahead_ > 0) grow(held_, frame.stage_begin_.back());
}

std::size_t Execution::memory_bytes() const {
  return sizeof(*this) + (receiving_.all.capacity() + sending_.all.capacity()) * sizeof(Active) +
         (waits_.capacity() + receives_.instances.capacity() + sends_.instances.capacity() +
          reductions_.ready.instances.capacity() + copies_.ready.instances.capacity() + stage_left_.capacity() +
          stage_held_.capacity() + held_.capacity()) *
             4 +
         long_messages_.capacity() * sizeof(LongMessage) + line_requests_.capacity() * sizeof(Transport::Request);
}

void Execution::start(const Bound& bound, Transport& transport, std::byte* arena, const Call& call) noexcept {
  set_bases(bound, transport, arena, call);
  gave_up_ = false;
  if (bound.is_line_) return;
  frame_ = bound.frame_.get();
  unit_ = bound.unit_;
  const Frame& frame = *frame_;
  std::ranges::copy(frame.waits_, waits_.begin());
  receives_.clear();
  sends_.clear();
  reductions_.ready.clear();
  copies_.ready.clear();
  reductions_.begun = copies_.begun = false;
  receiving_.count = receiving_.cursor = sending_.count = sending_.cursor = 0;
  sends_under_way_ = 0;
  left_ = frame.instances_.size();
  if (frame.ahead_ > 0) {
    std::ranges::copy(frame.stage_sizes_, stage_left_.begin());
    std::fill_n(stage_held_.begin(), frame.stage_sizes_.size(), 0);
    current_stage_ = 0;
  }
  for (const std::uint32_t instance : frame.first_ready_) make_ready(instance);
}

// Messages first: whatever a move makes ready goes out before the next move. Then a stretch of moves, and the caller
// lets the transport progress.
bool Execution::progress_queues() noexcept {
  std::size_t allowance = bound_->binding_.stretch;
  for (;;) {
    issue_ready();
    const bool reduces = !reductions_.ready.empty(), moves = reduces || !copies_.ready.empty();
    if (moves && allowance > 0) {
      move_on(reduces ? reductions_ : copies_, allowance);
      continue;
    }
    poll(receiving_);
    poll(sending_);
    const bool idle = receives_.empty() && (sends_.empty() || !may_send());
    if (idle && (allowance == 0 || (reductions_.ready.empty() && copies_.ready.empty()))) return left_ == 0;
  }
}

void Execution::make_ready(std::uint32_t instance) noexcept {
  if (frame_->ahead_ > 0) {
    const std::uint32_t stage = frame_->instances_[instance].stage;
    if (stage != Frame::k_no_stage && stage >= current_stage_ + frame_->ahead_) {
      held_[frame_->stage_begin_[stage] + stage_held_[stage]++] = instance;
      return;
    }
  }
  enqueue(instance);
}

void Execution::enqueue(std::uint32_t instance) noexcept {
  switch (frame_->instances_[instance].action) {
    case Action::recv:
      return receives_.push(instance);
    case Action::send:
      return sends_.push(instance);
    case Action::reduce:
      return reductions_.ready.push(instance);
    case Action::copy:
      return copies_.ready.push(instance);
  }
}

void Execution::issue_ready() noexcept {
  for (;;) {
    if (!receives_.empty()) {
      issue(receives_.pop());
    } else if (!sends_.empty() && may_send()) {
      issue(sends_.pop());
    } else {
      return;
    }
  }
}

/// Gathers the next bytes of a message's pieces.
void Execution::collect(Spot& spot, std::byte* staged, std::size_t bytes) noexcept {
  while (bytes > 0) {
    const Piece& piece = frame_->pieces_[spot.piece];
    const std::size_t now = std::min(bytes, piece.bytes * unit_ - spot.offset);
    std::memcpy(staged, at(piece) + spot.offset, now);
    pass(spot, now);
    staged += now;
    bytes -= now;
  }
}

/// Scatters them.
void Execution::spread(Spot& spot, const std::byte* staged, std::size_t bytes) noexcept {
  while (bytes > 0) {
    const Piece& piece = frame_->pieces_[spot.piece];
    const std::size_t now = std::min(bytes, piece.bytes * unit_ - spot.offset);
    std::memcpy(at(piece) + spot.offset, staged, now);
    pass(spot, now);
    staged += now;
    bytes -= now;
  }
}

inline int Execution::transfer(const Instance& instance, std::byte* message, std::size_t bytes,
                               Transport::Request* request) noexcept {
  return instance.action == Action::recv ? transport_->recv(message, bytes, instance.peer, instance.lane, request)
                                         : transport_->send(message, bytes, instance.peer, instance.lane, request);
}

void Execution::issue(std::uint32_t index) noexcept {
  const Instance& instance = frame_->instances_[index];
  const bool sends = instance.action == Action::send;
  if (sends) ++sends_under_way_;
  const std::size_t bytes = instance.bytes * unit_;
  if (bytes == 0) {  // both ends leave it out
    started(instance);
    return completed(index);
  }
  if (instance.parts != Frame::k_no_instance) {
    long_messages_[instance.parts] = {0, 0, 0, {sends ? instance.source : instance.target, 0}};
    return issue_parts(index);
  }
  const bool staged = instance.staging != Frame::k_none;
  std::byte* const message =
      staged ? staged_at(instance) : at(frame_->pieces_[sends ? instance.source : instance.target]);
  if (staged && sends) {
    Spot first{instance.source, 0};
    collect(first, message, bytes);
  }
  Transport::Request request = nullptr;
  if (const int code = transfer(instance, message, bytes, &request); code != 0) return fail(code);
  started(instance);
  if (request != nullptr) return (sends ? sending_ : receiving_).add({index, 0, request});
  arrived({index, 0, nullptr});
}

// As many parts as may be under way. Those of a message that is gathered or scattered have places in turn.
void Execution::issue_parts(std::uint32_t index) noexcept {
  const Instance& instance = frame_->instances_[index];
  LongMessage& message = long_messages_[instance.parts];
  const bool sends = instance.action == Action::send, staged = instance.staging != Frame::k_none;
  const auto parts = static_cast<std::uint32_t>(frame_->parts_of(instance));
  const std::size_t part_bytes = frame_->part_;
  while (message.issued < parts && message.issued - message.done < k_parts_under_way) {
    const std::uint32_t part = message.issued;
    const std::size_t begin = part * part_bytes, bytes = std::min(part_bytes, instance.bytes - begin);
    std::byte* const memory = staged ? staged_at(instance) + part % k_parts_under_way * part_bytes
                                     : at(frame_->pieces_[sends ? instance.source : instance.target]) + begin;
    if (staged && sends) collect(message.spot, memory, bytes);
    Transport::Request request = nullptr;
    if (const int code = transfer(instance, memory, bytes, &request); code != 0) return fail(code);
    if (++message.issued == parts) started(instance);
    if (request != nullptr) {
      (sends ? sending_ : receiving_).add({index, part, request});
      continue;
    }
    message.arrived |= 1u << part % k_parts_under_way;
    arrived_in_turn(instance, message);
  }
  if (message.done == parts) completed(index);
}

void Execution::arrived_in_turn(const Instance& instance, LongMessage& message) noexcept {
  const bool scatters = instance.action == Action::recv && instance.staging != Frame::k_none;
  const std::size_t part_bytes = frame_->part_;
  for (;;) {
    const std::uint32_t turn = message.done % k_parts_under_way;
    if ((message.arrived & 1u << turn) == 0) return;
    message.arrived &= ~(1u << turn);
    const std::size_t bytes = std::min(part_bytes, instance.bytes - message.done * part_bytes);
    if (scatters) spread(message.spot, staged_at(instance) + turn * part_bytes, bytes);
    ++message.done;
  }
}

void Execution::arrived(const Active& active) noexcept {
  const Instance& instance = frame_->instances_[active.instance];
  if (instance.parts != Frame::k_no_instance) {
    LongMessage& message = long_messages_[instance.parts];
    message.arrived |= 1u << active.part % k_parts_under_way;
    arrived_in_turn(instance, message);
    return issue_parts(active.instance);
  }
  if (instance.action == Action::recv && instance.staging != Frame::k_none) {
    Spot first{instance.target, 0};
    spread(first, staged_at(instance), instance.bytes * unit_);
  }
  completed(active.instance);
}

void Execution::started(const Instance& instance) noexcept {
  if (instance.next != Frame::k_no_instance && --waits_[instance.next] == 0) make_ready(instance.next);
}

void Execution::completed(std::uint32_t index) noexcept {
  const Instance& instance = frame_->instances_[index];
  if (instance.action == Action::send) --sends_under_way_;
  --left_;
  if (instance.behind != Frame::k_no_instance && --waits_[instance.behind] == 0) make_ready(instance.behind);
  for (const std::uint32_t op : frame_->plan_->after_completion(instance.op)) {
    const std::uint32_t next = op * frame_->segments_ + instance.segment;
    if (--waits_[next] == 0) make_ready(next);
  }
  if (frame_->ahead_ > 0 && instance.stage != Frame::k_no_stage) open_stages(instance.stage);
}

void Execution::open_stages(std::uint32_t stage) noexcept {
  --stage_left_[stage];
  const std::size_t stages = frame_->stage_sizes_.size();
  while (current_stage_ < stages && stage_left_[current_stage_] == 0) {
    const std::size_t opened = std::size_t{++current_stage_} + frame_->ahead_ - 1;
    if (opened >= stages) continue;
    const std::uint32_t first = frame_->stage_begin_[opened];
    for (std::uint32_t i = first; i < first + stage_held_[opened]; ++i) enqueue(held_[i]);
  }
}

// A look at every message would cost more than what it finds where many are under way: after some that are not there
// yet the next look goes on where this one ended.
void Execution::poll(Actives& actives) noexcept {
  for (std::size_t left = std::min(actives.count, k_most_tested); left > 0 && actives.count > 0;) {
    if (actives.cursor >= actives.count) actives.cursor = 0;
    Active& active = actives.all[actives.cursor];
    if (const int code = transport_->test(&active.request); code != 0) return fail(code);
    if (active.request != nullptr) {
      ++actives.cursor;
      --left;
      continue;
    }
    const Active done = active;
    active = actives.all[--actives.count];
    arrived(done);
  }
}

int Execution::move_bytes(Action action, const std::byte* source, std::byte* target, std::size_t bytes) noexcept {
  if (action == Action::reduce) {
    const std::size_t element_size = bound_->binding_.element_size;
    const std::size_t elements = bytes == element_size ? 1 : bytes / element_size;  // a division shows in small calls
    return call_.reduce(call_.reduce_context, source, target, elements);
  }
  if (source != target) std::memcpy(target, source, bytes);
  return 0;
}

// What can be moved at once from the spots on: contiguous on both sides, and whole elements where that is more than
// allowed.
std::size_t Execution::stretch_of(const Moves& moves, Action action, std::size_t allowance) const noexcept {
  const std::vector<Piece>& pieces = frame_->pieces_;
  const std::size_t bytes = std::min(pieces[moves.source.piece].bytes * unit_ - moves.source.offset,
                                     pieces[moves.target.piece].bytes * unit_ - moves.target.offset);
  if (bytes <= allowance) return bytes;
  if (action == Action::copy) return allowance;
  const std::size_t element_size = bound_->binding_.element_size;
  return std::min(bytes, std::max(element_size, allowance - allowance % element_size));
}

void Execution::pass(Spot& spot, std::size_t bytes) const noexcept {
  if ((spot.offset += bytes) == frame_->pieces_[spot.piece].bytes * unit_) spot = {spot.piece + 1, 0};
}

// Goes on with the first of them by up to `allowance` bytes, which become less. Source pieces are copied or reduced
// onto target pieces, whose ends need not coincide.
void Execution::move_on(Moves& moves, std::size_t& allowance) noexcept {
  const std::uint32_t index = moves.ready.instances[moves.ready.head];
  const Instance& instance = frame_->instances_[index];
  if (!moves.begun) {
    moves.begun = true;
    moves.source = {instance.source, 0};
    moves.target = {instance.target, 0};
  }
  while (moves.source.piece < instance.source_end) {
    if (allowance == 0) return;
    const std::size_t bytes = stretch_of(moves, instance.action, allowance);
    const int code = move_bytes(instance.action, at(frame_->pieces_[moves.source.piece]) + moves.source.offset,
                                at(frame_->pieces_[moves.target.piece]) + moves.target.offset, bytes);
    if (code != 0) return fail(code);
    pass(moves.source, bytes);
    pass(moves.target, bytes);
    allowance -= std::min(allowance, bytes);
  }
  moves.begun = false;
  ++moves.ready.head;
  completed(index);
}

void Execution::fail(int code) noexcept {
  status_ = code;
  for (Actives* actives : {&receiving_, &sending_}) {
    for (std::size_t i = 0; i < actives->count; ++i) {
      if (actives->all[i].request == nullptr) continue;
      transport_->abandon(&actives->all[i].request);
      gave_up_ = true;
    }
    actives->count = 0;
  }
  left_ = 0;
  receives_.clear();
  sends_.clear();
  reductions_.ready.clear();
  copies_.ready.clear();
}

}  // namespace colltopo
