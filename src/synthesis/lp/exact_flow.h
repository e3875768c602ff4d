// The linear programmes of Basu et al. 3.1.1 and 3.1.2, solved exactly by Clp.
//
// In the form "unit demand, the smallest largest load" instead of "unit capacity, the largest concurrent rate F": the
// same programme with flows divided by F, minimising T = 1/F. Solvers are accurate on this one, where they returned F
// wrong by 1e-5 on the other.
#pragma once

#include <limits>
#include <vector>

#include "synthesis/paths/link_flow.h"
#include "synthesis/sweep/flow_instance.h"

namespace colltopo::synthesis {

struct ExactFlow {
  std::vector<LinkFlow> flows;        // per source of the instance, or per pair
  double time = 0;                    // T = 1/F
  std::vector<double> class_lengths;  // [class] prices of capacity: the certificate
};

/// The undecomposed programme (1)-(5): a flow per pair. Throws Error when it takes longer than `seconds` of processor
/// time, at which Clp looks now and then.
ExactFlow pair_flows(const Topology& topology, double seconds = std::numeric_limits<double>::infinity());

/// Variables of that programme.
std::size_t pair_flow_columns(const Topology& topology);

/// The master programme (6)-(9): a flow per source.
ExactFlow grouped_flows(const FlowInstance& instance, double seconds = std::numeric_limits<double>::infinity());

/// The child programme (10)-(14) of one source: its grouped flow, which must be conserved, taken apart into one flow
/// per target of least total amount.
std::vector<LinkFlow> child_flows(const Topology& topology, const LinkFlow& grouped,
                                  double seconds = std::numeric_limits<double>::infinity());

/// The routing of the flows, with times recomputed from it and by the lengths. Of a whole topology, not of an instance.
Synthesis synthesis_of(const Topology& topology, ExactFlow exact, const SynthesisOptions& options);

/// All of 3.1.2: grouped flows, then paths, as options.children say: by child programs on options.threads and
/// widest paths, as the paper has it, or by stripping.
Synthesis decomposed_flow(const Topology& topology, const SynthesisOptions& options);

}  // namespace colltopo::synthesis
