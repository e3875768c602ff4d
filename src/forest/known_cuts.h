// Cuts that must not become too narrow while trees are packed, and what each still has to spare.
//
// The rest of a packing exists as long as every set S has as much capacity out of it as trees whose hosts so far all
// lie in S (Zhao et al., equation 3). A tree that crosses out of S once costs nothing: it was counted. What crosses
// again, or crosses though its root is outside, takes from what S has to spare.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "forest/max_flow.h"

namespace colltopo {

class KnownCuts {
 public:
  KnownCuts(NodeId hosts, std::span<const CapacityEdge> edges) : hosts_(hosts), edges_(edges) {}

  /// `residual`: [edge]; `left`: [host] trees not packed yet, of which the one in growth, if any, is one. Only between
  /// trees. A cut that is known already is not added twice.
  void add(const std::vector<bool>& inside, std::span<const Capacity> residual, std::span<const Capacity> left);

  void start(NodeId root);
  /// How many trees alike may take the edge.
  Capacity allowed(NodeId tail, NodeId head) const;
  void grow(NodeId tail, NodeId head);
  /// So many trees alike are done.
  void finish(Capacity trees);

  /// To return to.
  const std::vector<Capacity>& spare() const { return spare_; }
  /// Cuts added since are worked out anew.
  void restore(const std::vector<Capacity>& spare, std::span<const Capacity> residual, std::span<const Capacity> left);

  static constexpr Capacity k_any = INT64_MAX;

 private:
  using Word = std::uint64_t;
  std::size_t words() const { return (spare_.size() + 63) / 64; }
  bool is_inside(std::size_t cut, NodeId host) const {
    return (of_host_[cut / 64][static_cast<std::size_t>(host)] >> (cut % 64) & 1) != 0;
  }
  Capacity spare_of(std::size_t cut, std::span<const Capacity> residual, std::span<const Capacity> left) const;

  NodeId hosts_;
  std::span<const CapacityEdge> edges_;
  std::vector<std::vector<Word>> of_host_;  // [cut / 64][host] which cuts it is inside of
  std::vector<Capacity> spare_;             // [cut] without the tree in growth
  std::vector<Capacity> crossings_;         // [cut] out of it, by the tree in growth; one less when its root is inside
};

}  // namespace colltopo
