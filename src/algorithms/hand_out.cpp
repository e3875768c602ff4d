// Shards handed out by the root along a tree (scatter) or collected by it (gather, the same backwards).
//
// A rank's branch is the list of ranks whose shards pass it, itself first, such that those of a child follow each
// other: what a child gets is one run. On the way shards lie in scratch by their place in the branch; the root has them
// by rank and its runs are as many as the list has breaks. Linear is a tree of one level. Two-level hands a group's
// shards to its first rank along a k-nomial tree of groups and on along one within each group, so that every
// shard crosses between groups once; the root stands for its own group.

#include "algorithms/hand_out.h"

#include "algorithms/knomial_tree.h"
#include "algorithms/two_level.h"
#include "colltopo/derive.h"
#include "colltopo/groups.h"

namespace colltopo {

namespace {

struct Edge {
  Step step = 0;
  Rank peer = 0;
  Chunk first = 0, count = 0;  // of the branch
};

struct Branch {
  std::vector<Rank> ranks;  // of the root's branch all; others need their number alone
  Chunk size = 1;
  Edge parent;                 // no step: the root
  std::vector<Edge> children;  // in the order of steps
  Step steps = 0;              // of the tree
};

Program scatter_along(const Shape& shape, Rank rank, const Branch& branch) {
  const Chunk c = shape.chunks;
  ProgramBuilder program(shape, rank);
  if (rank == shape.root) {
    program.copy({{Buffer::input, rank * c, c}}, {{Buffer::output, 0, c}});
  } else {
    program.step(branch.parent.step)
        .recv({{Buffer::output, 0, c}, {Buffer::scratch, 0, (branch.size - 1) * c}}, branch.parent.peer);
  }
  for (const Edge& child : branch.children) {
    Runs runs;
    if (rank == shape.root) {
      for (Chunk i = child.first; i < child.first + child.count; ++i)
        runs.push_back({Buffer::input, branch.ranks[static_cast<std::size_t>(i)] * c, c});
    } else {
      runs.push_back({Buffer::scratch, (child.first - 1) * c, child.count * c});
    }
    program.step(child.step).send(runs, child.peer);
  }
  return std::move(program).build();
}

Program along_branch(const Shape& shape, Rank rank, const Branch& branch) {
  const Program scatter = scatter_along({Collective::scatter, shape.ranks, shape.chunks, shape.root}, rank, branch);
  return shape.collective == Collective::scatter ? scatter : gather_from(scatter, branch.steps);
}

Rank from_root(const Shape& shape, Rank place) { return (shape.root + place) % shape.ranks; }

Branch two_level_branch(const Shape& shape, Rank rank, const Groups& groups, RadicesOfLevels radices) {
  const Rank count = groups.groups(), root_group = groups.group_of(shape.root);
  const auto group_at = [&](Rank place) { return (root_group + place) % count; };
  const auto first_position = [&](Rank group) { return group == root_group ? groups.position_of(shape.root) : 0; };
  const auto member = [&](Rank group, Rank place) {
    return groups.member(group, (first_position(group) + place) % groups.size(group));
  };
  const Rank group = groups.group_of(rank), size = groups.size(group);
  const KnomialTree within(size, (groups.position_of(rank) - first_position(group) + size) % size, radices.within);
  const KnomialTree between(count, (group - root_group + count) % count, radices.between);
  // Shards of the groups at so many places from `place` on.
  const auto shards_of = [&](Rank place, Rank places) {
    Chunk sum = 0;
    for (Rank p = place; p < place + places; ++p) sum += groups.size(group_at(p));
    return sum;
  };

  Branch branch;
  branch.steps = two_level_hand_out_steps(groups, radices);
  branch.size = within.subtree(within.place());
  if (within.place() == 0) {
    branch.size = shards_of(between.place(), between.subtree(between.place()));
    between.walk(
        [&](Step step, Rank parent) {
          branch.parent = {step, member(group_at(parent), 0), 0, branch.size};
        },
        [&](Step step, Rank child) {
          branch.children.push_back({step, member(group_at(child), 0),
                                     shards_of(between.place(), child - between.place()),
                                     shards_of(child, between.subtree(child))});
        });
  }
  within.walk(
      [&](Step step, Rank parent) {
        branch.parent = {between.steps() + step, member(group, parent), 0, branch.size};
      },
      [&](Step step, Rank child) {
        branch.children.push_back(
            {between.steps() + step, member(group, child), child - within.place(), within.subtree(child)});
      });
  if (rank != shape.root) return branch;
  for (Rank place = 0; place < count; ++place)
    for (Rank i = 0; i < groups.size(group_at(place)); ++i) branch.ranks.push_back(member(group_at(place), i));
  return branch;
}

}  // namespace

Program knomial_hand_out(const Shape& shape, Rank rank, int radix) {
  const KnomialTree tree(shape.ranks, (rank - shape.root + shape.ranks) % shape.ranks, radix);
  Branch branch;
  branch.steps = tree.steps();
  branch.size = tree.subtree(tree.place());
  tree.walk(
      [&](Step step, Rank parent) {
        branch.parent = {step, from_root(shape, parent), 0, branch.size};
      },
      [&](Step step, Rank child) {
        branch.children.push_back({step, from_root(shape, child), child - tree.place(), tree.subtree(child)});
      });
  if (rank == shape.root)
    for (Rank place = 0; place < shape.ranks; ++place) branch.ranks.push_back(from_root(shape, place));
  return along_branch(shape, rank, branch);
}

Program two_level_hand_out(const Shape& shape, Rank rank, const Groups& groups, RadicesOfLevels radices) {
  return along_branch(shape, rank, two_level_branch(shape, rank, groups, radices));
}

Step two_level_hand_out_steps(const Groups& groups, RadicesOfLevels radices) {
  return KnomialTree(groups.groups(), 0, radices.between).steps() +
         KnomialTree(groups.largest(), 0, radices.within).steps();
}

}  // namespace colltopo
