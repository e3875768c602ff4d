#include "choice/profile.h"

#include <algorithm>
#include <map>

namespace colltopo {

namespace {

// Loads of a node's links: one interface on a crossbar, two directions per side on a torus.
class Links {
 public:
  explicit Links(const std::vector<int>& sides)
      : sides_(sides), loads_(std::max<std::size_t>(1, 2 * sides.size()), 0.0) {}

  // Adds a message between two nodes along a shortest path, half each way where both are equally long. As every node
  // does alike, a node's own links carry as much for others as others' links carry for it. Returns the hops.
  int add(double shards, int from, int to) {
    if (sides_.empty()) {
      loads_[0] += shards;
      return 1;
    }
    int hops = 0;
    for (std::size_t d = sides_.size(); d-- > 0;) {
      const int side = sides_[d];
      const int up = ((to % side - from % side) + side) % side, down = (side - up) % side;
      if (up <= down) loads_[2 * d] += shards * up * (up == down ? 0.5 : 1.0);
      if (down <= up) loads_[2 * d + 1] += shards * down * (up == down ? 0.5 : 1.0);
      hops += std::min(up, down);
      from /= side;
      to /= side;
    }
    return std::max(hops, 1);
  }
  double busiest() const { return std::ranges::max(loads_); }

 private:
  const std::vector<int>& sides_;
  std::vector<double> loads_;
};

// Up to four ranks of rank 0's node, spread over it: first, last and between.
std::vector<Rank> sampled_ranks(const Placement& placement, std::size_t& on_node) {
  std::vector<Rank> local;
  for (std::size_t r = 0; r < placement.node_of.size(); ++r) {
    if (placement.node_of[r] == placement.node_of[0]) local.push_back(static_cast<Rank>(r));
  }
  on_node = local.size();
  if (local.size() <= 4) return local;
  const std::size_t last = local.size() - 1;
  return {local[0], local[last / 3], local[2 * last / 3], local[last]};
}

struct RankStep {
  double messages_node = 0, messages_network = 0, shards_node = 0, packed = 0, copied = 0, reduced = 0;
};

}  // namespace

Profile profile_of(const Shape& shape, const Placement& placement, const std::function<Program(Rank)>& program_of) {
  std::size_t on_node = 1;
  const std::vector<Rank> sample = sampled_ranks(placement, on_node);
  const double scale = static_cast<double>(on_node) / static_cast<double>(sample.size());
  const double chunk = 1.0 / shape.chunks;
  const auto node = [&](Rank rank) { return placement.node_of[static_cast<std::size_t>(rank)]; };
  std::map<Step, StepWork> steps;
  std::map<Step, Links> links;
  for (const Rank rank : sample) {
    const Program program = program_of(rank);
    std::map<Step, RankStep> own;
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      RankStep& mine = own[op.step];
      const double shards = chunk * chunks_in(op.action == Action::recv ? op.target : op.source);
      switch (op.action) {
        case Action::copy:
          mine.copied += shards;
          break;
        case Action::reduce:
          mine.reduced += shards;
          break;
        case Action::recv:
          if (op.target.size() > 1) mine.packed += shards;
          break;
        case Action::send:
          if (op.source.size() > 1) mine.packed += shards;
          if (node(op.peer) == node(rank)) {
            mine.messages_node += 1;
            mine.shards_node += shards;
          } else {
            mine.messages_network += 1;
            const int hops = links.try_emplace(op.step, placement.dimensions)
                                 .first->second.add(scale * shards, node(rank), node(op.peer));
            steps[op.step].hops = std::max(steps[op.step].hops, hops);
          }
          break;
      }
    }
    for (const auto& [step, mine] : own) {
      StepWork& all = steps[step];
      all.messages_node = std::max(all.messages_node, mine.messages_node);
      all.messages_network = std::max(all.messages_network, mine.messages_network);
      all.shards_node = std::max(all.shards_node, mine.shards_node);
      all.shards_packed = std::max(all.shards_packed, mine.packed);
      all.shards_copied = std::max(all.shards_copied, mine.copied);
      all.shards_reduced = std::max(all.shards_reduced, mine.reduced);
    }
  }
  for (const auto& [step, loads] : links) steps[step].shards_network = loads.busiest();
  Profile profile;
  for (const auto& [step, work] : steps) profile.steps.push_back(work);
  return profile;
}

double seconds_of(const Profile& profile, const Machine& machine, double bytes) {
  double seconds = 0;
  for (const StepWork& step : profile.steps) {
    const double messages = step.messages_node + step.messages_network;
    if (step.messages_network > 0)
      seconds += machine.latency_network * step.hops;
    else if (step.messages_node > 0)
      seconds += machine.latency_node;
    if (messages > 1) seconds += (messages - 1) * machine.overhead;
    seconds +=
        bytes * std::max(step.shards_node / machine.bandwidth_node, step.shards_network / machine.bandwidth_network);
    seconds += bytes * (step.shards_copied + step.shards_packed) / machine.bandwidth_copy;
    seconds += bytes * step.shards_reduced / machine.bandwidth_reduce;
  }
  return seconds;
}

double shard_bytes(const Shape& shape, std::size_t bytes) {
  const auto total = static_cast<double>(bytes);
  return total * shape.chunks / shape.parts();
}

}  // namespace colltopo
