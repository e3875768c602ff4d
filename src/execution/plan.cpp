// Hazards per chunk become dependencies between ops.

#include "colltopo/plan.h"

#include <algorithm>
#include <unordered_map>

#include "schedule/cells.h"

namespace colltopo {

namespace {

// Collects, for each op, the earlier ops that it must wait for.
class Hazards {
 public:
  explicit Hazards(const Program& program, bool in_place)
      : program_(program),
        in_place_(in_place),
        cells_(program.shape(), program.rank(), program.scratch(), in_place),
        writer_(cells_.size(), k_none),
        first_reader_(cells_.size(), k_none),
        seen_(program.size(), k_none) {}

  // (before, after) pairs in order of `after`.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges() {
    for (std::uint32_t i = 0; i < program_.size(); ++i) {
      const Op op = program_.op(i);
      for (const Run& run : op.source) read(i, run);
      if (op.action == Action::reduce) {
        for (const Run& run : op.target) read(i, run);
      }
      for (const Run& run : op.target) write(i, run);
    }
    return std::move(edges_);
  }

 private:
  static constexpr std::uint32_t k_none = ~std::uint32_t{0};
  struct Reader {
    std::uint32_t op, next;
  };

  void wait(std::uint32_t after, std::uint32_t before) {
    if (before == k_none || before == after || seen_[before] == after) return;
    seen_[before] = after;
    edges_.emplace_back(before, after);
  }
  void read(std::uint32_t op, const Run& run) {
    if (run.buffer == Buffer::input && !in_place_) return;  // nobody writes there
    const std::size_t first = cells_.at(run.buffer, run.first);
    for (std::size_t cell = first; cell < first + static_cast<std::size_t>(run.count); ++cell) {
      wait(op, writer_[cell]);
      readers_.push_back({op, first_reader_[cell]});
      first_reader_[cell] = static_cast<std::uint32_t>(readers_.size() - 1);
    }
  }
  void write(std::uint32_t op, const Run& run) {
    const std::size_t first = cells_.at(run.buffer, run.first);
    for (std::size_t cell = first; cell < first + static_cast<std::size_t>(run.count); ++cell) {
      wait(op, writer_[cell]);
      for (std::uint32_t r = first_reader_[cell]; r != k_none; r = readers_[r].next) wait(op, readers_[r].op);
      first_reader_[cell] = k_none;
      writer_[cell] = op;
    }
  }

  const Program& program_;
  const bool in_place_;
  Cells cells_;
  std::vector<std::uint32_t> writer_, first_reader_;  // [cell]
  std::vector<Reader> readers_;                       // lists of readers since the last write
  std::vector<std::uint32_t> seen_;                   // [op] the last op found to wait for it
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
};

std::vector<Chunk> slots_used(const Program& program) {
  std::vector<bool> used(static_cast<std::size_t>(program.scratch()), false);
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    for (const auto runs : {op.source, op.target}) {
      for (const Run& run : runs) {
        if (run.buffer == Buffer::scratch) std::fill_n(used.begin() + run.first, run.count, true);
      }
    }
  }
  std::vector<Chunk> slots;
  for (std::size_t slot = 0; slot < used.size(); ++slot) {
    if (used[slot]) slots.push_back(static_cast<Chunk>(slot));
  }
  return slots;
}

}  // namespace

Plan::Plan(Program program, PlanOptions options)
    : program_(std::move(program)),
      options_(options),
      next_with_peer_(program_.size(), -1),
      slots_(slots_used(program_)) {
  const auto edges = Hazards(program_, options_.in_place).edges();
  first_successor_.assign(size() + 1, 0);
  for (const auto& [before, after] : edges) {
    ++first_successor_[before + 1];
  }
  for (std::size_t i = 0; i < size(); ++i) first_successor_[i + 1] += first_successor_[i];
  successors_.resize(edges.size());
  std::vector<std::uint32_t> next(first_successor_.begin(), first_successor_.end() - 1);
  for (const auto& [before, after] : edges) successors_[next[before]++] = after;

  std::unordered_map<std::int64_t, std::uint32_t> last;  // (peer, direction) -> op
  for (std::uint32_t i = 0; i < size(); ++i) {
    const Op op = program_.op(i);
    if (op.action != Action::send && op.action != Action::recv) continue;
    const std::int64_t key = 2 * std::int64_t{op.peer} + (op.action == Action::send ? 0 : 1);
    if (const auto [found, inserted] = last.try_emplace(key, i); !inserted) {
      next_with_peer_[found->second] = static_cast<std::int32_t>(i);
      found->second = i;
    }
  }
}

std::size_t Plan::slot_index(Chunk slot) const {
  return static_cast<std::size_t>(std::lower_bound(slots_.begin(), slots_.end(), slot) - slots_.begin());
}

std::size_t Plan::memory_bytes() const {
  std::size_t runs = 0;
  for (std::size_t i = 0; i < size(); ++i) runs += program_.op(i).source.size() + program_.op(i).target.size();
  return sizeof(*this) + size() * 32 + runs * sizeof(Run) +
         (successors_.capacity() + first_successor_.capacity() + next_with_peer_.capacity()) * 4 +
         slots_.capacity() * sizeof(Chunk);
}

}  // namespace colltopo
