// The executor: queues of messages and of moves that may start, a list of what is under way, and counters of what each
// op still waits for. What is worked out before a run is in binding.cpp.

#include "colltopo/execution.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "execution/straight_line.h"

namespace colltopo {

namespace {

bool is_message(Action action) { return action == Action::send || action == Action::recv; }

}  // namespace

Execution::Execution(const Plan& plan, Transport& transport) : plan_(plan), transport_(transport) {}
Execution::~Execution() = default;

void Execution::set_bases(const Call& call) noexcept {
  call_ = call;
  // Sources are read through the same pointers; only output and scratch are ever written.
  bases_[static_cast<std::size_t>(Buffer::input)] = const_cast<std::byte*>(call.input);
  bases_[static_cast<std::size_t>(Buffer::output)] = call.output;
  bases_[static_cast<std::size_t>(Buffer::scratch)] = scratch_.data();
}

void Execution::start(const Call& call) noexcept {
  set_bases(call);
  status_ = 0;
  std::ranges::copy(initial_waits_, waits_.begin());
  ready_.clear();
  reductions_.ready.clear();
  copies_.ready.clear();
  reductions_.begun = copies_.begun = false;
  actives_ = 0;
  left_ = instances_.size();
  if (bound_.pace != Pace::free) {
    std::ranges::copy(stage_sizes_, stage_left_.begin());
    for (auto& held : held_) held.clear();
    current_stage_ = 0;
  }
  for (const std::uint32_t instance : first_ready_) make_ready(instance);
}

// Messages first: whatever a move makes ready goes out before the next move. Then a stretch of moves, and the caller
// lets the transport progress.
bool Execution::progress() noexcept {
  std::size_t allowance = bound_.stretch;
  for (;;) {
    while (!ready_.empty()) issue(ready_.instances[ready_.head++]);
    const bool reduces = !reductions_.ready.empty(), moves = reduces || !copies_.ready.empty();
    if (moves && allowance > 0) {
      move_on(reduces ? reductions_ : copies_, allowance);
      continue;
    }
    poll();
    if (ready_.empty() && (allowance == 0 || (reductions_.ready.empty() && copies_.ready.empty()))) return left_ == 0;
  }
}

int Execution::run(const Call& call) noexcept {
  if (line_ != nullptr) return status_ = line_->run(transport_, scratch_.data(), call);
  return run_queues(call);
}

int Execution::run_queues(const Call& call) noexcept {
  start(call);
  while (!progress()) transport_.progress();
  return status_;
}

std::byte* Execution::message_of(const Instance& instance) noexcept {
  if (instance.staging != k_none) return staging_.data() + instance.staging;
  return at(pieces_[instance.action == Action::send ? instance.source : instance.target]);
}

void Execution::make_ready(std::uint32_t instance) noexcept {
  if (bound_.pace != Pace::free) {
    const std::uint32_t stage = stage_of(instances_[instance]);
    if (stage != k_no_instance && stage >= current_stage_ + ahead_) {
      held_[stage].push_back(instance);  // reserved by number_stages()
      return;
    }
  }
  enqueue(instance);
}

void Execution::enqueue(std::uint32_t instance) noexcept {
  const Action action = instances_[instance].action;
  if (is_message(action)) {
    ready_.push(instance);
  } else {
    (action == Action::reduce ? reductions_ : copies_).ready.push(instance);
  }
}

// Starts a message; pieces that lie apart are gathered first.
int Execution::transfer(const Instance& instance, Transport::Request* request) noexcept {
  if (instance.bytes == 0) return 0;  // both ends leave it out
  std::byte* const message = message_of(instance);
  if (instance.action == Action::recv) {
    return transport_.recv(message, instance.bytes, instance.peer, instance.lane, request);
  }
  if (instance.staging != k_none) {
    std::byte* next = message;
    for (std::uint32_t p = instance.source; p < instance.source_end; ++p) {
      std::memcpy(next, at(pieces_[p]), pieces_[p].bytes);
      next += pieces_[p].bytes;
    }
  }
  return transport_.send(message, instance.bytes, instance.peer, instance.lane, request);
}

void Execution::scatter(const Instance& instance) noexcept {
  if (instance.staging == k_none) return;
  const std::byte* next = staging_.data() + instance.staging;
  for (std::uint32_t p = instance.target; p < instance.target_end; ++p) {
    std::memcpy(at(pieces_[p]), next, pieces_[p].bytes);
    next += pieces_[p].bytes;
  }
}

void Execution::issue(std::uint32_t index) noexcept {
  const Instance& instance = instances_[index];
  Transport::Request request = nullptr;
  if (const int code = transfer(instance, &request); code != 0) return fail(code);
  started(instance);
  if (request != nullptr) {
    active_[actives_++] = {index, request};
  } else {
    completed(index);
  }
}

void Execution::started(const Instance& instance) noexcept {
  if (instance.next != k_no_instance && --waits_[instance.next] == 0) make_ready(instance.next);
}

void Execution::completed(std::uint32_t index) noexcept {
  const Instance& instance = instances_[index];
  if (instance.action == Action::recv) scatter(instance);
  --left_;
  if (instance.behind != k_no_instance && --waits_[instance.behind] == 0) make_ready(instance.behind);
  for (const std::uint32_t op : plan_.after_completion(instance.op)) {
    const std::uint32_t next = op * segments_ + instance.segment;
    if (--waits_[next] == 0) make_ready(next);
  }
  if (bound_.pace == Pace::free) return;
  const std::uint32_t stage = stage_of(instance);
  if (stage == k_no_instance) return;
  --stage_left_[stage];
  while (current_stage_ < stage_left_.size() && stage_left_[current_stage_] == 0) {
    const std::size_t opened = std::size_t{++current_stage_} + ahead_ - 1;
    if (opened >= stage_left_.size()) continue;
    for (const std::uint32_t held : held_[opened]) enqueue(held);
  }
}

void Execution::poll() noexcept {
  for (std::size_t i = 0; i < actives_;) {
    Active& active = active_[i];
    if (const int code = transport_.test(&active.request); code != 0) return fail(code);
    if (active.request != nullptr) {
      ++i;
      continue;
    }
    const std::uint32_t instance = active.instance;
    active = active_[--actives_];
    completed(instance);
  }
}

int Execution::move_bytes(Action action, const std::byte* source, std::byte* target, std::size_t bytes) noexcept {
  if (action == Action::reduce) {
    const std::size_t elements =
        bytes == bound_.element_size ? 1 : bytes / bound_.element_size;  // a division shows in small calls
    return call_.reduce(call_.reduce_context, source, target, elements);
  }
  if (source != target) std::memcpy(target, source, bytes);
  return 0;
}

// What can be moved at once from the spots on: contiguous on both sides, and whole elements where that is more than
// allowed.
std::size_t Execution::stretch_of(const Moves& moves, Action action, std::size_t allowance) const noexcept {
  const std::size_t bytes = std::min(pieces_[moves.source.piece].bytes - moves.source.offset,
                                     pieces_[moves.target.piece].bytes - moves.target.offset);
  if (bytes <= allowance) return bytes;
  if (action == Action::copy) return allowance;
  return std::min(bytes, std::max(bound_.element_size, allowance - allowance % bound_.element_size));
}

void Execution::pass(Spot& spot, std::size_t bytes) const noexcept {
  if ((spot.offset += bytes) == pieces_[spot.piece].bytes) spot = {spot.piece + 1, 0};
}

// Goes on with the first of them by up to `allowance` bytes, which become less. Source pieces are copied or reduced
// onto target pieces, whose ends need not coincide.
void Execution::move_on(Moves& moves, std::size_t& allowance) noexcept {
  const std::uint32_t index = moves.ready.instances[moves.ready.head];
  const Instance& instance = instances_[index];
  if (!moves.begun) {
    moves.begun = true;
    moves.source = {instance.source, 0};
    moves.target = {instance.target, 0};
  }
  while (moves.source.piece < instance.source_end) {
    if (allowance == 0) return;
    const std::size_t bytes = stretch_of(moves, instance.action, allowance);
    const int code = move_bytes(instance.action, at(pieces_[moves.source.piece]) + moves.source.offset,
                                at(pieces_[moves.target.piece]) + moves.target.offset, bytes);
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
  for (std::size_t i = 0; i < actives_; ++i) {
    if (active_[i].request != nullptr) transport_.abandon(&active_[i].request);
  }
  actives_ = left_ = 0;
  ready_.clear();
  reductions_.ready.clear();
  copies_.ready.clear();
}

}  // namespace colltopo
