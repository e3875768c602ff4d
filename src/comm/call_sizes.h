// What a call says of sizes, in the terms of plans and decisions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "colltopo/colltopo.h"
#include "colltopo/layout.h"

namespace colltopo {

/// Elements.
std::size_t largest_shard(const colltopo_call& call, Rank ranks);

std::span<const std::size_t> counts_of(const colltopo_call& call, Rank ranks);

/// The shards of a call of one of MPI's v and w forms.
UnevenShards shards_of(Collective collective, const colltopo_call& call, Rank rank, Rank ranks,
                       std::size_t whole_below);

/// Bytes by which a call is decided: equal on all ranks. 0 where a size is known to two ranks alone.
std::size_t decisive_bytes(Collective collective, const colltopo_call& call, Rank ranks);

/// Bytes of a shard as counters have them: of several sizes the mean of this rank's.
std::size_t counted_bytes(Collective collective, const colltopo_call& call, Rank ranks);

/// Whether two calls have equal counts and blocks, of which the second's are `kept` by keep_sizes().
bool same_sizes(Collective collective, const colltopo_call& call, Rank rank, Rank ranks,
                const std::vector<std::size_t>& kept) noexcept;
void keep_sizes(Collective collective, const colltopo_call& call, Rank rank, Rank ranks,
                std::vector<std::size_t>& kept);

}  // namespace colltopo
