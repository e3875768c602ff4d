// Hazards per chunk become dependencies between ops.

#include "colltopo/plan.h"

#include <algorithm>
#include <unordered_map>

#include "execution/liveness.h"
#include "schedule/cells.h"

namespace colltopo {

namespace {

// Collects, for each op, the earlier ops that it must wait for. Chunks that all ops touch together count as one cell,
// so what a program costs is its runs and not their lengths.
class Hazards {
 public:
  struct Edge {
    std::uint32_t before, after;
  };

  explicit Hazards(const Plan& plan)
      : plan_(plan),
        in_place_(plan.options().in_place),
        chunks_(plan.program().shape(), plan.program().rank(), plan.scratch(), in_place_),
        seen_(plan.size(), k_none) {
    number_cells();
  }

  // In order of `after`.
  std::vector<Edge> edges() {
    for (std::uint32_t i = 0; i < plan_.size(); ++i) {
      const bool reduces = plan_.program().op(i).action == Action::reduce;
      for (const PlacedRun& run : plan_.source(i)) read(i, run);
      for (const PlacedRun& run : plan_.target(i)) {
        if (reduces) read(i, run);
      }
      for (const PlacedRun& run : plan_.target(i)) write(i, run);
    }
    return std::move(edges_);
  }

 private:
  static constexpr std::uint32_t k_none = ~std::uint32_t{0};
  struct Reader {
    std::uint32_t op, next;
  };

  bool is_constant(const PlacedRun& run) const { return run.buffer == Buffer::input && !in_place_; }
  std::size_t first_chunk(const PlacedRun& run) const {
    return chunks_.at(run.buffer, run.buffer == Buffer::scratch ? run.unit + run.first - run.origin : run.first);
  }
  // A cell begins where some run begins or ends.
  void number_cells() {
    cell_of_.assign(chunks_.size() + 1, 0);
    for (std::uint32_t i = 0; i < plan_.size(); ++i) {
      for (const auto runs : {plan_.source(i), plan_.target(i)}) {
        for (const PlacedRun& run : runs) {
          if (is_constant(run)) continue;
          const std::size_t first = first_chunk(run);
          cell_of_[first] = cell_of_[first + static_cast<std::size_t>(run.count)] = 1;
        }
      }
    }
    std::uint32_t cells = 0;
    for (std::uint32_t& cell : cell_of_) cell = cells += cell;
    writer_.assign(cells + 1, k_none);
    first_reader_.assign(cells + 1, k_none);
  }
  template <class Visit>  // visit(cell)
  void for_each_cell(const PlacedRun& run, const Visit& visit) const {
    const std::size_t first = first_chunk(run);
    const std::uint32_t end = cell_of_[first + static_cast<std::size_t>(run.count)];
    for (std::uint32_t cell = cell_of_[first]; cell < end; ++cell) visit(cell);
  }

  void wait(std::uint32_t after, std::uint32_t before) {
    if (before == k_none || before == after || seen_[before] == after) return;
    seen_[before] = after;
    edges_.push_back({before, after});
  }
  void read(std::uint32_t op, const PlacedRun& run) {
    if (is_constant(run)) return;  // nobody writes there
    for_each_cell(run, [&](std::uint32_t cell) {
      wait(op, writer_[cell]);
      readers_.push_back({op, first_reader_[cell]});
      first_reader_[cell] = static_cast<std::uint32_t>(readers_.size() - 1);
    });
  }
  void write(std::uint32_t op, const PlacedRun& run) {
    for_each_cell(run, [&](std::uint32_t cell) {
      wait(op, writer_[cell]);
      for (std::uint32_t r = first_reader_[cell]; r != k_none; r = readers_[r].next) wait(op, readers_[r].op);
      first_reader_[cell] = k_none;
      writer_[cell] = op;
    });
  }

  const Plan& plan_;
  const bool in_place_;
  Cells chunks_;
  std::vector<std::uint32_t> cell_of_;                // [chunk]
  std::vector<std::uint32_t> writer_, first_reader_;  // [cell]
  std::vector<Reader> readers_;                       // lists of readers since the last write
  std::vector<std::uint32_t> seen_;                   // [op] the last op found to wait for it
  std::vector<Edge> edges_;
};

}  // namespace

Plan::Plan(std::shared_ptr<const Program> program, PlanOptions options)
    : program_(std::move(program)), options_(options), next_with_peer_(program_->size(), -1) {
  options_.compact ? place_compactly() : place_naturally();
  count_messages();
  find_hazards();
}

// Every slot where its number says.
void Plan::place_naturally() {
  scratch_ = program_->scratch();
  first_stretch_.reserve(2 * size() + 1);
  first_stretch_.push_back(0);
  stretches_.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    const Op op = program_->op(i);
    for (const auto runs : {op.source, op.target}) {
      for (const Run& run : runs) stretches_.push_back({run.buffer, run.first, run.count, 0, 0});
      first_stretch_.push_back(static_cast<std::uint32_t>(stretches_.size()));
    }
  }
}

void Plan::place_compactly() {
  const ScratchPlaces places(*program_);
  scratch_ = places.units();
  first_stretch_.push_back(0);
  for (std::uint32_t i = 0; i < size(); ++i) {
    const Op op = program_->op(i);
    for (const bool written : {false, true}) {
      for (const Run& run : written ? op.target : op.source) {
        if (run.buffer != Buffer::scratch)
          stretches_.push_back({run.buffer, run.first, run.count, 0, 0});
        else
          places.append(i, run, stretches_);
      }
      first_stretch_.push_back(static_cast<std::uint32_t>(stretches_.size()));
    }
  }
}

void Plan::count_messages() {
  const auto ranks = static_cast<std::size_t>(program_->shape().ranks);
  const bool dense = ranks <= 8 * size() + 64;  // an array of all peers costs less than a table of those met
  std::vector<std::uint32_t> last(dense ? 2 * ranks : 0, ~std::uint32_t{0});  // [2 * peer + direction] op
  std::unordered_map<std::size_t, std::uint32_t> last_of_few;
  Step step = 0;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const Op op = program_->op(i);
    in_order_ = in_order_ && op.step >= step;
    step = op.step;
    if (!is_message(op.action)) continue;
    const bool sends = op.action == Action::send;
    const auto stretches = sends ? source(i) : target(i);
    Chunk chunks = 0;
    for (const PlacedRun& stretch : stretches) chunks += stretch.count;
    longest_message_ = std::max(longest_message_, chunks);
    if (stretches.size() > 1) staged_chunks_ += chunks;
    const std::size_t key = 2 * static_cast<std::size_t>(op.peer) + (sends ? 0 : 1);
    std::uint32_t& before = dense ? last[key] : last_of_few.try_emplace(key, ~std::uint32_t{0}).first->second;
    if (before != ~std::uint32_t{0}) next_with_peer_[before] = static_cast<std::int32_t>(i);
    before = i;
  }
}

void Plan::find_hazards() {
  const auto edges = Hazards(*this).edges();
  first_successor_.assign(size() + 1, 0);
  waits_.assign(size(), 0);
  for (const auto& [before, after] : edges) {
    ++first_successor_[before + 1];
    ++waits_[after];
    independent_ = independent_ && !is_message(program_->op(before).action);
  }
  for (std::size_t i = 0; i < size(); ++i) first_successor_[i + 1] += first_successor_[i];
  successors_.resize(edges.size());
  std::vector<std::uint32_t> next(first_successor_.begin(), first_successor_.end() - 1);
  for (const auto& [before, after] : edges) successors_[next[before]++] = after;
}

std::size_t Plan::memory_bytes() const {
  return sizeof(*this) + size() * 32 + stretches_.size() * sizeof(Run) + stretches_.capacity() * sizeof(PlacedRun) +
         (first_stretch_.capacity() + successors_.capacity() + first_successor_.capacity() + waits_.capacity() +
          next_with_peer_.capacity()) *
             4;
}

}  // namespace colltopo
