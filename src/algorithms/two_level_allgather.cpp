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

// One rank's part for one slice.
class Slice {
 public:
  Slice(const Shape& shape, Rank rank, const Leaders& leaders, Chunk slice, Interleaved& ops)
      : leaders_(leaders),
        groups_(leaders.groups()),
        stages_(leaders),
        chunks_(shape.chunks),
        slice_(slice),
        group_(groups_.group_of(rank)),
        leader_(leaders.leader_of(rank)),
        flock_(leaders.flock(group_, leader_)),
        place_(static_cast<Rank>(std::ranges::find(flock_, rank) - flock_.begin())),
        begin_(slice * stages_.longest()),
        ops_(ops) {}

  void add() {
    up();
    if (place_ == 0) {
      for (Rank which = leader_; which < leaders_.classes(); which += leaders_.of(group_)) between(which);
      among();
    }
    down();
  }

 private:
  Runs blocks(std::vector<Rank> ranks) const {
    if (!std::ranges::is_sorted(ranks)) std::ranges::sort(ranks);
    Runs runs;
    runs.reserve(ranks.size());
    for (const Rank rank : ranks) runs.push_back({Buffer::output, rank * chunks_ + slice_, 1});
    return runs;
  }
  std::vector<Rank> flock_part(Rank place, Rank count) const {
    return {flock_.begin() + place, flock_.begin() + place + count};
  }
  Rank in_flock(Rank place) const { return flock_[static_cast<std::size_t>(place)]; }

  // The tree of the flock backwards: what is at a place's subtree goes to its parent.
  void up() {
    const KnomialTree tree = leaders_.tree(static_cast<Rank>(flock_.size()), place_);
    const Step last = begin_ + tree.steps() + 1;
    tree.walk(
        [&](Step step, Rank parent) {
          ops_.send(last - step, blocks(flock_part(place_, tree.subtree(place_))), in_flock(parent));
        },
        [&](Step step, Rank child) {
          ops_.recv(last - step, blocks(flock_part(child, tree.subtree(child))), in_flock(child));
        });
  }

  // An allgather of groups (or leaders): `add_ranks(place, ranks)` adds those whose shards a place brings.
  template <typename AddRanks, typename RankAt>
  void gather_all(Rank places, Rank place, int radix, Step begin, AddRanks add_ranks, RankAt rank_at) {
    const Program program = bruck_allgather({Collective::allgather, places, 1, 0}, place, radix);
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.action == Action::copy) continue;
      std::vector<Rank> ranks;
      for (const Run& run : op.action == Action::send ? op.source : op.target)
        for (Chunk at = run.first; at < run.first + run.count; ++at) add_ranks(at, ranks);
      if (op.action == Action::send)
        ops_.send(begin + op.step, blocks(std::move(ranks)), rank_at(op.peer));
      else
        ops_.recv(begin + op.step, blocks(std::move(ranks)), rank_at(op.peer));
    }
  }

  void between(Rank which) {
    gather_all(
        groups_.groups(), group_, leaders_.radices().between, begin_ + stages_.up,
        [&](Rank group, std::vector<Rank>& ranks) { leaders_.add_members(group, which, ranks); },
        [&](Rank group) { return leaders_.carrier(group, which); });
  }

  void among() {
    gather_all(
        leaders_.of(group_), leader_, k_leaders_radix, begin_ + stages_.up + stages_.between,
        [&](Rank leader, std::vector<Rank>& ranks) {
          for (Rank which = leader; which < leaders_.classes(); which += leaders_.of(group_))
            for (Rank group = 0; group < groups_.groups(); ++group) leaders_.add_members(group, which, ranks);
        },
        [&](Rank leader) { return groups_.member(group_, leader); });
  }

  // A subtree gets all but what came from it.
  void down() {
    const KnomialTree tree = leaders_.tree(static_cast<Rank>(flock_.size()), place_);
    const Step begin = begin_ + stages_.up + stages_.between + stages_.among;
    const auto all_but = [&](Rank place) {
      const std::vector<Rank> own = flock_part(place, tree.subtree(place));
      std::vector<Rank> ranks;
      for (Rank rank = 0; rank < groups_.ranks(); ++rank)
        if (std::ranges::find(own, rank) == own.end()) ranks.push_back(rank);
      return blocks(std::move(ranks));
    };
    tree.walk([&](Step step, Rank parent) { ops_.recv(begin + step, all_but(place_), in_flock(parent)); },
              [&](Step step, Rank child) { ops_.send(begin + step, all_but(child), in_flock(child)); });
  }

  const Leaders& leaders_;
  const Groups& groups_;
  Stages stages_;
  Chunk chunks_, slice_;
  Rank group_, leader_;
  std::vector<Rank> flock_;
  Rank place_;  // in the flock
  Step begin_;
  Interleaved& ops_;
};

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
  Interleaved ops;
  for (Chunk slice = 0; slice < shape.chunks; ++slice) Slice(shape, rank, leaders, slice, ops).add();
  ops.add_to(program);
  return std::move(program).build();
}

Step two_level_allgather_steps(const Leaders& leaders, Chunk slices) {
  const Stages stages(leaders);
  return stages.all() + (slices - 1) * stages.longest();
}

}  // namespace colltopo
