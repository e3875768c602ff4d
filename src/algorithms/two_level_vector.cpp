// Bcast and allreduce of one vector on two levels.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "algorithms/bruck_allgather.h"
#include "algorithms/from_allgather.h"
#include "algorithms/recursive_doubling.h"
#include "algorithms/trees.h"
#include "algorithms/two_level.h"

namespace colltopo {

namespace {

// One rank's part of a bcast.
class Spread {
 public:
  Spread(const Shape& shape, Rank rank, const Leaders& leaders, Interleaved& ops)
      : leaders_(leaders),
        groups_(leaders.groups()),
        chunks_(shape.chunks),
        by_class_(shape.chunks / leaders.classes()),
        root_(shape.root),
        root_group_(groups_.group_of(root_)),
        rank_(rank),
        group_(groups_.group_of(rank)),
        whole_(leaders.classes() == 1),
        within_(between_steps(leaders)),
        ops_(ops) {}

  void add() {
    for (Rank which = 0; which < leaders_.classes(); ++which)
      if (carrier(group_, which) == rank_) between(which);
    if (group_ == root_group_) return in_root_group();
    const Rank leader = leaders_.leader_of(rank_);
    if (groups_.position_of(rank_) == leader) among(leader);
    down(leader);
  }

  static Step between_steps(const Leaders& leaders) {
    const Rank groups = leaders.groups().groups();
    return leaders.classes() == 1 ? steps_of_tree(groups, leaders.radices().between)
                                  : scatter_allgather_bcast_steps(groups);
  }
  static Step within_steps(const Leaders& leaders) {
    const Rank largest = leaders.groups().largest();
    if (leaders.classes() == 1) return leaders.tree(largest, 0).steps();
    return std::max(scatter_allgather_bcast_steps(largest),
                    bruck_allgather_steps(leaders.classes(), k_leaders_radix) + leaders.steps_of_trees());
  }

 private:
  Rank carrier(Rank group, Rank which) const { return group == root_group_ ? root_ : leaders_.carrier(group, which); }
  Buffer held() const { return rank_ == root_ ? Buffer::input : Buffer::output; }

  // Another program's messages, its chunk c being the chunks from first(c) up to first(c + 1).
  template <typename First, typename RankAt>
  void add(const Program& program, Step begin, First first, RankAt rank_at) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.action == Action::copy) continue;
      Runs runs;
      for (const Run& run : op.action == Action::send ? op.source : op.target)
        runs.push_back({held(), first(run.first), first(run.first + run.count) - first(run.first)});
      if (op.action == Action::send)
        ops_.send(begin + op.step, std::move(runs), rank_at(op.peer));
      else
        ops_.recv(begin + op.step, std::move(runs), rank_at(op.peer));
    }
  }

  void between(Rank which) {
    const Shape shape{Collective::bcast, groups_.groups(), by_class_, root_group_};
    add(
        whole_ ? along_tree(shape, group_, leaders_.radices().between) : scatter_allgather_bcast(shape, group_), 0,
        [&](Chunk c) { return which * by_class_ + c; }, [&](Rank group) { return carrier(group, which); });
  }

  // The root has everything: its group gets it from there, in as many parts as it has ranks.
  void in_root_group() {
    const Rank size = groups_.size(group_);
    const Shape shape{Collective::bcast, size, whole_ ? 1 : size, groups_.position_of(root_)};
    const Rank position = groups_.position_of(rank_);
    add(
        whole_ ? along_tree(shape, position, leaders_.radices().within) : scatter_allgather_bcast(shape, position),
        within_, [&](Chunk c) { return static_cast<Chunk>(std::int64_t{chunks_} * c / shape.chunks); },
        [&](Rank other) { return groups_.member(group_, other); });
  }

  // Chunks of the classes that a leader carries.
  Runs carried(Rank leader) const {
    Runs runs;
    for (Rank which = leader; which < leaders_.classes(); which += leaders_.of(group_))
      runs.push_back({Buffer::output, which * by_class_, by_class_});
    return runs;
  }

  void among(Rank leader) {
    const Program program =
        bruck_allgather({Collective::allgather, leaders_.of(group_), 1, 0}, leader, k_leaders_radix);
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.action == Action::copy) continue;
      Runs runs;
      for (const Run& run : op.action == Action::send ? op.source : op.target)
        for (Chunk at = run.first; at < run.first + run.count; ++at)
          for (const Run& part : carried(at)) runs.push_back(part);
      if (op.action == Action::send)
        ops_.send(within_ + op.step, std::move(runs), groups_.member(group_, op.peer));
      else
        ops_.recv(within_ + op.step, std::move(runs), groups_.member(group_, op.peer));
    }
  }

  void down(Rank leader) {
    const std::vector<Rank> flock = leaders_.flock(group_, leader);
    const KnomialTree tree = leaders_.tree(static_cast<Rank>(flock.size()),
                                           static_cast<Rank>(std::ranges::find(flock, rank_) - flock.begin()));
    const Step begin = within_ + bruck_allgather_steps(leaders_.classes(), k_leaders_radix);
    const Runs all = {{Buffer::output, 0, chunks_}};
    tree.walk([&](Step step, Rank parent) { ops_.recv(begin + step, all, flock[static_cast<std::size_t>(parent)]); },
              [&](Step step, Rank child) { ops_.send(begin + step, all, flock[static_cast<std::size_t>(child)]); });
  }

  const Leaders& leaders_;
  const Groups& groups_;
  Chunk chunks_, by_class_;
  Rank root_, root_group_, rank_, group_;
  bool whole_;
  Step within_;
  Interleaved& ops_;
};

}  // namespace

Program two_level_bcast(const Shape& shape, Rank rank, const Leaders& leaders) {
  ProgramBuilder program(shape, rank);
  Interleaved ops;
  Spread(shape, rank, leaders, ops).add();
  ops.add_to(program);
  return std::move(program).build();
}

Chunk two_level_bcast_chunks(const Leaders& leaders) {
  if (leaders.classes() == 1) return 1;
  const std::int64_t chunks = std::int64_t{leaders.classes()} * leaders.groups().groups();
  return static_cast<Chunk>(std::min<std::int64_t>(chunks, std::numeric_limits<Chunk>::max()));
}

Step two_level_bcast_steps(const Leaders& leaders) {
  return Spread::between_steps(leaders) + Spread::within_steps(leaders);
}

namespace {

constexpr Chunk k_banks_within = 3;  // vectors in scratch: a leader's own, and two that arrive in turn

Program allreduce_of_leaders(const Shape& shape, Rank rank, Between how, int radix) {
  if (how == Between::whole) return recursive_multiplying_allreduce(shape, rank, radix);
  return from_allgather(shape.collective, bruck_allgather(allgather_shape(shape), rank, radix),
                        bruck_allgather_steps(shape.ranks, radix));
}

Step steps_of_leaders(const Leaders& leaders, Between how) {
  const Rank groups = leaders.groups().groups();
  const int radix = leaders.radices().between;
  return how == Between::whole ? recursive_multiplying_allreduce_steps(groups, radix)
                               : steps_from_allgather(Collective::allreduce, bruck_allgather_steps(groups, radix));
}

}  // namespace

Program two_level_allreduce(const Shape& shape, Rank rank, const Leaders& leaders, Between how) {
  const Groups& groups = leaders.groups();
  const Chunk whole = shape.whole();
  const auto slot = [&](Chunk number) { return Runs{{Buffer::scratch, number * whole, whole}}; };
  const Runs input = {{Buffer::input, 0, whole}}, output = {{Buffer::output, 0, whole}};
  const Rank group = groups.group_of(rank);
  const KnomialTree tree = leaders.tree(groups.size(group), groups.position_of(rank));
  const Step up = leaders.steps_of_trees();
  const auto member = [&](Rank place) { return groups.member(group, place); };

  ProgramBuilder program(shape, rank);
  const bool alone = tree.subtree(tree.place()) == 1;  // nobody sends to it
  if (!alone) program.copy(input, slot(0));
  // Two slots in turn: a receive need not wait for the reduction before it.
  struct Edge {
    Step step;
    Rank peer;
  };
  std::vector<Edge> children;
  Edge parent{0, 0};
  tree.walk(
      [&](Step step, Rank peer) {
        parent = {step, peer};
      },
      [&](Step step, Rank peer) {
        children.push_back({step, peer});
      });
  for (std::size_t i = children.size(); i-- > 0;) {
    const Runs arrived = slot(1 + static_cast<Chunk>(i % 2));
    program.step(tree.steps() + 1 - children[i].step).recv(arrived, member(children[i].peer));
    program.reduce(arrived, slot(0));
  }
  Step between = 0;
  if (tree.place() > 0) {
    program.step(tree.steps() + 1 - parent.step).send(alone ? input : slot(0), member(parent.peer));
  } else {
    // Of the leaders' program, whose input is what the group has: slot 0, or this rank's own. Each of its chunks is the
    // same number of ours, or all that it names are whole vectors.
    const Shape of_leaders{Collective::allreduce, groups.groups(), 1, 0};
    const Program across = allreduce_of_leaders(of_leaders, group, how, leaders.radices().between);
    const auto scaled = [&](Chunk c) { return static_cast<Chunk>(std::int64_t{c} * whole / of_leaders.whole()); };
    const auto placed = [&](std::span<const Run> runs) {
      Runs all;
      for (const Run& run : runs) {
        const bool in_slot_0 = run.buffer == Buffer::input && !alone;
        const Chunk from = run.buffer == Buffer::scratch ? k_banks_within * whole : 0;
        all.push_back({in_slot_0 ? Buffer::scratch : run.buffer, from + scaled(run.first), scaled(run.count)});
      }
      return all;
    };
    for (std::size_t i = 0; i < across.size(); ++i) {
      Op op = across.op(i);
      op.step += up;
      if (op.action == Action::send || op.action == Action::recv) op.peer = groups.member(op.peer, 0);
      const Runs source = placed(op.source), target = placed(op.target);
      program.add(op, source, target);
    }
  }
  between = up + steps_of_leaders(leaders, how);
  if (tree.place() > 0) program.step(between + parent.step).recv(output, member(parent.peer));
  for (const Edge& child : children) program.step(between + child.step).send(output, member(child.peer));
  return std::move(program).build();
}

int two_level_allreduce_radix(const Shape& shape, const Groups& groups) {
  const Shape of_leaders{Collective::allreduce, groups.groups(), 1, 0};
  return std::min(largest_multiplying_radix(of_leaders), largest_multiplying_radix(shape, k_banks_within));
}

Step two_level_allreduce_steps(const Leaders& leaders, Between how) {
  return 2 * leaders.steps_of_trees() + steps_of_leaders(leaders, how);
}

}  // namespace colltopo
