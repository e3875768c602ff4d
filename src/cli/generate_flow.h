// What the kinds of generate share that find a flow first: options, the network, where to begin, layers, proof and
// report.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/generate.h"
#include "colltopo/demand.h"
#include "colltopo/layers.h"
#include "colltopo/sections.h"

namespace colltopo::cli {

void add_flow_options(CLI::App& command, GenerateArguments& arguments);

/// What the options say, once they are known to make sense.
struct FlowRequest {
  std::optional<LayerMethod> layers;  // nothing: the default
  Chunk most_chunks = 0;
  SynthesisOptions synthesis;            // with progress on the terminal
  std::unique_ptr<const Demand> demand;  // of --demand; synthesis knows it too
};
/// Must not outlive `generation`.
FlowRequest flow_request(const GenerateArguments& arguments, Generation& generation);

/// The network, of at least two hosts that all reach each other.
Topology flow_topology(const Generation& generation);

/// Of --demand, on the network at hand, for a request.
void read_demand(const GenerateArguments& arguments, const Topology& topology, FlowRequest& request);

/// Of --from and --from-lengths, on the network at hand; empty where they are not given.
struct FlowStart {
  Routing routing;
  std::vector<double> lengths;  // [link]
};
FlowStart start_of(const GenerateArguments& arguments, const Topology& topology);

/// How the schedule came about.
struct FlowFigures {
  const Demand* demand = nullptr;  // times are of it; nullptr: of one shard for each pair
  double bound = 0;                // the least time
  double chunk_loss = 0;
  double gap_asked = -1;  // of the schedule; negative: the method has none
  double solve_s = 0;
};

/// Reports F, achieved, bound and gap of a schedule; false when it misses the gap that was asked for.
bool report_time(Report& report, double achieved, const FlowFigures& figures);

/// An all-to-all of orbits (--parametric).
void generate_symmetric(const GenerateArguments& arguments, Session& session);

/// Gives a schedule in memory planes and layers, then as below.
void finish(Generation& generation, Schedule schedule, const Topology& topology, LayerMethod layers,
            const FlowFigures& figures);
/// Proves the schedule, reports it, and writes it when it is right. `layers`: by which its routes have been put into
/// them.
void finish(Generation& generation, SectionedSchedule schedule, const Topology& topology, LayerMethod layers,
            const FlowFigures& figures);

/// The method that was asked for or, by default, that which serves so many routes: lash-sequential would take minutes
/// for millions of them.
LayerMethod layer_method_for(const FlowRequest& request, std::size_t routes);

}  // namespace colltopo::cli
