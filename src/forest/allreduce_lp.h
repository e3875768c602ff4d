// The linear programme (6) of Zhao et al., appendix E, solved: how much of the vector each host is the root of, and how
// the bandwidth of links is parted between the reduction and the broadcast. Where there are switches, it is first
// parted among pairs of hosts.
#pragma once

#include <cstddef>
#include <vector>

#include "colltopo/topology.h"

namespace colltopo {

struct AllreduceSolution {
  /// Bandwidth from host to host that each stage has.
  struct Pair {
    NodeId tail = 0, head = 0;
    double reduce = 0, spread = 0;
  };
  /// Bandwidth of a pair along a way through switches.
  struct Way {
    std::vector<NodeId> nodes;  // a host, switches, a host
    double amount = 0;
  };
  // In whole_bandwidths() units.
  double rate = 0;            // of the vector
  std::vector<double> roots;  // [host] of the rate
  std::vector<Pair> pairs;
  std::vector<Way> ways;  // empty where there are no switches

  double unit = 1;  // bytes per second
  int rounds = 0;
  std::size_t columns = 0, rows = 0;
};

/// Throws Error as allreduce_bound() does.
AllreduceSolution solve_allreduce(const Topology& topology);

}  // namespace colltopo
