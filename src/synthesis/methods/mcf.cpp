// All-to-all by multi-commodity flow at scale (MCF; Basu et al., 3.1.2): their optimum and their kind of answer,
// weighted paths, without their master and child programs.
//
// Path Gauss-Seidel finds paths, shares and the certificate at once; the interior point takes over where a
// ten-thousandth is not enough. What is left of the gap is spent on merging the paths of pairs: within 1% of the
// optimum nearly every pair of a thousand hosts ends with a single path. A team shares the Gauss-Seidel; what comes
// after it is rank 0's. A routing to start from is mended first, which for a few broken links is all that there is to
// do.
#include <algorithm>

#include "base/deadline.h"
#include "synthesis/methods.h"
#include "synthesis/near_optimal_flow.h"
#include "synthesis/paths/fewer_paths.h"
#include "synthesis/sweep/mended_flow.h"

namespace colltopo::synthesis {

namespace {

constexpr double k_mcf_flow_part = 0.6;        // of the gap is the flow's, the rest is for merging
constexpr double k_flow_part_of_start = 0.85;  // a routing to start from has been merged
constexpr double k_mcf_merged_part = 0.9;      // the last tenth is for cutting shards into whole chunks
constexpr double k_gauss_seidel_gap = 1e-4;    // the interior point's start

std::string mcf_refusal(const Topology&, const SynthesisOptions&) { return ""; }

/// From the routing that options have; its gap may be larger than asked for.
Synthesis mended_synthesis(const FlowInstance& instance, const SynthesisOptions& options) {
  std::vector<double> lengths(options.start_lengths.begin(), options.start_lengths.end());
  if (std::all_of(lengths.begin(), lengths.end(), [](double length) { return length == 0; })) {
    lengths.clear();
    for (const double capacity : instance.class_capacity) lengths.push_back(1 / capacity);
  }
  FlowSolution solution = mended_flow(instance, lengths, options);
  if (options.team != nullptr && solution.gap() <= options.gap) options.team->leave();
  return {.routing = std::move(solution.routing),
          .bound = {solution.time, solution.time_lower, link_lengths(instance, solution.class_lengths)},
          .trees = solution.trees};
}

Synthesis make_mcf(const Topology& topology, const SynthesisOptions& options) {
  const Deadline deadline(options.seconds);
  const FlowInstance instance = whole_instance(topology, options.demand);
  SynthesisOptions own = options;
  Synthesis mended;
  if (options.start != nullptr) {
    mended = mended_synthesis(instance, options);
    if (mended.bound.gap() <= options.gap) return mended;
    own.start_lengths = mended.bound.lengths;
    if (options.team == nullptr) own.start = &mended.routing;  // of a team rank 0 alone has it
  }
  own.gap = (options.start == nullptr ? k_mcf_flow_part : k_flow_part_of_start) * options.gap;
  own.seconds = deadline.seconds_left();
  FlowSolution solution = near_optimal_flow(instance, own, k_gauss_seidel_gap);
  Synthesis synthesis;
  synthesis.trees = solution.trees;
  for (std::size_t member = 0; member < mended.trees.size(); ++member) synthesis.trees[member] += mended.trees[member];
  if (options.team != nullptr && options.team->rank() != 0) {
    synthesis.bound = {solution.time, solution.time_lower, link_lengths(instance, solution.class_lengths)};
    return synthesis;
  }

  synthesis.routing =
      with_fewer_paths(instance, solution.routing, solution.time_lower * (1 + k_mcf_merged_part * options.gap));
  synthesis.bound.lengths = link_lengths(instance, solution.class_lengths);
  synthesis.bound.time_lower = solution.time_lower;
  synthesis.bound.loads = class_loads(instance, synthesis.routing);
  synthesis.bound.time = all_to_all_time(topology, synthesis.bound.loads);
  // Pairs that have nothing for each other now may have it in another call: they get a shortest path.
  if (options.demand != nullptr) synthesis.routing = carried_over(topology, synthesis.routing, topology);
  return synthesis;
}

}  // namespace

RoutingMethod mcf_method() {
  return {"mcf", "multi-commodity flow, paths of any length, to a certified gap (MCF)", mcf_refusal, make_mcf, true};
}

}  // namespace colltopo::synthesis
