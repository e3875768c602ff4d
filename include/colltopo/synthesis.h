// Making an all-to-all for a given network: every method of Basu et al. (section 3 and the baselines of section 5), in
// one table.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "colltopo/routing.h"
#include "colltopo/team.h"

namespace colltopo {

class Demand;

/// Of every pair: a largest set of link-disjoint paths; that widened by the shortest disjoint ones where these are
/// fewer (no longer disjoint); all shortest ones; all of bounded length.
enum class PathSet : std::uint8_t { disjoint, widened, shortest, bounded };

/// How the decomposed flow (Basu et al., 3.1.2) becomes paths: flow per source stripped into paths at once, or taken
/// apart per target by the child programs (10)-(14), whose flows then give their widest paths (3.2.1).
enum class Children : std::uint8_t { stripping, linear_programs };

/// What a method may depend on besides the topology.
struct SynthesisOptions {
  double gap = 0.01;                                         // stop when time / time_lower - 1 is at most this
  double seconds = std::numeric_limits<double>::infinity();  // or when this much time has passed
  int threads = 0;                                           // 0: all cores
  bool symmetry = true;                                      // alltoall_bound: use automorphisms
  std::uint32_t seed = 1;
  PathSet path_set = PathSet::widened;         // mcf-path, ilp
  int most_links = 0;                          // of a path, for PathSet::bounded; 0: the diameter plus 1
  double epsilon = 0.05;                       // fptas
  Children children = Children::stripping;     // mcf-master
  const Routing* start = nullptr;              // a routing of the same hosts to begin with (warm start)
  std::span<const double> start_lengths = {};  // mcf: [link] lengths that proved how good `start` was; empty: unknown
  const Demand* demand = nullptr;  // mcf: what hosts have for each other; nullptr: one unit each. Not with a start
  Team* team = nullptr;            // to share the work with: methods that `spread`; nullptr: alone
  /// Called now and then with the bounds so far, for people who wait.
  std::function<void(const FlowBound& bound)> progress = {};
};

struct Synthesis {
  Routing routing;
  FlowBound bound;  // time: of the routing; time_lower and lengths: the optimum's, where the method knows it
  double time_lower_of_paths = 0;   // mcf-path, ilp: no weights on the paths it chose among are faster; 0: not known
  double time_lower_of_choice = 0;  // ilp: nor is any choice of one of them per pair, as the solver says; 0: not known
  std::string remark = {};          // for people: what was left out; empty: nothing
  std::vector<std::uint64_t> trees = {};  // [member of the team] shortest-path trees that it has grown, where counted
};

/// The optimum of the all-to-all by paths shared at will (Basu et al., 3.1), without the paths: to options.gap or
/// better, or as near as options.seconds allow; small networks to 1e-9. With options.symmetry the flow is the average
/// over all automorphisms, so that alike links carry alike loads. Throws Error for a single host and naming hosts that
/// cannot reach each other.
FlowBound alltoall_bound(const Topology& topology, const SynthesisOptions& options);

/// The least time for a demand, to options.gap or as near as options.seconds allow, by sweeps alone: as
/// alltoall_bound() in bytes, so that time over the bandwidth of a link of capacity 1 is seconds. Throws Error for a
/// demand of other hosts.
FlowBound alltoallv_bound(const Topology& topology, const Demand& demand, const SynthesisOptions& options);
/// What lengths of links prove for a demand, as time_lower_bound() for the all-to-all. Threads: 0 = all.
double time_lower_bound(const Topology& topology, const Demand& demand, std::span<const double> lengths,
                        int threads = 0);

/// A routing, and for every pair the paths of options.path_set that it does not use, with a weight of 0: ways that a
/// network's tables can have ready for traffic of other sizes.
Routing with_spare_paths(const Topology& topology, const Routing& routing, const SynthesisOptions& options);

/// One row of the table. Every method throws Error naming hosts that cannot reach each other.
struct RoutingMethod {
  std::string_view name;   // "mcf"
  std::string_view about;  // one line, with the paper's name for it
  /// Empty when it can serve the topology; otherwise why not ("dimension order needs a grid").
  std::string (*refusal)(const Topology& topology, const SynthesisOptions& options);
  Synthesis (*make)(const Topology& topology, const SynthesisOptions& options);
  /// Its sources are spread over SynthesisOptions::team: rank 0 gets the answer, the others end with bounds alone.
  /// Other methods take no notice of the team.
  bool spreads = false;
};

std::span<const RoutingMethod> routing_methods();
const RoutingMethod* routing_method_named(std::string_view name);

}  // namespace colltopo
