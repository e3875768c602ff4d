#include <algorithm>

#include "algorithms/bruck_allgather.h"
#include "algorithms/two_level.h"

namespace colltopo {

namespace {

struct Stages {
  explicit Stages(const Leaders& leaders)
      : up(leaders.steps_of_trees()),
        between(bruck_allgather_steps(leaders.groups().groups(), leaders.radices().between)),
        among(bruck_allgather_steps(leaders.classes(), k_leaders_radix)) {}

  /// Of one slice; of those that follow it, each begins so many steps later.
  Step all() const { return up + between + among + up; }
  Step longest() const { return std::max({Step{1}, up, between, among + up}); }

  Step up, between, among;
};

/// Ranks that follow each other.
struct Stretch {
  Rank first, count;
};
using Stretches = std::vector<Stretch>;  // increasing

Stretches stretches_of(std::vector<Rank> ranks) {
  if (!std::ranges::is_sorted(ranks)) std::ranges::sort(ranks);
  Stretches all;
  for (const Rank rank : ranks) {
    if (!all.empty() && all.back().first + all.back().count == rank)
      ++all.back().count;
    else
      all.push_back({rank, 1});
  }
  return all;
}

Stretches all_but(const Stretches& some, Rank ranks) {
  Stretches others;
  Rank next = 0;
  for (const auto& [first, count] : some) {
    if (first > next) others.push_back({next, first - next});
    next = first + count;
  }
  if (ranks > next) others.push_back({next, ranks - next});
  return others;
}

/// A message, of the shards of some ranks.
struct Message {
  Step step;
  Action action;
  Rank peer;
  Stretches ranks;
};

// One rank's messages for one slice, the same for all of them.
class Slice {
 public:
  Slice(Rank rank, const Leaders& leaders)
      : leaders_(leaders),
        groups_(leaders.groups()),
        stages_(leaders),
        group_(groups_.group_of(rank)),
        leader_(leaders.leader_of(rank)),
        flock_(leaders.flock(group_, leader_)),
        place_(static_cast<Rank>(std::ranges::find(flock_, rank) - flock_.begin())) {}

  std::vector<Message> messages() && {
    up();
    if (place_ == 0) {
      for (Rank which = leader_; which < leaders_.classes(); which += leaders_.of(group_)) between(which);
      among();
    }
    down();
    return std::move(messages_);
  }

 private:
  void send(Step step, Stretches ranks, Rank peer) {
    messages_.push_back({step, Action::send, peer, std::move(ranks)});
  }
  void recv(Step step, Stretches ranks, Rank peer) {
    messages_.push_back({step, Action::recv, peer, std::move(ranks)});
  }
  Stretches flock_part(Rank place, Rank count) const {
    return stretches_of({flock_.begin() + place, flock_.begin() + place + count});
  }
  Rank in_flock(Rank place) const { return flock_[static_cast<std::size_t>(place)]; }

  // The tree of the flock backwards: what is at a place's subtree goes to its parent.
  void up() {
    const KnomialTree tree = leaders_.tree(static_cast<Rank>(flock_.size()), place_);
    const Step last = tree.steps() + 1;
    tree.walk(
        [&](Step step, Rank parent) { send(last - step, flock_part(place_, tree.subtree(place_)), in_flock(parent)); },
        [&](Step step, Rank child) { recv(last - step, flock_part(child, tree.subtree(child)), in_flock(child)); });
  }

  // An allgather of groups (or leaders): `ranks_of(places)` are those whose shards these places bring.
  template <typename RanksOf, typename RankAt>
  void gather_all(Rank places, Rank place, int radix, Step begin, RanksOf ranks_of, RankAt rank_at) {
    const Program program = bruck_allgather({Collective::allgather, places, 1, 0}, place, radix);
    std::vector<Rank> brought;
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.action == Action::copy) continue;
      brought.clear();
      for (const Run& run : op.action == Action::send ? op.source : op.target)
        for (Chunk at = run.first; at < run.first + run.count; ++at) brought.push_back(at);
      if (!std::ranges::is_sorted(brought)) std::ranges::sort(brought);
      messages_.push_back({begin + op.step, op.action, rank_at(op.peer), stretches_of(ranks_of(brought))});
    }
  }

  void between(Rank which) {
    gather_all(
        groups_.groups(), group_, leaders_.radices().between, stages_.up,
        [&](const std::vector<Rank>& groups) {
          std::vector<Rank> ranks;
          for (const Rank group : groups) leaders_.add_members(group, which, ranks);
          return ranks;
        },
        [&](Rank group) { return leaders_.carrier(group, which); });
  }

  void among() {
    gather_all(
        leaders_.of(group_), leader_, k_leaders_radix, stages_.up + stages_.between,
        [&](const std::vector<Rank>& leaders) {
          std::vector<Rank> ranks;
          for (Rank group = 0; group < groups_.groups(); ++group)
            for (const Rank leader : leaders)
              for (Rank which = leader; which < leaders_.classes(); which += leaders_.of(group_))
                leaders_.add_members(group, which, ranks);
          return ranks;
        },
        [&](Rank leader) { return groups_.member(group_, leader); });
  }

  // A subtree gets all but what came from it.
  void down() {
    const KnomialTree tree = leaders_.tree(static_cast<Rank>(flock_.size()), place_);
    const Step begin = stages_.up + stages_.between + stages_.among;
    const auto others = [&](Rank place) { return all_but(flock_part(place, tree.subtree(place)), groups_.ranks()); };
    tree.walk([&](Step step, Rank parent) { recv(begin + step, others(place_), in_flock(parent)); },
              [&](Step step, Rank child) { send(begin + step, others(child), in_flock(child)); });
  }

  const Leaders& leaders_;
  const Groups& groups_;
  Stages stages_;
  Rank group_, leader_;
  std::vector<Rank> flock_;
  Rank place_;  // in the flock
  std::vector<Message> messages_;
};

// The slice's chunks of the shards of such ranks.
Runs blocks(const Stretches& ranks, Chunk chunks, Chunk slice) {
  Runs runs;
  if (chunks == 1) {
    runs.reserve(ranks.size());
    for (const auto& [first, count] : ranks) runs.push_back({Buffer::output, first, count});
    return runs;
  }
  for (const auto& [first, count] : ranks)
    for (Rank rank = first; rank < first + count; ++rank) runs.push_back({Buffer::output, rank * chunks + slice, 1});
  return runs;
}

}  // namespace

Leaders::Leaders(const Groups& groups, Rank most, RadicesOfLevels radices)
    : groups_(groups), classes_(std::clamp(most, 1, groups.largest())), radices_(radices) {
  // No leader's flock is larger than the first one's, and groups of a size have flocks of a size.
  for (Rank group = 0; group < groups.groups(); ++group) {
    if (group > 0 && groups.size(group) == groups.size(group - 1)) continue;
    largest_flock_ = std::max(largest_flock_, static_cast<Rank>(flock(group, 0).size()));
  }
}

std::vector<Rank> Leaders::flock(Rank group, Rank leader) const {
  std::vector<Rank> ranks;
  for (Rank position = 0; position < groups_.size(group); ++position)
    if (position % classes_ % of(group) == leader) ranks.push_back(groups_.member(group, position));
  return ranks;
}

void Leaders::add_members(Rank group, Rank which, std::vector<Rank>& ranks) const {
  for (Rank position = which; position < groups_.size(group); position += classes_)
    ranks.push_back(groups_.member(group, position));
}

void Interleaved::add_to(ProgramBuilder& program) {
  std::ranges::stable_sort(ops_, {}, &Op::step);
  for (const Op& op : ops_) {
    program.step(op.step);
    if (op.action == Action::send)
      program.send(op.runs, op.peer);
    else
      program.recv(op.runs, op.peer);
  }
}

Program two_level_allgather(const Shape& shape, Rank rank, const Leaders& leaders) {
  ProgramBuilder program(shape, rank);
  program.copy({{Buffer::input, 0, shape.chunks}}, {{Buffer::output, rank * shape.chunks, shape.chunks}});
  const std::vector<Message> messages = Slice(rank, leaders).messages();
  const Step apart = Stages(leaders).longest();
  Interleaved ops;
  for (Chunk slice = 0; slice < shape.chunks; ++slice) {
    for (const Message& message : messages) {
      const Step step = slice * apart + message.step;
      if (message.action == Action::send)
        ops.send(step, blocks(message.ranks, shape.chunks, slice), message.peer);
      else
        ops.recv(step, blocks(message.ranks, shape.chunks, slice), message.peer);
    }
  }
  ops.add_to(program);
  return std::move(program).build();
}

Step two_level_allgather_steps(const Leaders& leaders, Chunk slices) {
  const Stages stages(leaders);
  return stages.all() + (slices - 1) * stages.longest();
}

}  // namespace colltopo
