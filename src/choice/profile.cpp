#include "choice/profile.h"

#include <algorithm>

#include "colltopo/node_network.h"

namespace colltopo {

namespace {

// Loads of links, step by step, in shards over the slowest link: where the network is known, of all its links by all
// ranks' messages; otherwise of a node's own, one interface on a crossbar, two directions per side on a torus.
class Links {
 public:
  explicit Links(const Placement& placement)
      : network_(placement.network.get()),
        sides_(placement.dimensions),
        links_(std::max<std::size_t>(
            1, network_ != nullptr ? static_cast<std::size_t>(network_->links()) : 2 * sides_.size())) {}

  void clear(Step steps) { loads_.assign((static_cast<std::size_t>(steps) + 1) * links_, 0.0); }

  // Adds a message between two nodes along a shortest path, half each way where both are equally long. As every node
  // does alike, a node's own links carry as much for others as others' links carry for it. Returns the hops.
  double add(Step step, double shards, int from, int to) {
    double* const loads = &loads_[static_cast<std::size_t>(step) * links_];
    if (network_ != nullptr) {
      for (const std::int32_t link : network_->path(from, to)) loads[link] += shards * network_->slowness(link);
      return network_->hops(from, to);
    }
    if (sides_.empty()) {
      loads[0] += shards;
      return 1;
    }
    int hops = 0;
    for (std::size_t d = sides_.size(); d-- > 0;) {
      const int side = sides_[d];
      const int up = ((to % side - from % side) + side) % side, down = (side - up) % side;
      if (up <= down) loads[2 * d] += shards * up * (up == down ? 0.5 : 1.0);
      if (down <= up) loads[2 * d + 1] += shards * down * (up == down ? 0.5 : 1.0);
      hops += std::min(up, down);
      from /= side;
      to /= side;
    }
    return std::max(hops, 1);
  }
  double busiest(Step step) const {
    const auto first = loads_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(step) * links_);
    return *std::max_element(first, first + static_cast<std::ptrdiff_t>(links_));
  }

 private:
  const NodeNetwork* network_;
  const std::vector<int>& sides_;
  std::size_t links_;
  std::vector<double> loads_;
};

void take_larger(StepWork& all, const StepWork& one) {
  const auto larger = [&](double StepWork::*field) { all.*field = std::max(all.*field, one.*field); };
  for (const auto field :
       {&StepWork::messages_node, &StepWork::messages_network, &StepWork::received, &StepWork::shards_received,
        &StepWork::shards_node, &StepWork::shards_network, &StepWork::shards_packed, &StepWork::shards_copied,
        &StepWork::shards_reduced, &StepWork::hops})
    larger(field);
}

/// What a rank does that is looked at, and how many of its node it stands for.
struct Sample {
  Program program;
  double ranks;
};

// Collects what the sampled ranks of one node after the other do.
class Reader {
 public:
  Reader(const Shape& shape, const Terrain& terrain)
      : terrain_(terrain), chunk_(1.0 / shape.chunks), out_(terrain.placement), in_(terrain.placement) {}

  void read(const std::vector<Sample>& sample) {
    Step last = 0;
    for (const Sample& one : sample) last = std::max(last, one.program.last_step());
    if (steps_.size() <= static_cast<std::size_t>(last)) steps_.resize(static_cast<std::size_t>(last) + 1);
    out_.links.clear(last);
    in_.links.clear(last);
    for (const Sample& one : sample) {
      own_.assign(static_cast<std::size_t>(last) + 1, {});
      read(one.program, one.ranks);
      for (std::size_t step = 0; step < own_.size(); ++step) take_larger(steps_[step], own_[step]);
    }
    for (Step step = 0; step <= last; ++step) {
      double& most = steps_[static_cast<std::size_t>(step)].shards_network;
      most = std::max({most, out_.links.busiest(step), in_.links.busiest(step)});
    }
  }

  Profile profile(Step steps) const {
    Profile profile;
    profile.elsewhere = steps;
    for (const StepWork& step : steps_) {
      if (step == StepWork{}) continue;
      if (step.messages_node + step.messages_network > 0) profile.elsewhere -= 1;
      if (!profile.steps.empty() && profile.steps.back().each == step)
        profile.steps.back().times += 1;
      else
        profile.steps.push_back({step, 1});
    }
    return profile;
  }

 private:
  int node(Rank rank) const { return terrain_.placement.node_of[static_cast<std::size_t>(rank)]; }

  /// A rank's messages of a step in one direction. Mostly the other carries as much; where a rank only receives, it
  /// does not.
  struct OneWay {
    double messages_node = 0, messages_network = 0, shards_node = 0;
  };
  struct Direction {
    explicit Direction(const Placement& placement) : links(placement) {}
    Links links;               // of the node, for all of its ranks
    std::vector<OneWay> mine;  // [step]
  };

  void add(Direction& direction, const Op& op, double shards, double ranks, int from, int to) {
    OneWay& way = direction.mine[static_cast<std::size_t>(op.step)];
    if (from == to) {
      way.messages_node += 1;
      way.shards_node += shards;
      return;
    }
    way.messages_network += 1;
    double& hops = own_[static_cast<std::size_t>(op.step)].hops;
    hops = std::max(hops, direction.links.add(op.step, ranks * shards, from, to));
  }

  void read(const Program& program, double ranks) {
    const int here = node(program.rank());
    for (Direction* const direction : {&out_, &in_}) direction->mine.assign(own_.size(), {});
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      StepWork& mine = own_[static_cast<std::size_t>(op.step)];
      const auto runs = op.action == Action::recv ? op.target : op.source;
      const double shards = chunk_ * chunks_in(runs);
      if (op.action == Action::copy) {
        mine.shards_copied += shards;
        continue;
      }
      if (op.action == Action::reduce) {
        mine.shards_reduced += shards;
        continue;
      }
      if (runs.size() > 1) mine.shards_packed += shards;
      if (op.action == Action::send) {
        add(out_, op, shards, ranks, here, node(op.peer));
      } else {
        add(in_, op, shards, ranks, node(op.peer), here);
        mine.received += 1;
        mine.shards_received += shards;
      }
    }
    for (std::size_t step = 0; step < own_.size(); ++step) {
      for (const Direction* const direction : {&out_, &in_}) {
        const OneWay& way = direction->mine[step];
        own_[step].messages_node = std::max(own_[step].messages_node, way.messages_node);
        own_[step].messages_network = std::max(own_[step].messages_network, way.messages_network);
        own_[step].shards_node = std::max(own_[step].shards_node, way.shards_node);
      }
    }
  }

  const Terrain& terrain_;
  double chunk_;
  Direction out_, in_;
  std::vector<StepWork> steps_, own_;  // [step]
};

// Programs, times the ranks of the communicator, that are made in 10 ms whatever they are. Whole nodes are read as long
// as they are no more: what leaves a node is the sum of all of its ranks, and in trees and in an algorithm of few pairs
// one of them says nothing about the next.
constexpr std::int64_t k_programs = 1 << 11;
// Ops and runs of a node's programs that are read however many ranks there are, in a millisecond; and of a call with a
// root, where up to four nodes are read and more variants there are.
constexpr std::size_t k_length = 1 << 14, k_length_rooted = 1 << 12;

std::size_t length_of(const Program& program) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    length += 1 + op.source.size() + op.target.size();
  }
  return length;
}

std::vector<Sample> all_of(const Groups& nodes, Rank node, const Programs& programs) {
  std::vector<Sample> all;
  all.reserve(static_cast<std::size_t>(nodes.size(node)));
  for (Rank position = 0; position < nodes.size(node); ++position)
    all.push_back({programs.of(nodes.member(node, position)), 1});
  return all;
}

// All of the rank's node where that takes little and they differ. Else the rank, the first and the last, which in
// chains and trees have what goes to other nodes, and one that stands for all others; among very many ranks, where a
// program may take milliseconds, the rank and one for all others; in an alltoall, where all have as much to send, the
// rank alone.
std::vector<Sample> sample_of(const Groups& nodes, Rank rank, const Shape& shape, const Programs& programs) {
  constexpr Rank k_few = 2048;
  const Rank node = nodes.group_of(rank), size = nodes.size(node);
  if (std::int64_t{size} * nodes.ranks() <= k_programs) return all_of(nodes, node, programs);
  const bool is_many = nodes.ranks() > k_few, are_alike = shape.collective == Collective::alltoall;
  std::vector<Sample> sample;
  sample.push_back({programs.of(rank), 1});
  if (is_many && are_alike) {
    sample.back().ranks = size;
    return sample;
  }
  if (size == 1) return sample;
  const Rank middle =
      nodes.member(node, size / 2) == rank ? nodes.member(node, size / 2 - 1) : nodes.member(node, size / 2);
  sample.push_back({programs.of(middle), 1});
  const std::size_t length =
      length_of(sample[0].program) + static_cast<std::size_t>(size - 1) * length_of(sample[1].program);
  const bool are_short =
      !are_alike && !programs.take_all_ranks && length <= (rooted(shape.collective) ? k_length_rooted : k_length);
  double others = size - 2;
  for (Rank position = 0; position < size; ++position) {
    const bool is_end = position == 0 || position == size - 1;
    const Rank other = nodes.member(node, position);
    if (other == rank || other == middle || !(are_short || (is_end && !is_many))) continue;
    sample.push_back({programs.of(other), 1});
    --others;
  }
  sample[1].ranks += others;
  return sample;
}

// Every block for another node has to leave this one. Ranks that a sample misses may send more than those that it has:
// of node-pairs with as many nodes as ranks on each the first rank has no partner.
void raise_to_what_must_leave(Profile& profile, const Shape& shape, Rank ranks_of_node) {
  if (shape.collective != Collective::alltoall) return;
  constexpr double k_rounding = 1e-9;
  double sent = 0, with_messages = 0;
  for (const auto& [step, times] : profile.steps) {
    sent += times * step.shards_network;
    with_messages += step.messages_node + step.messages_network > 0 ? times : 0;
  }
  if (sent == 0) return;
  sent *= 1 + profile.elsewhere / with_messages;
  const double must = static_cast<double>(ranks_of_node) * (shape.ranks - ranks_of_node);
  if (sent >= must * (1 - k_rounding)) return;
  for (auto& [step, times] : profile.steps) step.shards_network *= must / sent;
}

}  // namespace

Terrain::Terrain(Placement placed) : placement(std::move(placed)), nodes(grouped(placement.node_of)) {}

std::vector<Rank> sampled_roots(Collective collective, const Terrain& terrain) {
  const Groups& nodes = *terrain.nodes;
  if (!rooted(collective) || nodes.ranks() == 1) return {0};
  // The first rank of all, and one in the middle of a node in the middle.
  const Rank node = nodes.groups() / 2;
  return {0, nodes.member(node, nodes.size(node) / 2)};
}

Profile profile_of(const Shape& shape, const Terrain& terrain, Step steps, const Programs& programs) {
  constexpr Step k_none = 0;  // are elsewhere
  const Groups& nodes = *terrain.nodes;
  Reader reader(shape, terrain);
  if (terrain.placement.network != nullptr) {
    std::vector<Sample> all;
    all.reserve(static_cast<std::size_t>(shape.ranks));
    for (Rank rank = 0; rank < shape.ranks; ++rank) all.push_back({programs.of(rank), 1});
    reader.read(all);
    return reader.profile(k_none);
  }
  if (std::int64_t{shape.ranks} * shape.ranks <= k_programs) {
    for (Rank node = 0; node < nodes.groups(); ++node) reader.read(all_of(nodes, node, programs));
    return reader.profile(k_none);
  }
  const bool is_rooted = rooted(shape.collective);
  reader.read(sample_of(nodes, shape.root, shape, programs));
  const Rank far = (shape.root + shape.ranks / 2) % shape.ranks;
  if (is_rooted && nodes.group_of(far) != nodes.group_of(shape.root))
    reader.read(sample_of(nodes, far, shape, programs));
  Profile profile = reader.profile(steps);
  raise_to_what_must_leave(profile, shape, nodes.size(nodes.group_of(shape.root)));
  return profile;
}

// The executor posts a step's receives before its sends and has machine.window messages under way: further ones wait
// for a round trip of those before, and small ones that come earlier than their receive are copied once more.
double seconds_of(const Profile& profile, const Machine& machine, double bytes) {
  double seconds = 0, in_messages = 0, steps = 0;
  for (const auto& [step, times] : profile.steps) {
    const double messages = step.messages_node + step.messages_network;
    const double latency = step.messages_network > 0
                               ? machine.latency_network + std::max(0.0, step.hops - 1) * machine.latency_hop
                           : messages > 0 ? machine.latency_node
                                          : 0;
    double one = latency;
    if (messages > 1) one += (messages - 1) * std::max(machine.overhead, latency / machine.window);
    const double unexpected = std::max(0.0, step.received - machine.window);
    if (unexpected > 0 && bytes * step.shards_received <= machine.eager_bytes * step.received)
      one += bytes * step.shards_received / step.received * unexpected / machine.bandwidth_copy;
    one += bytes * std::max(step.shards_node / machine.bandwidth_node, step.shards_network / machine.bandwidth_network);
    one += bytes * (step.shards_copied + step.shards_packed) / machine.bandwidth_copy;
    one += bytes * step.shards_reduced / machine.bandwidth_reduce;
    seconds += times * one;
    if (messages == 0) continue;
    in_messages += times * one;
    steps += times;
  }
  return steps == 0 ? seconds : seconds + std::max(0.0, profile.elsewhere) * in_messages / steps;
}

double saved_by_cutting(const Profile& profile, const Machine& machine, double bytes) {
  double within = 0, between = 0;
  for (const auto& [step, times] : profile.steps) {
    within += times * bytes * step.shards_node / machine.bandwidth_node;
    between += times * bytes * step.shards_network / machine.bandwidth_network;
  }
  return std::min(within, between);
}

double shard_bytes(const Shape& shape, std::size_t bytes) {
  const auto total = static_cast<double>(bytes);
  return total * shape.chunks / shape.parts();
}

}  // namespace colltopo
