// The paths from one source that a flow uses or may soon use, with the share of each in its pair's demand.
//
// Written once from target to target and read in the same order, so that a pool is four flat arrays: at 4,096 hosts all
// pools together are 17 million pairs and 20 million paths in less than a gigabyte, and what is kept of a flow that
// becomes a routing (kept_flow.h) as much again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "colltopo/topology.h"

namespace colltopo::synthesis {

class PathPool {
 public:
  /// Paths of a target are [first(target), first(target + 1)); targets come in increasing order.
  std::size_t first(NodeId target) const { return first_path_[static_cast<std::size_t>(target)]; }
  std::size_t targets() const { return first_path_.size() - 1; }
  std::size_t paths() const { return weights_.size(); }
  /// Of all paths together.
  std::size_t links() const { return links_.size(); }

  double weight(std::size_t path) const { return weights_[path]; }
  double& weight(std::size_t path) { return weights_[path]; }
  std::span<const LinkId> links(std::size_t path) const {
    return std::span(links_).subspan(first_link_[path], first_link_[path + 1] - first_link_[path]);
  }

  void clear();
  /// To the target after the last one that was ended.
  void add(double weight, std::span<const LinkId> links);
  void end_target() { first_path_.push_back(static_cast<std::uint32_t>(weights_.size())); }

  /// Appends the pool as plain bytes.
  void pack(std::vector<std::byte>& bytes) const;
  /// The pool that begins there, and `bytes` without it.
  void unpack(std::span<const std::byte>& bytes);

 private:
  std::vector<std::uint32_t> first_path_{0};  // [target], and the end
  std::vector<double> weights_;               // [path]
  std::vector<std::uint32_t> first_link_{0};  // [path] into links_, and the end
  std::vector<LinkId> links_;
};

/// The sum of a target's weights without dust.
double weight_in_use(const PathPool& pool, NodeId target);

/// `share` of `other` and the rest of `one`, as flows: pools of the same targets. Paths that both have are one.
PathPool between(const PathPool& one, const PathPool& other, double share);

}  // namespace colltopo::synthesis
