// The network between the nodes of a job, link by link, for prices: which links a message from node to node takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "colltopo/choice.h"
#include "colltopo/topology.h"

namespace colltopo {

/// Paths of all pairs of nodes, one shortest each (ShortestPaths). Links are those that some path takes, numbered from
/// 0. Of n nodes: n * n paths, so it is for small ones.
class NodeNetwork {
 public:
  /// `host_of`: [node] its host. Throws Error when two of them cannot reach each other.
  NodeNetwork(const Topology& topology, std::span<const NodeId> host_of);

  int nodes() const { return nodes_; }
  int links() const { return static_cast<int>(slowness_.size()); }
  /// Of two different nodes.
  std::span<const std::int32_t> path(int from, int to) const;
  /// 1 for the nearest nodes of all, and 1 more for each further latency of a link.
  double hops(int from, int to) const { return hops_[pair(from, to)]; }
  /// Bandwidth of the network's slowest link over the link's own: 1 or less.
  double slowness(std::int32_t link) const { return slowness_[static_cast<std::size_t>(link)]; }

  friend bool operator==(const NodeNetwork&, const NodeNetwork&) = default;

 private:
  std::size_t pair(int from, int to) const {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(nodes_) + static_cast<std::size_t>(to);
  }
  int nodes_;
  std::vector<std::uint32_t> first_;  // [pair] into links_, and the end
  std::vector<std::int32_t> links_;
  std::vector<double> hops_;      // [pair]
  std::vector<double> slowness_;  // [link]
};

/// Ranks up to which all programs are read for a price: 0.1 s for an allreduce of 64 with all its variants, 1 s of 128.
inline constexpr Rank k_most_ranks_by_link = 64;

/// Hops of paths by their latencies, those of near hosts being 1.
class Hops {
 public:
  /// `node_of`: [host] its node; empty: each is one. Near is who is nearest to host 0 on another node.
  explicit Hops(const Topology& network, std::span<const int> node_of = {});

  double nearest() const { return nearest_; }  // seconds
  double link() const { return link_; }        // seconds, the shortest of all links
  double of(double latency) const { return link_ > 0 ? std::max(1.0, 1 + (latency - nearest_) / link_) : 1; }

 private:
  double nearest_ = 0;
  double link_ = 0;
};

/// Constants of Machine of which a network says what they are.
struct LinkConstants {
  std::optional<double> bandwidth_network;                       // bytes per second
  std::optional<double> latency_hop, latency_network, overhead;  // seconds

  friend bool operator==(const LinkConstants&, const LinkConstants&) = default;
};
/// The slowest link's rate, the latency of a link and, where links have one of their own, that between near hosts.
/// Links of 10 Gb/s and less that have none are taken for Ethernet under TCP: 30 us, and 3 us a message. Looks at every
/// link.
LinkConstants link_constants(const Topology& network);
/// The machine with what the network says of itself.
Machine machine_on(const LinkConstants& links, Machine machine);

}  // namespace colltopo
