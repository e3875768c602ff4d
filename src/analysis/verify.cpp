// The verifier: a symbolic run for the values, a graph for freedom from deadlock.

#include "colltopo/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analysis/symbolic_run.h"
#include "colltopo/plan.h"

namespace colltopo {

std::string to_string(const Violation& v) {
  if (v.rank < 0) return v.what;
  if (v.op < 0) return fmt::format("rank {}: {}", v.rank, v.what);
  return fmt::format("rank {} op {}: {}", v.rank, v.op, v.what);
}

namespace {

// issue and complete nodes of every op, and, for stepped pacing, the ends of each rank's steps.
class RendezvousGraph {
 public:
  RendezvousGraph(const Schedule& schedule, const std::vector<Match>& matches, bool in_place, bool stepped)
      : schedule_(schedule) {
    first_op_.push_back(0);
    for (const Program& program : schedule.programs) first_op_.push_back(first_op_.back() + program.size());
    nodes_ = 2 * first_op_.back();
    for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) add_rank(rank, in_place);
    if (stepped) {
      for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) add_steps(rank);
    }
    for (const Match& m : matches) {
      const std::size_t send = op(m.from, m.send), recv = op(m.to, m.recv);
      edges_.emplace_back(issue(send), complete(recv));
      edges_.emplace_back(issue(recv), complete(send));
    }
  }

  // Ops (rank, index) that can never complete; empty when the graph is acyclic.
  std::vector<std::pair<Rank, int>> stuck() const {
    std::vector<std::size_t> first(nodes_ + 1, 0), waits(nodes_, 0), next;
    for (const auto& [from, to] : edges_) ++first[from + 1], ++waits[to];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::size_t> targets(edges_.size());
    next.assign(first.begin(), first.end() - 1);
    for (const auto& [from, to] : edges_) targets[next[from]++] = to;
    std::vector<std::size_t> free;
    for (std::size_t node = 0; node < nodes_; ++node) {
      if (waits[node] == 0) free.push_back(node);
    }
    while (!free.empty()) {
      const std::size_t node = free.back();
      free.pop_back();
      for (std::size_t e = first[node]; e < first[node + 1]; ++e) {
        if (--waits[targets[e]] == 0) free.push_back(targets[e]);
      }
    }
    std::vector<std::pair<Rank, int>> ops;
    for (std::size_t rank = 0; rank + 1 < first_op_.size(); ++rank) {
      for (std::size_t i = first_op_[rank]; i < first_op_[rank + 1]; ++i) {
        if (waits[complete(i)] > 0) ops.emplace_back(static_cast<Rank>(rank), static_cast<int>(i - first_op_[rank]));
      }
    }
    return ops;
  }

 private:
  static std::size_t issue(std::size_t op) { return 2 * op; }
  static std::size_t complete(std::size_t op) { return 2 * op + 1; }
  std::size_t op(Rank rank, std::uint32_t index) const { return first_op_[static_cast<std::size_t>(rank)] + index; }

  void add_rank(std::size_t rank, bool in_place) {
    const Plan plan(schedule_.programs[rank], {in_place});
    const std::size_t base = first_op_[rank];
    for (std::size_t i = 0; i < plan.size(); ++i) {
      edges_.emplace_back(issue(base + i), complete(base + i));
      for (const std::uint32_t after : plan.after_completion(i))
        edges_.emplace_back(complete(base + i), issue(base + after));
      if (const std::int32_t next = plan.next_with_peer(i); next >= 0) {
        edges_.emplace_back(issue(base + i), issue(base + static_cast<std::size_t>(next)));
      }
    }
  }

  void add_steps(std::size_t rank) {
    const Program& program = schedule_.programs[rank];
    std::vector<std::size_t> order(program.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return program.op(i).step; });
    std::size_t gate = 0;  // node that ends the steps before; valid once `gated`
    bool gated = false;
    for (std::size_t i = 0; i < order.size();) {
      const Step step = program.op(order[i]).step;
      const std::size_t end_of_step = nodes_++;
      if (gated) edges_.emplace_back(gate, end_of_step);
      for (; i < order.size() && program.op(order[i]).step == step; ++i) {
        const std::size_t o = first_op_[rank] + order[i];
        if (gated) edges_.emplace_back(gate, issue(o));
        edges_.emplace_back(complete(o), end_of_step);
      }
      gate = end_of_step;
      gated = true;
    }
  }

  const Schedule& schedule_;
  std::vector<std::size_t> first_op_;  // [rank]
  std::size_t nodes_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
};

void check_whole(const Schedule& schedule, Verdict& verdict) {
  const Shape& shape = schedule.shape;
  if (schedule.programs.size() != static_cast<std::size_t>(shape.ranks)) {
    verdict.violations.push_back(
        {-1, -1, fmt::format("{} programs for {} ranks", schedule.programs.size(), shape.ranks)});
    return;
  }
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const Program& program = schedule.programs[static_cast<std::size_t>(rank)];
    if (program.shape() != shape || program.rank() != rank) {
      verdict.violations.push_back({rank, -1, "the program is of another shape or rank than the schedule's"});
    }
  }
}

bool right_in_place(const Schedule& schedule) {
  if (schedule.shape.collective == Collective::reduce_scatter) return false;  // shards of unequal size do not coincide
  std::vector<Violation> violations;
  SymbolicRun run(schedule, true, violations);
  return run.run() && RendezvousGraph(schedule, run.matches(), true, false).stuck().empty();
}

}  // namespace

Verdict verify(const Schedule& schedule) {
  Verdict verdict;
  check_whole(schedule, verdict);
  if (!verdict.valid()) return verdict;
  SymbolicRun run(schedule, false, verdict.violations);
  if (!run.run()) return verdict;
  const auto stuck = RendezvousGraph(schedule, run.matches(), false, false).stuck();
  for (std::size_t i = 0; i < std::min<std::size_t>(stuck.size(), 3); ++i) {
    verdict.violations.push_back(
        {stuck[i].first, stuck[i].second,
         fmt::format("never completes when sends wait for their receives: deadlock under rendezvous ({} ops are stuck)",
                     stuck.size())});
  }
  if (!verdict.valid()) return verdict;
  const bool reduced = reduces(schedule.shape.collective);
  verdict.keeps_rank_order = reduced && run.keeps_rank_order();
  verdict.same_on_all_ranks = reduced && run.same_on_all_ranks();
  verdict.stepped = RendezvousGraph(schedule, run.matches(), false, true).stuck().empty();
  verdict.in_place = right_in_place(schedule);
  return verdict;
}

}  // namespace colltopo
