// A small plan as one line: what queues would find out in every call is found out once.
#include <bit>

#include "colltopo/bound.h"
#include "execution/line.h"

namespace colltopo {

namespace {

constexpr std::uint32_t k_few_sends = 2;  // more than that would meet peers that expect none of them yet
constexpr std::uint64_t bit(std::uint32_t op) { return std::uint64_t{1} << op; }

}  // namespace

LineOps line_ops(const Plan& plan) {
  LineOps ops;
  std::uint32_t sends = 0;
  std::uint64_t late = 0;  // receives behind one from the same peer that cannot be posted first
  for (std::uint32_t op = 0; op < plan.size(); ++op) {
    for (const std::uint32_t after : plan.after_completion(op)) ops.before[after] |= bit(op);
    const Action action = plan.program().op(op).action;
    if (action == Action::send) ++sends;
    if (action == Action::copy || action == Action::reduce) ops.moves |= bit(op);
    if (action != Action::recv) continue;
    ops.receives |= bit(op);
    const bool can_be_first = ops.before[op] == 0 && (late & bit(op)) == 0;
    if (can_be_first) ops.first |= bit(op);
    if (const std::int32_t next = plan.next_with_peer(op); next >= 0 && !can_be_first)
      late |= bit(static_cast<std::uint32_t>(next));
  }
  if (sends <= k_few_sends) ops.first = 0;
  return ops;
}

bool can_be_line(const Plan& plan) {
  if (plan.size() > LineOps::k_most_ops) return false;
  for (std::uint32_t op = 0; op < plan.size(); ++op)
    if (plan.program().op(op).action == Action::send && !plan.after_completion(op).empty()) return false;
  return true;
}

class Line {
 public:
  using Entry = Bound::Entry;

  Line(std::vector<Entry>& entries, std::size_t unit) : entries_(entries), unit_(unit) {}

  void add_message(const Bound::Instance& instance, const Bound::Piece* piece, std::uint64_t receives,
                   bool after_moves) {
    await(receives);
    if (after_moves) add_put_off();
    message_of_[instance.op] = messages_;
    if (piece != nullptr) {
      const auto kind = instance.action == Action::send ? Entry::Kind::send : Entry::Kind::recv;
      const auto buffer = static_cast<std::uint8_t>(piece->buffer);
      entries_.push_back({kind, buffer, buffer, instance.lane, instance.peer, messages_, piece->offset * unit_,
                          piece->offset * unit_, instance.bytes * unit_});
    } else {
      awaited_ |= bit(instance.op);  // both ends leave it out
    }
    ++messages_;
  }
  /// A move is put off until a message needs it or there is something to wait for.
  void add_move(const Bound::Instance& instance, const Bound::Piece* source, const Bound::Piece* target,
                std::size_t element_size, std::uint64_t receives) {
    await(receives);
    if (source == nullptr) return;
    const bool copies = instance.action == Action::copy;
    const std::size_t bytes = instance.bytes * unit_;
    put_off_.push_back({copies ? Entry::Kind::copy : Entry::Kind::reduce, static_cast<std::uint8_t>(source->buffer),
                        static_cast<std::uint8_t>(target->buffer), 0, 0, 0, source->offset * unit_,
                        target->offset * unit_, copies ? bytes : bytes / element_size});
  }
  /// Messages that nothing has waited for are waited for at the end of every run.
  std::uint32_t finish() {
    add_put_off();
    return messages_;
  }

 private:
  void add_put_off() {
    entries_.insert(entries_.end(), put_off_.begin(), put_off_.end());
    put_off_.clear();
  }
  void await(std::uint64_t receives) {
    for (std::uint64_t left = receives & ~awaited_; left != 0; left &= left - 1) {
      const auto op = static_cast<std::uint32_t>(std::countr_zero(left));
      add_put_off();
      awaited_ |= bit(op);
      entries_.push_back({Entry::Kind::wait, 0, 0, 0, 0, message_of_[op], 0, 0, 0});
    }
  }

  std::vector<Entry>& entries_;
  const std::size_t unit_;
  std::vector<Entry> put_off_;
  std::array<std::uint32_t, LineOps::k_most_ops> message_of_{};  // [op]
  std::uint64_t awaited_ = 0;                                    // ops
  std::uint32_t messages_ = 0;
};

void Bound::straighten() {
  const Frame& frame = *frame_;
  const Plan& plan = *frame.plan_;
  if (frame.segments_ != 1 || frame.ahead_ > 0 || frame.sends_under_way_ > 0 || frame.long_messages_ > 0 ||
      !can_be_line(plan))
    return;
  const LineOps ops = line_ops(plan);
  std::size_t moved = 0;  // bytes; the line does not look at messages while it moves them
  for (const Instance& i : frame.instances_) {
    const bool one_piece = i.source_end - i.source <= 1 && i.target_end - i.target <= 1;
    if (!one_piece) return;
    if ((ops.moves & bit(i.op)) != 0 && (moved += i.bytes * unit_) > binding_.stretch) return;
  }
  Line line(line_, unit_);
  const auto piece = [&](std::uint32_t first, std::uint32_t end) {
    return first < end ? &frame.pieces_[first] : nullptr;
  };
  const auto add = [&](std::uint32_t op) {
    const Instance& i = frame.instances_[op];
    const std::uint64_t receives = ops.before[op] & ops.receives;
    const bool after_moves = (ops.before[op] & ops.moves) != 0;
    const Piece* const source = piece(i.source, i.source_end);
    const Piece* const target = piece(i.target, i.target_end);
    if ((ops.moves & bit(op)) != 0)
      line.add_move(i, source, target, binding_.element_size, receives);
    else
      line.add_message(i, i.action == Action::send ? source : target, receives, after_moves);
  };
  for (std::uint64_t left = ops.first; left != 0; left &= left - 1)
    add(static_cast<std::uint32_t>(std::countr_zero(left)));
  for (std::uint32_t op = 0; op < plan.size(); ++op) {
    if ((ops.first & bit(op)) == 0) add(op);
  }
  line_messages_ = line.finish();
  is_line_ = true;
}

}  // namespace colltopo
