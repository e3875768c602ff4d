// From shares of a shard to whole chunks (Basu et al., section 4): one number of chunks per shard for the whole
// schedule.
//
// When all weights are multiples of 1/C for a C that is not too large, C is that of their highest common factor, and
// nothing is lost. Otherwise every path gets whole chunks near its share, such that the busiest link stays as free as
// can be: the smallest C that loses nothing worth mentioning, or that which loses least.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "colltopo/demand.h"
#include "colltopo/routing.h"
#include "colltopo/shape.h"

namespace colltopo {

/// A loss of time below this counts as none: schedules of fewer chunks are preferred to it.
inline constexpr double k_negligible_loss = 1e-3;

/// Chunks per shard that are tried where nobody says: beyond it, shards of usual sizes have few elements per chunk.
inline constexpr Chunk k_most_chunks_default = 64;

/// The paths of all pairs and what each of them loads: links, or links at steps (time-stepped flow).
struct Shares {
  std::vector<std::size_t> first_path{0};                // [pair] into weights, and the end
  std::vector<double> weights;                           // [path] those of a pair sum to 1
  std::vector<std::span<const std::int32_t>> resources;  // [path] each as often as the path loads it
  std::vector<double> capacity;                          // [resource]
  std::vector<std::int32_t> step;  // [resource] from 0; steps follow each other. Empty: all at the same time
  std::vector<double> demand;      // [pair] what its whole shard loads; empty: one unit each

  /// Ends a pair whose paths have been added.
  void end_pair() { first_path.push_back(weights.size()); }
};

/// Whole chunks for every path.
struct ChunkCounts {
  Chunk chunks = 1;           // per shard
  std::vector<Chunk> counts;  // [path] those of a pair sum to `chunks`
  double time_before = 0;     // with the weights: the sum over steps of the largest load over capacity
  double time = 0;            // with counts / chunks

  double loss() const { return time_before > 0 ? time / time_before - 1 : 0; }
};

/// At most `most` chunks per shard, or exactly `most` when `exactly`; the fewest that lose no more than `loss`. Throws
/// Error when `most` is less than 1 or a pair's weights do not sum to 1. Tries all small numbers, then steps of a
/// fifth: O(log(most)) of them, each a rounding in O(resources of all paths) and moves of single chunks off the busiest
/// resource while that helps.
ChunkCounts whole_chunks(const Shares& shares, Chunk most, bool exactly = false, double loss = k_negligible_loss);

/// The smallest C <= most of which all weights are multiples of 1/C, within rounding; 0: there is none.
Chunk common_chunks(std::span<const double> weights, Chunk most);

struct Chunked {
  Chunk chunks = 1;
  Routing routing;         // weights are multiples of 1/chunks; paths of no chunks are gone
  double time_before = 0;  // of the routing that was given
  double time = 0;

  double loss() const { return time_before > 0 ? time / time_before - 1 : 0; }
};

/// `loss`: what may be lost for the sake of fewer chunks. Times are those of `demand` where it is given.
Chunked chunked(const Topology& topology, const Routing& routing, Chunk most = k_most_chunks_default,
                double loss = k_negligible_loss, const Demand* demand = nullptr);

}  // namespace colltopo
