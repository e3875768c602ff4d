// From "chunk c is at node v after step t" to programs.
#pragma once

#include <span>
#include <vector>

#include "colltopo/schedule.h"

namespace colltopo {

/// Chunk `chunk` of the shard that `origin` has for `destination` moves from rank `from` to rank `to` in `step`.
/// For allgather `destination` is not used.
struct Transfer {
  Step step = 1;
  Rank from = 0;
  Rank to = 0;
  Rank origin = 0;
  Rank destination = 0;
  Chunk chunk = 0;
  Lane lane = 0;

  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// Programs of alltoall or allgather that carry out the transfers, in the order of their steps: one message per
/// (step, from, to, lane), scratch for chunks in transit, own shard copied. A chunk that leaves a rank in the same step
/// in which it arrives, that is sent from where it is not, or that arrives twice throws Error naming the transfer.
Schedule lower(std::string name, const Shape& shape, std::vector<Transfer> transfers);

}  // namespace colltopo
