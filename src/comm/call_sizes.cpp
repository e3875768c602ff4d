#include "comm/call_sizes.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace colltopo {

namespace {

// The ranks that have a side of blocks.
bool has_blocks(const Content& content, const colltopo_call& call, Rank rank) {
  return content.holds == Holds::shards && (content.holders == Holders::everyone || rank == call.root);
}

Blocks blocks_of(const Content& content, const colltopo_call& call, Rank rank, Rank ranks, const std::size_t* bytes,
                 const std::size_t* at) {
  if (!has_blocks(content, call, rank)) return {};
  return {{bytes, static_cast<std::size_t>(ranks)}, {at, static_cast<std::size_t>(ranks)}};
}

// What a call refers to, in an order of its own.
std::array<std::span<const std::size_t>, 4> all_sizes(Collective collective, const colltopo_call& call, Rank rank,
                                                      Rank ranks) {
  if (call.blocks == nullptr) return {counts_of(call, ranks)};
  const UnevenShards shards = shards_of(collective, call, rank, ranks, 0);
  return {shards.input.bytes, shards.input.at, shards.output.bytes, shards.output.at};
}

std::size_t mean(std::span<const std::size_t> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}) / std::max<std::size_t>(bytes.size(), 1);
}

}  // namespace

std::span<const std::size_t> counts_of(const colltopo_call& call, Rank ranks) {
  return call.counts == nullptr ? std::span<const std::size_t>{}
                                : std::span(call.counts, static_cast<std::size_t>(ranks));
}

std::size_t largest_shard(const colltopo_call& call, Rank ranks) {
  return call.counts == nullptr ? call.count : *std::max_element(call.counts, call.counts + ranks);
}

UnevenShards shards_of(Collective collective, const colltopo_call& call, Rank rank, Rank ranks,
                       std::size_t whole_below) {
  const CollectiveRow& row = colltopo::row(collective);
  const colltopo_blocks& blocks = *call.blocks;
  UnevenShards shards;
  shards.given = true;
  shards.input = blocks_of(row.input, call, rank, ranks, blocks.input_bytes, blocks.input_at);
  shards.output = blocks_of(row.output, call, rank, ranks, blocks.output_bytes, blocks.output_at);
  if (row.input.holds == Holds::shard || row.output.holds == Holds::shard)
    shards.own = row.sizes == Sizes::of_ranks ? shards.output.bytes[static_cast<std::size_t>(rank)] : call.count;
  if (row.sizes == Sizes::of_messages) shards.whole_below = whole_below;
  return shards;
}

std::size_t decisive_bytes(Collective collective, const colltopo_call& call, Rank ranks) {
  if (call.blocks == nullptr) return largest_shard(call, ranks) * call.element_size;
  if (row(collective).sizes == Sizes::of_messages) return 0;
  return mean({call.blocks->output_bytes, static_cast<std::size_t>(ranks)});
}

std::size_t counted_bytes(Collective collective, const colltopo_call& call, Rank ranks) {
  if (call.blocks == nullptr || row(collective).sizes == Sizes::of_ranks)
    return decisive_bytes(collective, call, ranks);
  const bool alltoall = scheduled(collective) == Collective::alltoall;
  return alltoall ? mean({call.blocks->input_bytes, static_cast<std::size_t>(ranks)}) : call.count;
}

bool same_sizes(Collective collective, const colltopo_call& call, Rank rank, Rank ranks,
                const std::vector<std::size_t>& kept) noexcept {
  auto at = kept.begin();
  for (const auto sizes : all_sizes(collective, call, rank, ranks)) {
    if (static_cast<std::size_t>(kept.end() - at) < sizes.size()) return false;
    if (!std::equal(sizes.begin(), sizes.end(), at)) return false;
    at += static_cast<std::ptrdiff_t>(sizes.size());
  }
  return at == kept.end();
}

void keep_sizes(Collective collective, const colltopo_call& call, Rank rank, Rank ranks,
                std::vector<std::size_t>& kept) {
  kept.clear();
  for (const auto sizes : all_sizes(collective, call, rank, ranks)) kept.insert(kept.end(), sizes.begin(), sizes.end());
}

}  // namespace colltopo
