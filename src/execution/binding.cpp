// What is worked out once per shape of call: where every message and move lies, what each waits for, and the order in
// which they may start.
#include <algorithm>
#include <cassert>

#include "colltopo/bound.h"

namespace colltopo {

namespace {

Layout layout_of(const Shape& shape, const Binding& binding) {
  if (binding.shards.given) return {shape, binding.shards, binding.segments};
  return binding.counts.empty() ? Layout(shape, binding.count, binding.element_size, binding.segments)
                                : Layout(shape, binding.counts, binding.element_size, binding.segments);
}

}  // namespace

Frame::Frame(std::shared_ptr<const Plan> plan, const Binding& binding, bool in_chunks)
    : plan_(std::move(plan)),
      in_chunks_(in_chunks),
      segments_(static_cast<std::uint32_t>(binding.segments)),
      order_(binding.order),
      pace_(binding.pace),
      window_(binding.window),
      independent_(binding.independent),
      part_(binding.part) {
  if (in_chunks) {  // of a byte each
    const auto chunks = static_cast<std::size_t>(plan_->program().shape().parts());
    place_messages({.count = chunks, .element_size = 1});
  } else {
    place_messages(binding);
  }
  hold_back(binding);
  place_staging();
  chain_messages();
  count_waits();
}

std::size_t Frame::uniform_unit(const Plan& plan, const Binding& binding) {
  const auto parts = static_cast<std::size_t>(plan.program().shape().parts());
  if (binding.segments != 1 || !binding.counts.empty() || binding.shards.given || binding.count % parts != 0) return 0;
  const std::size_t unit = binding.count / parts * binding.element_size;
  return static_cast<std::size_t>(plan.longest_message()) * unit <= binding.part ? unit : 0;
}

bool Frame::suits(const Binding& binding) const {
  return in_chunks_ && order_ == binding.order && pace_ == binding.pace && window_ == binding.window &&
         independent_ == binding.independent;
}

void Frame::append_pieces(std::span<const PlacedRun> stretches, const Slice& slice, std::size_t scratch) {
  const Rank rank = plan_->program().rank();
  const std::size_t begin = pieces_.size();
  const auto append = [&](Buffer buffer, std::size_t offset, std::size_t bytes) {
    Piece* const last = pieces_.size() > begin ? &pieces_.back() : nullptr;
    if (last != nullptr && last->buffer == buffer && last->offset + last->bytes == offset)
      last->bytes += bytes;
    else
      pieces_.push_back({buffer, offset, bytes});
  };
  for (const PlacedRun& stretch : stretches) {
    if (stretch.buffer != Buffer::scratch) {
      slice.for_each_part(rank, {stretch.buffer, stretch.first, stretch.count},
                          [&](std::size_t offset, std::size_t bytes) { append(stretch.buffer, offset, bytes); });
      continue;
    }
    const std::size_t first = slice.slot_offset(stretch.first);
    const std::size_t bytes = slice.slot_offset(stretch.first + stretch.count) - first;
    const std::size_t origin = stretch.origin == stretch.first ? first : slice.slot_offset(stretch.origin);
    if (bytes == 0) continue;
    if (plan_->options().compact)
      append(Buffer::scratch, scratch + static_cast<std::size_t>(stretch.unit) * slice.unit_bytes() + first - origin,
             bytes);
    else
      append(Buffer::scratch, scratch + first, bytes);
  }
}

void Frame::place_segment(std::uint32_t segment, const Slice& slice, std::size_t scratch) {
  const Program& program = plan_->program();
  for (std::uint32_t i = 0; i < plan_->size(); ++i) {
    const Op op = program.op(i);
    Instance& instance = instances_[i * segments_ + segment];
    instance.action = op.action;
    instance.lane = op.lane;
    instance.peer = op.peer;
    instance.op = i;
    instance.segment = segment;
    instance.next = instance.behind = instance.parts = k_no_instance;
    instance.stage = k_no_stage;
    instance.staging = k_none;
    instance.padding = 0;
    instance.source = static_cast<std::uint32_t>(pieces_.size());
    append_pieces(plan_->source(i), slice, scratch);
    instance.source_end = instance.target = static_cast<std::uint32_t>(pieces_.size());
    append_pieces(plan_->target(i), slice, scratch);
    instance.target_end = static_cast<std::uint32_t>(pieces_.size());
    const bool receives = op.action == Action::recv;
    const std::uint32_t begin = receives ? instance.target : instance.source;
    const std::uint32_t end = receives ? instance.target_end : instance.source_end;
    instance.bytes = 0;
    for (std::uint32_t p = begin; p < end; ++p) instance.bytes += pieces_[p].bytes;
    ++actions_[static_cast<std::size_t>(op.action)];
    if (!is_message(op.action)) continue;
    if (end - begin > 1) instance.staging = 0;  // place_staging() says where
    if (!in_chunks_ && instance.bytes > part_) instance.parts = long_messages_++;
    if (op.action == Action::send && instance.bytes > 0) {
      messages_ += parts_of(instance);
      bytes_sent_ += instance.bytes;
    }
  }
}

void Frame::place_messages(const Binding& binding) {
  const Layout layout = layout_of(plan_->program().shape(), binding);
  instances_.resize(plan_->size() * segments_);
  pieces_.reserve(instances_.size());
  for (std::uint32_t segment = 0; segment < segments_; ++segment) {
    const Slice slice(layout, static_cast<int>(segment), plan_->scratch() > 0);
    place_segment(segment, slice, scratch_bytes_);
    if (plan_->scratch() == 0) continue;
    const std::size_t bytes = plan_->options().compact ? static_cast<std::size_t>(plan_->scratch()) * slice.unit_bytes()
                                                       : slice.slot_offset(plan_->scratch());
    scratch_bytes_ = in_chunks_ ? bytes : Arena::aligned(scratch_bytes_ + bytes);
  }
}

// What is held back has stages, of which `ahead_` are open at a time: steps, or slots of a pipeline. Waiting for
// earlier stages closes no cycle (liveness.h).
void Frame::hold_back(const Binding& binding) {
  const auto staged = [](const Instance& i) { return i.staging != k_none; };
  if (binding.pace == Pace::steps) {
    ahead_ = 1;
    number_stages(true, true);
  } else if (plan_->options().compact && std::ranges::any_of(instances_, staged)) {
    ahead_ = 2;  // as many as there are places for staged messages
    number_stages(false, true);
  } else if (binding.window > 0 && actions_[static_cast<std::size_t>(Action::send)] > binding.window) {
    if (binding.independent) {
      sends_under_way_ = binding.window;
    } else if (plan_->in_order()) {
      number_stages(false, false);
      const std::uint32_t most = *std::ranges::max_element(stage_sizes_);
      ahead_ = std::max(1u, binding.window / most);
    }
  }
}

/// `whole_steps`: all ops and all segments of a step are one stage; otherwise messages, by slot where segments follow
/// each other so. `receives`: they are held back as well as sends.
void Frame::number_stages(bool whole_steps, bool receives) {
  const Program& program = plan_->program();
  const bool slots = !whole_steps && segments_ > 1 && order_ == SegmentOrder::slot_by_slot;
  const auto has_stage = [&](const Instance& i) {
    return whole_steps || i.action == Action::send || (receives && i.action == Action::recv);
  };
  std::vector<std::uint32_t> stages;
  for (Instance& i : instances_) {
    if (!has_stage(i)) continue;
    i.stage = static_cast<std::uint32_t>(program.op(i.op).step) + (slots ? i.segment : 0);
    stages.push_back(i.stage);
  }
  std::ranges::sort(stages);
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  stage_sizes_.assign(stages.size(), 0);
  for (Instance& i : instances_) {
    if (!has_stage(i)) continue;
    i.stage = static_cast<std::uint32_t>(std::ranges::lower_bound(stages, i.stage) - stages.begin());
    ++stage_sizes_[i.stage];
  }
  stage_begin_.assign(1, 0);
  for (const std::uint32_t size : stage_sizes_) stage_begin_.push_back(stage_begin_.back() + size);
}

// Messages that are gathered or scattered have memory of their own, or, in a compact plan, share it with those two
// stages before.
void Frame::place_staging() {
  struct Used {
    std::size_t bytes = 0;
    std::uint32_t padding = 0;
  };
  const bool shared = plan_->options().compact && ahead_ > 0;
  std::vector<Used> used(shared ? stage_sizes_.size() : 1);
  Used most[2];
  for (Instance& i : instances_) {
    if (i.staging == k_none) continue;
    Used& before = used[shared ? i.stage : 0];
    i.staging = before.bytes;
    i.padding = before.padding;
    if (in_chunks_) {  // what a chunk will be is not known: each message may begin up to an alignment later
      before.bytes += i.bytes;
      ++before.padding;
    } else {
      before.bytes = Arena::aligned(before.bytes + std::min(i.bytes, part_ * k_parts_under_way));
    }
    Used& bank = most[shared ? i.stage % 2 : 0];
    bank = {std::max(bank.bytes, before.bytes), std::max(bank.padding, before.padding)};
  }
  for (Instance& i : instances_) {
    if (i.staging == k_none || !shared || i.stage % 2 == 0) continue;
    i.staging += most[0].bytes;
    i.padding += most[0].padding;
  }
  staging_bytes_ = most[0].bytes + most[1].bytes;
  staging_padding_ = most[0].padding + most[1].padding;
}

// Ops and segments in the order in which those with one peer must start, which is the same at both ends: they give a
// message the same step.
template <class Visit>
void Frame::in_order(const Visit& visit) const {
  const auto ops = static_cast<std::uint32_t>(plan_->size());
  // Step by step, a step's last segment goes before the next step's first.
  if (order_ == SegmentOrder::op_by_op || pace_ == Pace::steps) {
    for (std::uint32_t op = 0; op < ops; ++op)
      for (std::uint32_t segment = 0; segment < segments_; ++segment) visit(op, segment);
    return;
  }
  const Program& program = plan_->program();
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

// Links every message to the next one with its peer, and over several segments to the one k_window_of_peer behind. That
// waiting for the completion of an earlier message adds no deadlock: both ends start messages in one order, so the end
// that comes later to a message has come to all before it, and it alone decides when the message completes.
void Frame::chain_messages() {
  const auto ops = static_cast<std::uint32_t>(plan_->size());
  if (segments_ == 1) {
    for (std::uint32_t op = 0; op < ops; ++op) {
      if (const std::int32_t next = plan_->next_with_peer(op); next >= 0)
        instances_[op].next = static_cast<std::uint32_t>(next);
    }
    return;
  }
  std::vector<std::uint32_t> chain_of(ops, k_no_instance);  // messages with one peer in one direction
  std::uint32_t chains = 0;
  for (std::uint32_t op = 0; op < ops; ++op) {
    if (!is_message(plan_->program().op(op).action)) continue;
    if (chain_of[op] == k_no_instance) chain_of[op] = chains++;
    if (const std::int32_t next = plan_->next_with_peer(op); next >= 0)
      chain_of[static_cast<std::uint32_t>(next)] = chain_of[op];
  }
  std::vector<std::uint32_t> started(chains, 0);  // [chain] messages
  // [chain][number of message modulo k_window_of_peer]
  std::vector<std::uint32_t> latest(std::size_t{chains} * k_window_of_peer);
  in_order([&](std::uint32_t op, std::uint32_t segment) {
    const std::uint32_t chain = chain_of[op];
    if (chain == k_no_instance) return;
    const std::uint32_t instance = op * segments_ + segment, number = started[chain]++;
    const auto place = [&](std::uint32_t n) -> std::uint32_t& {
      return latest[chain * k_window_of_peer + n % k_window_of_peer];
    };
    if (number > 0) instances_[place(number - 1)].next = instance;
    if (number >= k_window_of_peer) instances_[place(number)].behind = instance;
    place(number) = instance;
  });
}

void Frame::count_waits() {
  waits_.resize(instances_.size());
  for (std::uint32_t i = 0; i < waits_.size(); ++i) waits_[i] = plan_->waits(instances_[i].op);
  for (const Instance& i : instances_) {
    if (i.next != k_no_instance) ++waits_[i.next];
    if (i.behind != k_no_instance) ++waits_[i.behind];
  }
  for (std::uint32_t i = 0; i < waits_.size(); ++i) {
    if (waits_[i] == 0) first_ready_.push_back(i);
  }
}

std::size_t Frame::memory_bytes() const {
  return sizeof(*this) + pieces_.capacity() * sizeof(Piece) + instances_.capacity() * sizeof(Instance) +
         (waits_.capacity() + first_ready_.capacity() + stage_sizes_.capacity() + stage_begin_.capacity()) * 4;
}

Bound::Bound(std::shared_ptr<const Plan> plan, const Binding& binding)
    : Bound(std::make_shared<const Frame>(std::move(plan), binding, false), binding) {}

Bound::Bound(std::shared_ptr<const Frame> frame, const Binding& binding)
    : frame_(std::move(frame)),
      binding_(binding),
      unit_(frame_->in_chunks_ ? Frame::uniform_unit(*frame_->plan_, binding) : 1) {
  keep_counts();
  scratch_bytes_ = Arena::aligned(frame_->scratch_bytes_ * unit_);

  arena_bytes_ = staging_offset(frame_->staging_bytes_, frame_->staging_padding_);
  straighten();
}

// The caller's may change.
void Bound::keep_counts() {
  UnevenShards& shards = binding_.shards;
  const std::array<std::span<const std::size_t>*, 5> all = {&binding_.counts, &shards.input.bytes, &shards.input.at,
                                                            &shards.output.bytes, &shards.output.at};
  std::size_t numbers = 0;
  for (const auto* span : all) numbers += span->size();
  counts_.reserve(numbers);
  for (auto* span : all) {
    const std::size_t begin = counts_.size();
    counts_.insert(counts_.end(), span->begin(), span->end());
    *span = std::span(counts_).subspan(begin);
  }
}

bool Bound::is_for(const Binding& b) const {
  const auto same = [](const Blocks& x, const Blocks& y) {
    return std::ranges::equal(x.bytes, y.bytes) && std::ranges::equal(x.at, y.at);
  };
  const UnevenShards &shards = b.shards, &own = binding_.shards;
  return b.count == binding_.count && b.element_size == binding_.element_size && b.segments == binding_.segments &&
         b.order == binding_.order && b.pace == binding_.pace && b.window == binding_.window &&
         b.independent == binding_.independent && b.stretch == binding_.stretch && b.part == binding_.part &&
         std::ranges::equal(b.counts, binding_.counts) && shards.given == own.given && shards.own == own.own &&
         shards.whole_below == own.whole_below && same(shards.input, own.input) && same(shards.output, own.output);
}

std::size_t Bound::memory_bytes() const {
  return sizeof(*this) + line_.capacity() * sizeof(Entry) + counts_.capacity() * sizeof(std::size_t) +
         (frame_->in_chunks_ ? 0 : frame_->memory_bytes());
}

std::size_t Plans::natural_bytes(const Binding& binding) const {
  const Layout layout = layout_of(program_->shape(), binding);
  std::size_t bytes = 0, unit = 0;
  for (int segment = 0; segment < binding.segments; ++segment) {
    const Slice slice(layout, segment, true);
    bytes += natural_->scratch() == 0 ? 0 : slice.slot_offset(natural_->scratch());
    unit += slice.unit_bytes();
  }
  return bytes + static_cast<std::size_t>(natural_->staged_chunks()) * unit;
}

const Plan& Plans::natural() {
  if (natural_ == nullptr) natural_ = std::make_shared<const Plan>(program_, PlanOptions{in_place_, false});
  return *natural_;
}

std::shared_ptr<const Bound> Plans::bind(const Binding& binding) {
  const bool reuses = natural().scratch() > 0 || natural().staged_chunks() > 0;
  const bool compact = reuses && in_order_ && natural().in_order() && natural_bytes(binding) > k_natural_bytes;
  if (compact && compact_ == nullptr) compact_ = std::make_shared<const Plan>(program_, PlanOptions{in_place_, true});
  const auto& plan = compact ? compact_ : natural_;
  if (Frame::uniform_unit(*plan, binding) == 0) return std::make_shared<const Bound>(plan, binding);
  auto& frame = compact ? compact_frame_ : natural_frame_;
  if (frame == nullptr || !frame->suits(binding)) frame = std::make_shared<const Frame>(plan, binding, true);
  return std::make_shared<const Bound>(frame, binding);
}

std::size_t Plans::memory_bytes() const {
  std::size_t bytes = sizeof(*this);
  for (const auto& plan : {natural_, compact_})
    if (plan != nullptr) bytes += plan->memory_bytes();
  for (const auto& frame : {natural_frame_, compact_frame_})
    if (frame != nullptr) bytes += frame->memory_bytes();
  return bytes;
}

}  // namespace colltopo
