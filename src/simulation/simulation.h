// A schedule's steps and links on networks too large to write its programs down: one program after the other is read
// and forgotten, and where the network and the programs are alike under translations of a grid, only those of a few
// ranks are read.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "colltopo/cost.h"

namespace colltopo::simulation {

/// What a schedule says of itself, without its programs.
struct Subject {
  std::string name;
  Shape shape;
  std::function<Program(Rank)> program_of;
};

struct Result {
  Cost cost;                    // as cost_of() of the whole schedule
  std::vector<double> loads;    // [link] as link_loads(); empty where only some links were looked at
  Rank read = 0, compared = 0;  // ranks whose programs were read; and held against what symmetry says of them
  Rank alike = 1;               // ranks that each of them stands for
};

/// How many steps times links are kept at most.
inline constexpr double k_most_loads = 2e8;

/// Messages take shortest paths. `use_symmetry`: also where it applies. Throws Error when ranks are not hosts, and when
/// a schedule has more steps times links than k_most_loads and no symmetry that would make them fewer. `progress` is
/// told how many of how many programs have been read.
Result simulate(const Subject& subject, const Topology& topology, bool use_symmetry,
                const std::function<void(Rank, Rank)>& progress = {});

/// A message as a fluid: all flows of a step begin at once and share links by max-min fairness (the shares grow alike
/// until a link is full).
struct Flow {
  std::vector<LinkId> path;
  double bytes = 0;
};
/// Until the last flow has ended; latencies are not in it.
double fair_seconds(const std::vector<Flow>& flows, const Topology& topology);

/// The steps of a whole schedule one after the other, each for as long as its longest latency and its flows take.
double fair_seconds(const Schedule& schedule, const Topology& topology, double bytes);

}  // namespace colltopo::simulation
