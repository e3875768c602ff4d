// The concurrent-flow problem as solvers see it: sources that stand for their orbit of hosts, classes that stand for
// their orbit of links.
//
// Without symmetry every host is a source of multiplicity 1 and every link a class of its own. With it, the flow that
// is routed from one host of an orbit stands for that of all of them, averaged over the whole group of automorphisms:
// the load of a class is the sum over sources of multiplicity * weight * (links of the path in the class), its capacity
// that of its links together. Solvers need not know which of the two they are given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "colltopo/demand.h"
#include "colltopo/routing.h"
#include "colltopo/synthesis.h"

namespace colltopo::synthesis {

struct FlowInstance {
  const Topology* topology = nullptr;
  std::vector<NodeId> sources;           // increasing
  std::vector<double> multiplicity;      // [source] hosts in its orbit
  std::vector<std::int32_t> link_class;  // [link]
  std::vector<double> class_capacity;    // [class] sum of the capacities of its links
  const Demand* traffic = nullptr;       // of pairs; null: one unit each

  /// Of a pair of hosts, together with those that it stands for.
  double demand(std::size_t source, NodeId target) const {
    return traffic == nullptr ? multiplicity[source] : multiplicity[source] * traffic->bytes(sources[source], target);
  }
  /// A pair without demand needs no path.
  bool has_demand(std::size_t source, NodeId target) const {
    return target != sources[source] && (traffic == nullptr || traffic->bytes(sources[source], target) > 0);
  }
  /// The largest load over capacity.
  double time_of(std::span<const double> loads) const;
};

/// No symmetry.
FlowInstance whole_instance(const Topology& topology, const Demand* traffic = nullptr);

/// One source per orbit of hosts, one class per orbit of links. Its optimum is the whole's, and its certificate holds
/// on the whole (orbit_instance.cpp says why).
FlowInstance orbit_instance(const Topology& topology);

/// [link] the length of its class.
std::vector<double> link_lengths(const FlowInstance& instance, const std::vector<double>& class_lengths);

/// What a solver is asked for: a routing of many pairs takes memory and time.
enum class Answer { routing, loads };

/// A flow of an instance and the proof of how good it is.
struct FlowSolution {
  Routing routing;                        // from the instance's sources alone, to every other host that has demand
  std::vector<double> loads;              // [class]
  std::vector<double> class_lengths;      // [class] length of each of its links
  double time = 0;                        // largest load over capacity of a class: an upper bound on the optimum
  double time_lower = 0;                  // by class_lengths
  std::vector<std::uint64_t> trees = {};  // [member of the team] shortest-path trees grown

  double gap() const { return time_lower > 0 ? time / time_lower - 1 : 1; }
};

/// [class] loads of a routing; a solution's are these but for rounding.
std::vector<double> class_loads(const FlowInstance& instance, const Routing& routing);

/// What class lengths prove, from one source per orbit: the sum over pairs of their distance over the sum of length
/// times capacity. Threads: 0 = all.
double time_lower_bound(const FlowInstance& instance, const std::vector<double>& class_lengths, int threads);

}  // namespace colltopo::synthesis
