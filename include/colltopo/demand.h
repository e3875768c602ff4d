// What every rank has for every other where that differs: the traffic of an alltoallv.
//
// The least time for it is a concurrent flow like that of the all-to-all (Basu et al., 3.1), with these demands in
// place of 1: load of a link is the sum over pairs of bytes times the share of the pair's paths over it.
#pragma once

#include <string>
#include <vector>

#include "colltopo/routing.h"

namespace colltopo {

/// Bytes for every ordered pair of hosts; 8 bytes per pair.
class Demand {
 public:
  explicit Demand(NodeId hosts)
      : hosts_(hosts), bytes_(static_cast<std::size_t>(hosts) * static_cast<std::size_t>(hosts), 0) {}

  NodeId hosts() const { return hosts_; }
  /// What a host has for itself is not looked at.
  double bytes(NodeId source, NodeId target) const { return bytes_[place(source, target)]; }
  void add(NodeId source, NodeId target, double bytes) { bytes_[place(source, target)] += bytes; }
  /// Of all pairs of different hosts.
  double total() const;

 private:
  std::size_t place(NodeId source, NodeId target) const {
    return static_cast<std::size_t>(source) * static_cast<std::size_t>(hosts_) + static_cast<std::size_t>(target);
  }
  NodeId hosts_;
  std::vector<double> bytes_;  // [source][target]
};

/// A demand out of a text in one of three forms: Matrix Market (`%%MatrixMarket matrix coordinate real general`, its
/// entries counted from 1, bytes), lines "source,target,bytes" below a header that begins with "source", or a matrix of
/// numbers, one line per source, parted by commas or spaces. `file` is for messages. Throws Error with file and line:
/// what is no number of 0 or more, hosts that the network does not have, a demand of nothing.
Demand read_demand(const std::string& text, const std::string& file, NodeId hosts);

/// [link] the bytes over it when every pair's data takes the paths of a routing by its shares. Linear in their hops.
std::vector<double> link_loads(const Topology& topology, const Routing& routing, const Demand& demand);

}  // namespace colltopo
