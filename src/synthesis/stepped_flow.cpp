// How a network gets its stepped flow: by the programme where that is small, by times for the hops of paths elsewhere.
#include <chrono>

#include "synthesis/candidate_paths.h"
#include "synthesis/exact_flow.h"
#include "synthesis/expanded_graph.h"
#include "synthesis/hop_times.h"
#include "synthesis/path_flow.h"
#include "synthesis/stepped_programme.h"

namespace colltopo {

namespace {

/// What the gain of one more step must be, as a part of the time.
constexpr double k_worth_a_step = 1e-4;
/// More steps than the diameter that are tried.
constexpr Step k_most_more_steps = 6;

class SecondsLeft {
 public:
  explicit SecondsLeft(double seconds) : seconds_(seconds) {}
  double operator()() const {
    return seconds_ - std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_;
};

/// Tries ever more steps, from `fewest` on, until the time is `good_enough` or no longer gets better.
template <typename Attempt>
void raise_steps(const Topology& topology, Step fewest, double good_enough, SteppedSynthesis& synthesis,
                 const SynthesisOptions& options, const Attempt& attempt) {
  for (Step steps = fewest; steps <= fewest + k_most_more_steps; ++steps) {
    SteppedFlow flow = attempt(steps);
    const double time = stepped_time(topology, flow);
    const bool first = steps == fewest;
    const double before = synthesis.bound.time;
    if (first || time < before * (1 - k_worth_a_step)) {
      synthesis.flow = std::move(flow);
      synthesis.bound.time = time;
    }
    if (options.progress) options.progress(synthesis.bound);
    if (synthesis.bound.time <= good_enough || (!first && time >= before * (1 - k_worth_a_step))) return;
  }
}

}  // namespace

SteppedSynthesis stepped_flow(const Topology& topology, const SynthesisOptions& options) {
  expect_connected(topology);
  const SecondsLeft seconds_left(options.seconds);
  const Step fewest = fewest_steps(topology);
  SteppedSynthesis synthesis;

  constexpr std::int64_t k_most_columns = 30'000;
  const std::int64_t columns =
      (static_cast<std::int64_t>(topology.links().size()) + topology.hosts()) * topology.hosts() * fewest;
  if (columns <= k_most_columns) {
    synthesis.method = "the time-stepped linear programme";
    const ExactFlow unstepped = grouped_flows(whole_instance(topology), seconds_left());
    synthesis.bound.lengths = unstepped.class_lengths;
    synthesis.bound.time_lower = time_lower_bound(topology, synthesis.bound.lengths, options.threads);
    raise_steps(topology, fewest, synthesis.bound.time_lower * (1 + 1e-6), synthesis, options,
                [&](Step steps) { return stepped_programme(topology, steps, seconds_left()); });
    return synthesis;
  }

  synthesis.method = "paths of a hop more than the diameter, and times for their hops";
  // A quarter of the gap for the bound, the rest for the times.
  SynthesisOptions of_paths = options;
  of_paths.gap = options.gap / 4;
  of_paths.seconds = options.seconds / 2;
  of_paths.progress = {};
  of_paths.path_set = PathSet::bounded;
  const int diameter = facts_of(topology).diameter;
  of_paths.most_links = diameter + (diameter + fewest - 1) / fewest;  // through switches a hop is several links
  const Routing paths = candidate_paths(topology, of_paths).paths;
  FlowBound bound = best_weights(topology, paths, of_paths).bound;
  synthesis.bound.lengths = std::move(bound.lengths);
  synthesis.bound.time_lower = bound.time_lower;
  const double good_enough = bound.time_lower * (1 + options.gap);
  raise_steps(topology, most_hops(topology, paths), good_enough, synthesis, options,
              [&](Step steps) { return with_hop_times(topology, paths, steps, good_enough, seconds_left()); });
  return synthesis;
}

}  // namespace colltopo
