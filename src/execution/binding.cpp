// What an execution works out once per shape of call: where every message and move lies, what each waits for, and the
// order in which they may start.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "colltopo/execution.h"
#include "execution/straight_line.h"

namespace colltopo {

namespace {

constexpr std::size_t k_alignment = 64;  // bytes, of scratch areas and staged messages
constexpr std::size_t aligned(std::size_t bytes) { return (bytes + k_alignment - 1) / k_alignment * k_alignment; }

bool is_message(Action action) { return action == Action::send || action == Action::recv; }

}  // namespace

bool Execution::bind(const Binding& binding) {
  if (is_bound_ && binding.count == bound_.count && binding.element_size == bound_.element_size &&
      binding.segments == bound_.segments && binding.order == bound_.order && binding.pace == bound_.pace &&
      binding.window == bound_.window && binding.stretch == bound_.stretch &&
      std::ranges::equal(binding.counts, bound_counts_)) {
    return false;
  }
  is_bound_ = false;
  bound_counts_.assign(binding.counts.begin(), binding.counts.end());
  bound_ = binding;
  bound_.counts = bound_counts_;
  segments_ = static_cast<std::uint32_t>(binding.segments);
  place_messages();
  chain_messages();
  count_waits();
  number_stages();
  straighten();
  is_bound_ = true;
  return true;
}

// Slots that follow each other lie next to each other, so that a run of slots is contiguous.
std::size_t Execution::place_slots(int segment, std::size_t base, const Layout& layout) {
  slot_offsets_.clear();
  Chunk previous = -2;
  for (const Chunk slot : plan_.slots()) {
    if (slot != previous + 1) base = aligned(base);
    slot_offsets_.push_back(base);
    base += layout.bytes(slot % plan_.program().shape().classes(), segment);
    previous = slot;
  }
  return aligned(base);
}

void Execution::append_pieces(std::span<const Run> runs, int segment, const Layout& layout) {
  const Rank rank = plan_.program().rank();
  const Shape& shape = plan_.program().shape();
  const std::size_t begin = pieces_.size();
  for (const Run& run : runs) {
    const std::size_t slot = run.buffer == Buffer::scratch ? plan_.slot_index(run.first) : 0;
    for (Chunk i = 0; i < run.count; ++i) {
      const Chunk chunk = run.first + i;
      const std::size_t bytes = layout.bytes(size_class(shape, rank, run.buffer, chunk), segment);
      if (bytes == 0) continue;
      const std::size_t offset = run.buffer == Buffer::input    ? layout.input_offset(rank, chunk, segment)
                                 : run.buffer == Buffer::output ? layout.output_offset(rank, chunk, segment)
                                                                : slot_offsets_[slot + static_cast<std::size_t>(i)];
      Piece* last = pieces_.size() > begin ? &pieces_.back() : nullptr;
      if (last != nullptr && last->buffer == run.buffer && last->offset + last->bytes == offset) {
        last->bytes += bytes;
      } else {
        pieces_.push_back({run.buffer, offset, bytes});
      }
    }
  }
}

void Execution::place_messages() {
  const Program& program = plan_.program();
  const int segments = bound_.segments;
  const Layout layout = bound_counts_.empty() ? Layout(program.shape(), bound_.count, bound_.element_size, segments)
                                              : Layout(program.shape(), bound_counts_, bound_.element_size, segments);
  pieces_.clear();
  instances_.assign(plan_.size() * segments_, {});
  slot_offsets_.reserve(plan_.slots().size());
  std::size_t scratch = 0, staging = 0;
  messages_ = bytes_sent_ = 0;
  for (int segment = 0; segment < segments; ++segment) {
    scratch = place_slots(segment, scratch, layout);
    for (std::uint32_t i = 0; i < plan_.size(); ++i) {
      const Op op = program.op(i);
      Instance& instance = instances_[i * segments_ + static_cast<std::uint32_t>(segment)];
      instance.action = op.action;
      instance.lane = op.lane;
      instance.peer = op.peer;
      instance.op = i;
      instance.segment = static_cast<std::uint32_t>(segment);
      instance.next = instance.behind = k_no_instance;
      instance.staging = k_none;
      instance.source = static_cast<std::uint32_t>(pieces_.size());
      append_pieces(op.source, segment, layout);
      instance.source_end = instance.target = static_cast<std::uint32_t>(pieces_.size());
      append_pieces(op.target, segment, layout);
      instance.target_end = static_cast<std::uint32_t>(pieces_.size());
      const bool receives = op.action == Action::recv;
      const std::uint32_t begin = receives ? instance.target : instance.source;
      const std::uint32_t end = receives ? instance.target_end : instance.source_end;
      for (std::uint32_t p = begin; p < end; ++p) instance.bytes += pieces_[p].bytes;
      if (is_message(op.action) && end - begin > 1) {
        instance.staging = staging;
        staging = aligned(staging + instance.bytes);
      }
      if (op.action == Action::send && instance.bytes > 0) {
        ++messages_;
        bytes_sent_ += instance.bytes;
      }
    }
  }
  scratch_.resize(scratch);
  staging_.resize(staging);
}

// Ops and segments in the order in which those with one peer must start, which is the same at both ends: they give a
// message the same step.
template <class Visit>
void Execution::in_order(const Visit& visit) const {
  const auto ops = static_cast<std::uint32_t>(plan_.size());
  // Step by step, a step's last segment goes before the next step's first.
  if (segments_ == 1 || bound_.order == SegmentOrder::op_by_op || bound_.pace == Pace::steps) {
    for (std::uint32_t op = 0; op < ops; ++op)
      for (std::uint32_t segment = 0; segment < segments_; ++segment) visit(op, segment);
    return;
  }
  const Program& program = plan_.program();
  const auto step = [&](std::uint32_t op) { return static_cast<std::uint32_t>(program.op(op).step); };
  std::uint32_t first = 0, end = 0;  // ops of the slot: they have one of the last `segments_` steps
  for (std::uint32_t slot = 0;; ++slot) {
    while (first < end && step(first) + segments_ <= slot) ++first;
    if (first == ops) return;
    if (first == end) slot = std::max(slot, step(first));
    while (end < ops && step(end) <= slot) {
      assert(end == 0 || step(end - 1) <= step(end));
      ++end;
    }
    for (std::uint32_t op = first; op < end; ++op) visit(op, slot - step(op));
  }
}

// Links every message to the next one with its peer, and over several segments to the one k_window behind. That waiting
// for the completion of an earlier message adds no deadlock: both ends start messages in one order, so the end that
// comes later to a message has come to all before it, and it alone decides when the message completes.
void Execution::chain_messages() {
  const auto ops = static_cast<std::uint32_t>(plan_.size());
  std::vector<std::uint32_t> chain_of(ops, k_no_instance);  // messages with one peer in one direction
  std::uint32_t chains = 0;
  for (std::uint32_t op = 0; op < ops; ++op) {
    if (!is_message(plan_.program().op(op).action)) continue;
    if (chain_of[op] == k_no_instance) chain_of[op] = chains++;
    if (const std::int32_t next = plan_.next_with_peer(op); next >= 0)
      chain_of[static_cast<std::uint32_t>(next)] = chain_of[op];
  }
  std::vector<std::uint32_t> started(chains, 0);                      // [chain] messages
  std::vector<std::uint32_t> latest(std::size_t{chains} * k_window);  // [chain][number of message modulo k_window]
  in_order([&](std::uint32_t op, std::uint32_t segment) {
    const std::uint32_t chain = chain_of[op];
    if (chain == k_no_instance) return;
    const std::uint32_t instance = op * segments_ + segment, number = started[chain]++;
    const auto place = [&](std::uint32_t n) -> std::uint32_t& { return latest[chain * k_window + n % k_window]; };
    if (number > 0) instances_[place(number - 1)].next = instance;
    if (number >= k_window && segments_ > 1) instances_[place(number)].behind = instance;
    place(number) = instance;
  });
}

void Execution::count_waits() {
  const std::size_t count = instances_.size();
  initial_waits_.assign(count, 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t op : plan_.after_completion(instances_[i].op))
      ++initial_waits_[op * segments_ + instances_[i].segment];
    if (instances_[i].next != k_no_instance) ++initial_waits_[instances_[i].next];
    if (instances_[i].behind != k_no_instance) ++initial_waits_[instances_[i].behind];
  }
  first_ready_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    if (initial_waits_[i] == 0) first_ready_.push_back(i);
  }
  waits_.resize(count);
  const auto instances_that = [&](Action action) {
    return static_cast<std::size_t>(std::ranges::count(instances_, action, &Instance::action));
  };
  reductions_.ready.instances.resize(instances_that(Action::reduce));
  copies_.ready.instances.resize(instances_that(Action::copy));
  active_.resize(instances_that(Action::send) + instances_that(Action::recv));
  ready_.instances.resize(active_.size());
}

// k_no_instance: not held back.
std::uint32_t Execution::stage_of(const Instance& instance) const {
  const bool by_steps = bound_.pace == Pace::steps;
  if (bound_.pace == Pace::free || (!by_steps && instance.action != Action::send)) return k_no_instance;
  const Step stage = plan_.program().op(instance.op).step + (by_steps ? 0 : static_cast<Step>(instance.segment));
  return static_cast<std::uint32_t>(std::ranges::lower_bound(stages_, stage) - stages_.begin());
}

// That sends wait for sends of earlier slots adds no deadlock: both ends go through slots in one order, so everything
// in a slot waits for nothing but what is in it and in earlier ones.
void Execution::number_stages() {
  stages_.clear();
  if (bound_.pace == Pace::free) return;
  const Program& program = plan_.program();
  const bool by_steps = bound_.pace == Pace::steps;
  assert(by_steps || bound_.order == SegmentOrder::slot_by_slot);
  ahead_ = by_steps ? 1 : static_cast<std::uint32_t>(std::max(bound_.window, 1));
  for (std::size_t op = 0; op < plan_.size(); ++op) {
    if (!by_steps && program.op(op).action != Action::send) continue;
    for (std::uint32_t segment = 0; segment < (by_steps ? 1 : segments_); ++segment)
      stages_.push_back(program.op(op).step + static_cast<Step>(segment));
  }
  std::ranges::sort(stages_);
  stages_.erase(std::unique(stages_.begin(), stages_.end()), stages_.end());
  stage_sizes_.assign(stages_.size(), 0);
  for (const Instance& instance : instances_)
    if (const std::uint32_t stage = stage_of(instance); stage != k_no_instance) ++stage_sizes_[stage];
  stage_left_.resize(stages_.size());
  held_.resize(stages_.size());
  for (std::size_t s = 0; s < stages_.size(); ++s) held_[s].reserve(stage_sizes_[s]);
}

void Execution::straighten() {
  constexpr std::size_t k_most_ops = 64;  // beyond, starting ops as they can is worth its queues
  line_.reset();
  if (segments_ != 1 || bound_.pace != Pace::free || plan_.size() > k_most_ops) return;
  auto line = std::make_unique<StraightLine>();
  std::vector<std::uint32_t> message_of(plan_.size(), 0), awaited;
  std::uint32_t messages = 0;
  std::size_t moved = 0;  // bytes; the line does not look at messages while it moves them
  const auto place = [&](std::uint32_t first, std::uint32_t end) {
    return first < end ? StraightLine::Place{pieces_[first].buffer, pieces_[first].offset} : StraightLine::Place{};
  };
  for (std::uint32_t op = 0; op < plan_.size(); ++op) {
    const Instance& i = instances_[op];
    const bool one_piece = i.source_end - i.source <= 1 && i.target_end - i.target <= 1;
    if (!one_piece || (i.action == Action::send && !plan_.after_completion(op).empty())) return;
    if (!is_message(i.action) && (moved += i.bytes) > bound_.stretch) return;
    awaited.clear();
    bool after_moves = false;
    for (std::uint32_t before = 0; before < op; ++before) {
      const auto after = plan_.after_completion(before);
      if (std::ranges::find(after, op) == after.end()) continue;
      if (instances_[before].action == Action::recv) {
        awaited.push_back(message_of[before]);
      } else {
        after_moves = true;
      }
    }
    const StraightLine::Before waits_for{awaited, after_moves};
    if (is_message(i.action)) {
      const bool sends = i.action == Action::send;
      line->add_message(i.action, i.peer, i.lane, sends ? place(i.source, i.source_end) : place(i.target, i.target_end),
                        i.bytes, waits_for);
      message_of[op] = messages++;
    } else {
      line->add_move(i.action, place(i.source, i.source_end), place(i.target, i.target_end), i.bytes,
                     i.bytes / bound_.element_size, waits_for);
    }
  }
  line->finish();
  line_ = std::move(line);
}

std::size_t Execution::memory_bytes() const {
  return sizeof(*this) + pieces_.capacity() * sizeof(Piece) + instances_.capacity() * sizeof(Instance) +
         scratch_.capacity() + staging_.capacity() + active_.capacity() * sizeof(Active) +
         (waits_.capacity() + initial_waits_.capacity() + ready_.instances.capacity() + first_ready_.capacity() +
          reductions_.ready.instances.capacity() + copies_.ready.instances.capacity()) *
             4;
}

}  // namespace colltopo
