// Time-stepped all-to-all (tsMCF; Basu et al., 3.1.3): what moves from host to host in every step, for fabrics in which
// hosts forward data themselves.
//
// A stepped path is a path and the step in which data takes each of its hops, resting in the hosts between. A hop leads
// from a host to a host, over one link or through switches, where nothing rests. Step t lasts as long as its busiest
// link is busy, U_t; the time of the whole is the sum of U_t, in the units of Routing: 1/F at best.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "colltopo/chunking.h"
#include "colltopo/lower.h"
#include "colltopo/routing.h"
#include "colltopo/synthesis.h"

namespace colltopo {

/// `links` and `steps` point into the SteppedFlow.
struct SteppedPath {
  NodeId source = 0;
  NodeId target = 0;
  double weight = 0;  // share of the pair's demand, in (0, 1]
  std::span<const LinkId> links;
  std::span<const Step> steps;  // [link] from 1: the same within a hop, later from hop to hop
};

/// Paths sorted by (source, target), those of a pair in the order in which they were added.
class SteppedFlow {
 public:
  SteppedFlow() = default;
  explicit SteppedFlow(NodeId hosts) : routing_(hosts) {}

  NodeId hosts() const { return routing_.hosts(); }
  std::size_t paths() const { return routing_.paths(); }
  SteppedPath path(std::size_t index) const;
  /// The last step of any path.
  Step steps() const { return last_step_; }
  /// Without the steps.
  const Routing& routing() const { return routing_; }

  /// Pairs must come in increasing order of (source, target); asserted.
  void add(NodeId source, NodeId target, double weight, std::span<const LinkId> links, std::span<const Step> steps);

 private:
  Routing routing_;
  std::vector<Step> steps_;                 // [link of a path]
  std::vector<std::size_t> first_step_{0};  // [path] into steps_, and the end
  Step last_step_ = 0;
};

/// [step - 1] U_t: the largest load over capacity of a link in the step.
std::vector<double> step_times(const Topology& topology, const SteppedFlow& flow);

/// What is wrong with a stepped flow, "" if nothing: its paths are a routing, and steps are as SteppedPath says.
std::string stepped_fault(const Topology& topology, const SteppedFlow& flow);

struct SteppedSynthesis {
  SteppedFlow flow;
  FlowBound bound;     // time: the sum of U_t; time_lower and lengths: of the flow without steps, which none beats
  std::string method;  // for people: how it was found
};

/// Small networks (hosts * (links + hosts) * diameter up to 30,000): the linear programme (15)-(20) on the
/// time-expanded graph, grouped by source; options.gap does not matter. Larger ones: every pair chooses among its paths
/// of up to one hop more than the diameter and among times for their hops, until options.gap is reached. Both with as
/// many steps as help, from the diameter on, each number of them a program (Clp) or rounds of O(pairs * paths * hops *
/// steps). Throws Error naming hosts that cannot reach each other.
SteppedSynthesis stepped_flow(const Topology& topology, const SynthesisOptions& options);

/// A stepped flow in whole chunks.
struct ChunkedSteps {
  Chunk chunks = 1;
  SteppedFlow flow;        // weights are multiples of 1/chunks; paths of no chunks are gone
  double time_before = 0;  // of the flow that was given
  double time = 0;

  double loss() const { return time_before > 0 ? time / time_before - 1 : 0; }
};
ChunkedSteps chunked(const Topology& topology, const SteppedFlow& flow, Chunk most = k_most_chunks_default);

/// A transfer per chunk and hop; the paths of a pair take its chunks in their order. Hops of the same two hosts over
/// different links have different lanes, which `routes`, if given, tells apart.
std::vector<Transfer> transfers(const Topology& topology, const ChunkedSteps& chunked,
                                std::vector<Route>* routes = nullptr);

/// Lowered: rank r runs on host r, every step exchanges one message per hop and lane.
Schedule stepped_alltoall(std::string name, const Topology& topology, const ChunkedSteps& chunked);

}  // namespace colltopo
