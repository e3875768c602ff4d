// The 64-bit tag of a message on lanes. UCX keeps no order between lanes, so a tag names its message: communicator,
// source, and how many messages of this communicator the source had sent to the target before. The k-th send to a peer
// thus meets the k-th receive from it, whatever lane each takes.
//
//   bit 63        1: a message that tries an endpoint, 0: data
//   bit 62        1: data of an operation, 0: of a call that blocks
//   bit 61        1: of an operation that begins again and again, whose tag is from the time when it was made
//   bits 60..43   number of the communicator, equal on its ranks and unlike any other that one of them is in
//   bits 42..23   rank of the source
//   bits 22..0    sequence number, which wraps: two messages of a pair could be taken for one another only with 2^23 of
//                 them under way between the two. Of an operation, the low bits of the tag that it has among MPI's
//                 messages: a lane keeps the order of equal tags, and both ends take the same lane
#pragma once

#include <cstdint>

#include "colltopo/shape.h"

namespace colltopo {

inline constexpr int k_tag_sequence_bits = 23;
inline constexpr int k_tag_rank_bits = 20;
inline constexpr int k_tag_number_bits = 18;

inline constexpr Rank k_most_tagged_ranks = Rank{1} << k_tag_rank_bits;
inline constexpr std::int32_t k_most_tagged_communicators = std::int32_t{1} << k_tag_number_bits;

constexpr std::uint64_t message_tag(std::int32_t communicator, Rank source, std::uint32_t sequence) {
  constexpr std::uint32_t k_sequence_mask = (1u << k_tag_sequence_bits) - 1;
  return static_cast<std::uint64_t>(communicator) << (k_tag_sequence_bits + k_tag_rank_bits) |
         static_cast<std::uint64_t>(source) << k_tag_sequence_bits | (sequence & k_sequence_mask);
}

constexpr std::uint64_t operation_tag(std::int32_t communicator, Rank source, int tag, bool again) {
  return std::uint64_t{1} << 62 | std::uint64_t{again} << 61 |
         message_tag(communicator, source, static_cast<std::uint32_t>(tag));
}

constexpr std::uint64_t trial_tag(std::int32_t communicator, Rank source, Lane lane) {
  return std::uint64_t{1} << 63 | message_tag(communicator, source, static_cast<std::uint32_t>(lane));
}

}  // namespace colltopo
