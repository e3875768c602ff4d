// Programs of two levels, made of one for the ranks of a group and one for the groups.
//
// A group has leaders, its first ranks: as many as there may be, or as it has ranks. The classes of the work are as
// many as the largest group has leaders; in every group a class has a leader that carries it, so between groups each
// class runs among its carriers as if they were alone. With a leader per rank all ranks of a node use the network, each
// for its part; with one the messages are fewest.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/knomial_tree.h"
#include "colltopo/groups.h"
#include "colltopo/program.h"

namespace colltopo {

/// Of the allgathers among the leaders of a group, which any number of places can do with the least data.
constexpr int k_leaders_radix = 2;

/// Of the trees within groups, and of what is done between them.
struct RadicesOfLevels {
  int within, between;
};

/// Who carries what.
class Leaders {
 public:
  /// `most` leaders of a group; at least one.
  Leaders(const Groups& groups, Rank most, RadicesOfLevels radices);

  const Groups& groups() const { return groups_; }
  Rank classes() const { return classes_; }
  Rank of(Rank group) const { return std::min(classes_, groups_.size(group)); }
  Rank carrier(Rank group, Rank which) const { return groups_.member(group, which % of(group)); }
  Rank class_of(Rank rank) const { return groups_.position_of(rank) % classes_; }
  /// The ranks whose class a leader of a group carries, itself first.
  std::vector<Rank> flock(Rank group, Rank leader) const;
  Rank leader_of(Rank rank) const { return class_of(rank) % of(groups_.group_of(rank)); }
  Rank largest_flock() const { return largest_flock_; }
  RadicesOfLevels radices() const { return radices_; }
  /// Of a leader and its flock.
  KnomialTree tree(Rank size, Rank place) const { return {size, place, radices_.within}; }
  Step steps_of_trees() const { return tree(largest_flock_, 0).steps(); }
  /// Adds the ranks of a group in a class.
  void add_members(Rank group, Rank which, std::vector<Rank>& ranks) const;

 private:
  const Groups& groups_;
  Rank classes_, largest_flock_ = 1;
  RadicesOfLevels radices_;
};

/// Ops of several programs, put into one by their steps; those of a step stay in the order in which they came.
class Interleaved {
 public:
  void send(Step step, Runs runs, Rank peer) { ops_.push_back({step, Action::send, peer, std::move(runs)}); }
  void recv(Step step, Runs runs, Rank peer) { ops_.push_back({step, Action::recv, peer, std::move(runs)}); }
  void add_to(ProgramBuilder& program);

 private:
  struct Op {
    Step step;
    Action action;
    Rank peer;
    Runs runs;
  };
  std::vector<Op> ops_;
};

/// An allgather that derive.h can turn round: to the leaders, between groups, among a group's leaders, and on to their
/// flocks. A shard's chunks are slices: each goes through the levels behind the one before it.
Program two_level_allgather(const Shape& shape, Rank rank, const Leaders& leaders);
Step two_level_allgather_steps(const Leaders& leaders, Chunk slices);

/// From the root to all groups, whose leaders pass on what they carry. With several leaders the vector has a chunk for
/// each group and class. derive.h can turn it round.
Program two_level_bcast(const Shape& shape, Rank rank, const Leaders& leaders);
Chunk two_level_bcast_chunks(const Leaders& leaders);
Step two_level_bcast_steps(const Leaders& leaders);

/// Whole vectors within groups: to one leader of each, all-reduced between these, and back. Leaders exchange whole
/// vectors, for small ones, or halve them: then the vector's chunks must be a multiple of the groups.
enum class Between { whole, halving };
Program two_level_allreduce(const Shape& shape, Rank rank, const Leaders& leaders, Between how);
Step two_level_allreduce_steps(const Leaders& leaders, Between how);
/// The largest radix between groups of whole vectors that find room in scratch.
int two_level_allreduce_radix(const Shape& shape, const Groups& groups);

/// Scatter and gather (hand_out.cpp), along trees of both levels.
Program two_level_hand_out(const Shape& shape, Rank rank, const Groups& groups, RadicesOfLevels radices);
Step two_level_hand_out_steps(const Groups& groups, RadicesOfLevels radices);

}  // namespace colltopo
