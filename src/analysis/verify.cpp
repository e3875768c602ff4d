// The verifier: a symbolic run for the values, a graph for freedom from deadlock.

#include "colltopo/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "analysis/direct_exchange.h"
#include "analysis/symbolic_run.h"
#include "colltopo/plan.h"
#include "colltopo/verify_sections.h"
#include "execution/line.h"

namespace colltopo {

std::string to_string(const Violation& v) {
  if (v.rank < 0) return v.what;
  if (v.op < 0) return fmt::format("rank {}: {}", v.rank, v.what);
  return fmt::format("rank {} op {}: {}", v.rank, v.op, v.what);
}

namespace {

constexpr std::size_t k_ops_worth_a_thread = 10'000;

// Runs work(rank) for all ranks, by several threads when there are enough ops.
template <typename Work>
void for_all_ranks(const Schedule& schedule, const Work& work) {
  std::size_t ops = 0;
  for (const Program& program : schedule.programs) ops += program.size();
  const std::size_t workers =
      std::clamp<std::size_t>(ops / k_ops_worth_a_thread, 1, std::max(1U, std::thread::hardware_concurrency()));
  std::atomic<std::size_t> next{0};
  const auto loop = [&] {
    for (std::size_t rank = next++; rank < schedule.programs.size(); rank = next++) work(rank);
  };
  std::vector<std::jthread> pool;
  for (std::size_t i = 1; i < workers; ++i) pool.emplace_back(loop);
  loop();
}

// What must happen before what. Nodes are the issue and the completion of every op and, for stepped pacing, the end of
// each step of each rank. Edges are not stored: they follow from the plans, from which op meets which, and from steps.
class RendezvousGraph {
 public:
  RendezvousGraph(const Schedule& schedule, const std::vector<Match>& matches, bool in_place) : schedule_(schedule) {
    first_op_.push_back(0);
    for (const Program& program : schedule.programs)
      first_op_.push_back(first_op_.back() + static_cast<Node>(program.size()));
    const Node ops = first_op_.back();
    next_with_peer_.assign(ops, k_none);
    partner_.assign(ops, k_none);
    next_in_line_.assign(ops, k_none);
    std::vector<std::vector<Node>> after(schedule.programs.size()), count(schedule.programs.size());
    for_all_ranks(schedule, [&](std::size_t rank) { add_rank(rank, in_place, after[rank], count[rank]); });
    first_after_.reserve(ops + 1);
    for (std::size_t rank = 0; rank < after.size(); ++rank) {
      for (const Node n : count[rank]) first_after_.push_back(first_after_.back() + n);
      after_.insert(after_.end(), after[rank].begin(), after[rank].end());
      after[rank] = {};
    }
    for (const Match& m : matches) {
      const Node send = first_op_[index(m.from)] + m.send, recv = first_op_[index(m.to)] + m.recv;
      partner_[send] = recv;
      partner_[recv] = send;
    }
  }

  // Whether nothing waits for a message.
  bool independent() const {
    for (std::size_t rank = 0; rank < schedule_.programs.size(); ++rank) {
      for (Node op = first_op_[rank]; op < first_op_[rank + 1]; ++op) {
        const Action action = schedule_.programs[rank].op(op - first_op_[rank]).action;
        const bool is_message = action == Action::send || action == Action::recv;
        if (is_message && first_after_[op] != first_after_[op + 1]) return false;
      }
    }
    return true;
  }

  /// How ranks start their ops.
  enum class Start {
    when_ready,  // each as soon as what it waits for is complete
    in_line,     // small programs one after the other (execution/line.h)
    stepped      // none before the ops of earlier steps have ended
  };

  // Ops (rank, index) that can never complete; empty when the graph is acyclic.
  std::vector<std::pair<Rank, int>> stuck(Start start) {
    const bool stepped = start == Start::stepped;
    in_line_ = start == Start::in_line;
    if (stepped) find_steps();
    std::vector<std::uint32_t> waits(std::size_t{2} * ops() + gates(stepped), 0);
    for (Node node = 0; node < waits.size(); ++node) {
      each_after(node, stepped, [&](Node later) { ++waits[later]; });
    }
    std::vector<Node> free;
    for (Node node = 0; node < waits.size(); ++node) {
      if (waits[node] == 0) free.push_back(node);
    }
    while (!free.empty()) {
      const Node node = free.back();
      free.pop_back();
      each_after(node, stepped, [&](Node later) {
        if (--waits[later] == 0) free.push_back(later);
      });
    }
    std::vector<std::pair<Rank, int>> stuck_ops;
    for (std::size_t rank = 0; rank + 1 < first_op_.size(); ++rank) {
      for (Node op = first_op_[rank]; op < first_op_[rank + 1]; ++op) {
        if (waits[complete(op)] > 0)
          stuck_ops.emplace_back(static_cast<Rank>(rank), static_cast<int>(op - first_op_[rank]));
      }
    }
    return stuck_ops;
  }

 private:
  using Node = std::uint32_t;
  static constexpr Node k_none = ~Node{0};
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }
  static Node issue(Node op) { return 2 * op; }
  static Node complete(Node op) { return 2 * op + 1; }
  Node ops() const { return first_op_.back(); }
  std::size_t gates(bool stepped) const { return stepped ? first_of_gate_.size() - 1 : 0; }

  void add_rank(std::size_t rank, bool in_place, std::vector<Node>& after, std::vector<Node>& count) {
    const Plan plan(schedule_.programs[rank], {in_place});
    const Node base = first_op_[rank];
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const auto successors = plan.after_completion(i);
      count.push_back(static_cast<Node>(successors.size()));
      for (const std::uint32_t later : successors) after.push_back(base + later);
      if (const std::int32_t next = plan.next_with_peer(i); next >= 0)
        next_with_peer_[base + i] = base + static_cast<Node>(next);
    }
    if (can_be_line(plan)) line_up(base, line_ops(plan).first, static_cast<Node>(plan.size()));
  }

  void line_up(Node base, std::uint64_t first, Node ops) {
    Node last = k_none;
    for (Node op = 0; op < ops; ++op) {
      if ((first >> op & 1) != 0) continue;
      if (last != k_none) next_in_line_[base + last] = base + op;
      last = op;
    }
  }

  // The ops of each rank by step; a gate is the end of a step of a rank.
  void find_steps() {
    by_step_.resize(ops());
    std::iota(by_step_.begin(), by_step_.end(), Node{0});
    gate_of_.resize(ops());
    first_of_gate_.clear();
    for (std::size_t rank = 0; rank < schedule_.programs.size(); ++rank) {
      const Program& program = schedule_.programs[rank];
      const auto step = [&](Node op) { return program.op(op - first_op_[rank]).step; };
      std::stable_sort(by_step_.begin() + first_op_[rank], by_step_.begin() + first_op_[rank + 1],
                       [&](Node a, Node b) { return step(a) < step(b); });
      for (Node i = first_op_[rank]; i < first_op_[rank + 1]; ++i) {
        const bool first = i == first_op_[rank];
        if (first || step(by_step_[i]) != step(by_step_[i - 1])) {
          first_of_gate_.push_back(i);
          begins_rank_.push_back(first);
        }
        gate_of_[by_step_[i]] = static_cast<Node>(first_of_gate_.size() - 1);
      }
    }
    first_of_gate_.push_back(ops());
    begins_rank_.push_back(true);
  }

  // Calls visit for every node that waits for this one.
  template <typename Visit>
  void each_after(Node node, bool stepped, const Visit& visit) const {
    if (node >= 2 * ops()) {  // the end of a step: the rank's next one may begin
      const Node next = node - 2 * ops() + 1;
      if (begins_rank_[next]) return;
      visit(2 * ops() + next);
      for (Node i = first_of_gate_[next]; i < first_of_gate_[next + 1]; ++i) visit(issue(by_step_[i]));
      return;
    }
    const Node op = node / 2;
    if (node == complete(op)) {
      for (Node i = first_after_[op]; i < first_after_[op + 1]; ++i) visit(issue(after_[i]));
      if (stepped) visit(2 * ops() + gate_of_[op]);
      return;
    }
    visit(complete(op));
    if (partner_[op] != k_none) visit(complete(partner_[op]));
    if (next_with_peer_[op] != k_none) visit(issue(next_with_peer_[op]));
    if (in_line_ && next_in_line_[op] != k_none) visit(issue(next_in_line_[op]));
  }

  const Schedule& schedule_;
  std::vector<Node> first_op_;                                 // [rank], and the end
  std::vector<Node> partner_, next_with_peer_, next_in_line_;  // [op]
  std::vector<Node> first_after_{0}, after_;                   // [op] ops that wait for its completion
  std::vector<Node> by_step_, gate_of_;                        // [op]
  std::vector<Node> first_of_gate_;                            // [gate] into by_step_, and the end
  std::vector<bool> begins_rank_;                              // [gate], and true at the end
  bool in_line_ = false;
};

using Start = RendezvousGraph::Start;

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

// Ops that start in line wait for all that they wait for otherwise, and for more.
void check_ends(RendezvousGraph& graph, Verdict& verdict) {
  auto stuck = graph.stuck(Start::in_line);
  if (stuck.empty()) return;
  const auto when_ready = graph.stuck(Start::when_ready);
  const bool by_line = when_ready.empty();
  if (!by_line) stuck = when_ready;
  const auto what = by_line ? fmt::format(
                                  "never completes when few ops start in their order and sends wait for their "
                                  "receives: deadlock under rendezvous ({} ops are stuck)",
                                  stuck.size())
                            : fmt::format(
                                  "never completes when sends wait for their receives: deadlock under rendezvous "
                                  "({} ops are stuck)",
                                  stuck.size());
  for (std::size_t i = 0; i < std::min<std::size_t>(stuck.size(), 3); ++i)
    verdict.violations.push_back({stuck[i].first, stuck[i].second, what});
}

// A call in place may be stepped, windowed and of any operation, too: where a schedule is right in place, it has only
// those properties that it has in place as well.
void prove_in_place(const Schedule& schedule, Verdict& verdict) {
  const CollectiveRow& row = colltopo::row(schedule.shape.collective);
  if (row.counts_shards() && row.classes_by_rank) return;  // shards of unequal size do not coincide
  std::vector<Violation> violations;
  SymbolicRun run(schedule, true, violations);
  if (!run.run()) return;
  RendezvousGraph graph(schedule, run.matches(), true);
  if (!graph.stuck(Start::in_line).empty()) return;
  verdict.in_place = true;
  verdict.keeps_rank_order = verdict.keeps_rank_order && run.keeps_rank_order();
  verdict.same_on_all_ranks = verdict.same_on_all_ranks && run.same_on_all_ranks();
  verdict.stepped = verdict.stepped && graph.stuck(Start::stepped).empty();
  verdict.independent = verdict.independent && graph.independent();
}

}  // namespace

Proof proof_of(const Verdict& verdict) {
  return {verdict.in_place, verdict.keeps_rank_order, verdict.same_on_all_ranks, verdict.stepped, verdict.independent};
}

Verdict verify(const Schedule& schedule) {
  Verdict verdict;
  check_whole(schedule, verdict);
  if (!verdict.valid()) return verdict;
  // What is wrong is for the symbolic run to say.
  if (const auto direct = direct_exchange::verified(sections_of(schedule)); direct && direct->valid()) return *direct;
  SymbolicRun run(schedule, false, verdict.violations);
  if (!run.run()) return verdict;
  RendezvousGraph graph(schedule, run.matches(), false);
  check_ends(graph, verdict);
  if (!verdict.valid()) return verdict;
  const bool reduced = reduces(schedule.shape.collective);
  verdict.keeps_rank_order = reduced && run.keeps_rank_order();
  verdict.same_on_all_ranks = reduced && run.same_on_all_ranks();
  verdict.stepped = graph.stuck(Start::stepped).empty();
  verdict.independent = graph.independent();
  prove_in_place(schedule, verdict);
  return verdict;
}

Verdict verify(const SectionedSchedule& schedule) {
  if (auto direct = direct_exchange::verified(schedule)) return *std::move(direct);
  return verify(whole(schedule));
}

}  // namespace colltopo
