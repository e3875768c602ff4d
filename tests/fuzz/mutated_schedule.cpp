// Mutations of schedules by their ops. Those of both ends of a message keep most schedules right, and a proof of them
// is what runs are compared with.
#include <algorithm>
#include <sstream>

#include "colltopo/algorithms.h"
#include "colltopo/error.h"
#include "colltopo/forest.h"
#include "colltopo/routed.h"
#include "colltopo/text.h"
#include "colltopo/verify.h"
#include "networks.h"
#include "run_target.h"

namespace colltopo::fuzz {

namespace {

constexpr std::size_t k_most_ops = 120;  // of all ranks of a seed
constexpr int k_most_mutations = 4;

struct EditedOp {
  Action action;
  Rank peer;
  Lane lane;
  Step step;
  Runs source, target;

  Runs& moved() { return action == Action::recv ? target : source; }
};

std::string text_of(const Schedule& schedule) {
  std::ostringstream out;
  write_schedule(out, schedule);
  return out.str();
}

void add(const Schedule& schedule, std::vector<std::string>& seeds) {
  std::size_t ops = 0;
  for (const Program& program : schedule.programs) ops += program.size();
  if (ops <= k_most_ops) seeds.push_back(text_of(schedule));
}

void add_closed_forms(std::vector<std::string>& seeds) {
  for (const Algorithm& algorithm : algorithms())
    for (const Collective collective : algorithm.collectives)
      for (const Rank ranks : {2, 3, 4, 5, 6}) {
        Shape shape{collective, ranks, 1, rooted(collective) ? ranks / 2 : 0};
        AlgorithmOptions options;
        if (option_named(algorithm, "group") != nullptr) options.values.set("group", 2);
        if (!algorithm.refusal(shape, options).empty()) continue;
        add(generate(algorithm, shape, options), seeds);
      }
}

void add_made_for_networks(std::vector<std::string>& seeds) {
  for (const char* const spec : {"mesh:4", "ring:5", "torus:2x3"}) {
    const Topology topology = topology_of(spec);
    for (const Collective collective : {Collective::allgather, Collective::reduce_scatter, Collective::allreduce})
      add(forest_schedule(topology, pack_forest(topology, {.collective = collective})), seeds);
    for (const Chunk chunks : {1, 3})
      add(routed_alltoall("routed", topology, chunked(topology, random_routing(topology, 1, 3), chunks, 0)), seeds);
  }
}

/// A schedule whose ops can be changed.
class Edited {
 public:
  Edited(const Schedule& schedule, std::mt19937_64& random) : schedule_(schedule), random_(random) {
    for (const Program& program : schedule.programs) {
      std::vector<EditedOp>& ops = ops_.emplace_back();
      for (std::size_t i = 0; i < program.size(); ++i) {
        const Op op = program.op(i);
        ops.push_back({op.action,
                       op.peer,
                       op.lane,
                       op.step,
                       {op.source.begin(), op.source.end()},
                       {op.target.begin(), op.target.end()}});
      }
    }
  }

  /// Throws Error where the ops are none of a schedule.
  Schedule built() const {
    Schedule made = schedule_;
    for (std::size_t rank = 0; rank < ops_.size(); ++rank) {
      ProgramBuilder builder(made.shape, static_cast<Rank>(rank));
      for (const EditedOp& op : ops_[rank])
        builder.step(op.step).add({op.action, op.peer, op.lane, op.step, {}, {}}, op.source, op.target);
      made.programs[rank] = std::move(builder).build();
    }
    made.proof.reset();
    return made;
  }

  void mutate() {
    std::vector<EditedOp>& ops = ops_[below(ops_.size())];
    if (ops.empty()) return;
    const std::size_t at = below(ops.size());
    switch (below(13)) {
      case 0:
        return std::swap(ops[at], ops[below(ops.size())]);
      case 1:
        return move_op(ops, at);
      case 2:
        ops[at].step = other_step(ops[at].step);
        return;
      case 3:
        return on_a_message([&](EditedOp& send, EditedOp& recv) { send.step = recv.step = other_step(send.step); });
      case 4:
        return on_a_message(
            [&](EditedOp& send, EditedOp& recv) { send.lane = recv.lane = static_cast<Lane>(below(3)); });
      case 5:
        return insert_copy(ops);
      case 6:
        ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(below(ops.size() + 1)), EditedOp(ops[at]));
        return;
      case 7:
        ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(at));
        return;
      case 8:
        return merge_slots(ops);
      case 9:
        return change_run(ops[at]);
      case 10:
        return split_message();
      case 11:
        return insert_message();
      default:
        return shift_steps();
    }
  }

 private:
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }

  Step other_step(Step step) {
    if (below(3) == 0) return static_cast<Step>(below(5));
    return std::max<Step>(0, step + (below(2) == 0 ? 1 : -1));
  }

  void move_op(std::vector<EditedOp>& ops, std::size_t at) {
    EditedOp op = ops[at];
    ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(at));
    ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(below(ops.size() + 1)), std::move(op));
  }

  struct Ends {
    std::size_t from, send, to, recv;  // ranks, and places of the ops
  };
  /// A message of a random rank: the k-th send to a peer and the k-th receive there.
  std::optional<Ends> a_message() {
    const std::size_t from = below(ops_.size());
    std::vector<std::size_t> sends;
    for (std::size_t i = 0; i < ops_[from].size(); ++i)
      if (ops_[from][i].action == Action::send) sends.push_back(i);
    if (sends.empty()) return {};
    const std::size_t send = sends[below(sends.size())];
    const auto to = static_cast<std::size_t>(ops_[from][send].peer);
    const auto before = [&](const std::vector<EditedOp>& ops, std::size_t end, Action action, std::size_t peer) {
      return std::count_if(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(end), [&](const EditedOp& op) {
        return op.action == action && static_cast<std::size_t>(op.peer) == peer;
      });
    };
    const auto k = before(ops_[from], send, Action::send, to);
    for (std::size_t recv = 0; recv < ops_[to].size(); ++recv)
      if (ops_[to][recv].action == Action::recv && static_cast<std::size_t>(ops_[to][recv].peer) == from &&
          before(ops_[to], recv, Action::recv, from) == k)
        return Ends{from, send, to, recv};
    return {};
  }
  template <class Change>
  void on_a_message(const Change& change) {
    if (const auto ends = a_message()) change(ops_[ends->from][ends->send], ops_[ends->to][ends->recv]);
  }

  Run run_of(const std::vector<EditedOp>& ops) {
    const EditedOp& op = ops[below(ops.size())];
    const Runs& runs = op.source.empty() || (!op.target.empty() && below(2) == 0) ? op.target : op.source;
    return runs.empty() ? Run{Buffer::input, 0, 1} : runs[below(runs.size())];
  }
  /// What is somewhere goes to scratch that nobody uses, or to the same chunk of output.
  void insert_copy(std::vector<EditedOp>& ops) {
    const Run source = run_of(ops);
    const Chunk free = 4 * schedule_.shape.classes() + source.first % schedule_.shape.classes();
    const Run target =
        below(2) == 0 ? Run{Buffer::output, source.first, source.count} : Run{Buffer::scratch, free, source.count};
    ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(below(ops.size() + 1)),
               {Action::copy, 0, 0, below(2) == 0 ? 0 : static_cast<Step>(below(4)), {source}, {target}});
  }
  /// Slots of one size class become one: what waited for nothing waits.
  void merge_slots(std::vector<EditedOp>& ops) {
    const Run from = run_of(ops);
    if (from.buffer != Buffer::scratch) return;
    const Chunk period = schedule_.shape.classes();
    const Chunk to = from.first % period + period * static_cast<Chunk>(below(3));
    for (EditedOp& op : ops)
      for (Runs* runs : {&op.source, &op.target})
        for (Run& run : *runs)
          if (run.buffer == Buffer::scratch && run.first == from.first) run.first = to;
  }
  void change_run(EditedOp& op) {
    Runs& runs = op.source.empty() || (!op.target.empty() && below(2) == 0) ? op.target : op.source;
    if (runs.empty()) return;
    Run& run = runs[below(runs.size())];
    if (below(2) == 0)
      run.buffer = static_cast<Buffer>(below(3));
    else
      run.first = std::max<Chunk>(0, run.first + static_cast<Chunk>(below(5)) - 2);
  }
  /// Behind its first chunk, at both ends.
  void split_message() {
    const auto ends = a_message();
    if (!ends || chunks_in(ops_[ends->from][ends->send].source) < 2 || chunks_in(ops_[ends->to][ends->recv].target) < 2)
      return;
    const auto split = [](std::vector<EditedOp>& ops, std::size_t at) {
      EditedOp second = ops[at];
      Runs& first_runs = ops[at].moved();
      Runs& second_runs = second.moved();
      if (first_runs.front().count == 1) {
        second_runs.erase(second_runs.begin());
      } else {
        ++second_runs.front().first;
        --second_runs.front().count;
      }
      first_runs = {{first_runs.front().buffer, first_runs.front().first, 1}};
      ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(second));
    };
    split(ops_[ends->from], ends->send);
    split(ops_[ends->to], ends->recv);
  }
  /// Anything to scratch that nobody uses.
  void insert_message() {
    const std::size_t from = below(ops_.size()), to = below(ops_.size());
    if (from == to || ops_[from].empty()) return;
    const Run source = run_of(ops_[from]);
    const Chunk period = schedule_.shape.classes();
    const Chunk in_class = size_class(schedule_.shape, static_cast<Rank>(from), source.buffer, source.first) % period;
    const Run target{Buffer::scratch, in_class + period * static_cast<Chunk>(below(5)), source.count};
    const auto step = static_cast<Step>(1 + below(4));
    const auto insert = [&](std::size_t rank, EditedOp op) {
      std::vector<EditedOp>& ops = ops_[rank];
      ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(below(ops.size() + 1)), std::move(op));
    };
    insert(from, {Action::send, static_cast<Rank>(to), 0, step, {source}, {}});
    insert(to, {Action::recv, static_cast<Rank>(from), 0, step, {}, {target}});
  }
  /// All messages of a step become those of another one, on all ranks.
  void shift_steps() {
    const auto from = static_cast<Step>(below(4)), to = static_cast<Step>(below(5));
    for (std::vector<EditedOp>& ops : ops_)
      for (EditedOp& op : ops)
        if (op.step == from && is_message(op.action)) op.step = to;
  }

  const Schedule& schedule_;
  std::mt19937_64& random_;
  std::vector<std::vector<EditedOp>> ops_;  // [rank]
};

}  // namespace

std::vector<std::string> run_seeds() {
  std::vector<std::string> seeds;
  add_closed_forms(seeds);
  add_made_for_networks(seeds);
  return seeds;
}

std::string mutated_schedule(const std::vector<std::string>& seeds, std::mt19937_64& random) {
  const std::string& seed = seeds[random() % seeds.size()];
  std::istringstream in(seed);
  const Schedule schedule = read_schedule(in, "SEED");
  constexpr int k_attempts = 20;
  for (int attempt = 0; attempt < k_attempts; ++attempt) try {
      Edited edited(schedule, random);
      for (auto left = 1 + random() % k_most_mutations; left > 0; --left) edited.mutate();
      return text_of(edited.built());
    } catch (const Error&) {  // no schedule
    }
  return seed;
}

}  // namespace colltopo::fuzz
