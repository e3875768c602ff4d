// How a network gets its stepped flow: by the programme where that is small, by times for the hops of paths elsewhere.
#include <algorithm>

#include "base/deadline.h"
#include "base/parallel.h"
#include "synthesis/lp/exact_flow.h"
#include "synthesis/lp/expanded_graph.h"
#include "synthesis/lp/time_expanded_lp.h"
#include "synthesis/paths/path_sets.h"
#include "synthesis/steps/hop_times.h"
#include "synthesis/sweep/path_gauss_seidel.h"

namespace colltopo {

using namespace synthesis;

namespace {

/// What the gain of one more step must be, as a part of the time.
constexpr double k_worth_a_step = 1e-4;
/// More steps than the diameter that are tried.
constexpr Step k_most_more_steps = 6;

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

/// For every pair the paths of a flow without steps that have at most `most_links`, with their weights made to sum to
/// 1, and others of weight 0: all of that length, or shortest ones where those are too many.
Routing choices(const Topology& topology, const Routing& flow, int most_links, int threads) {
  const std::size_t most = flow.paths() > 20'000 ? 16 : 64;  // of a pair
  const auto hosts = static_cast<std::size_t>(topology.hosts());
  std::vector<std::size_t> first_of(hosts + 1, flow.paths());
  for (std::size_t i = flow.paths(); i-- > 0;) first_of[static_cast<std::size_t>(flow.path(i).source)] = i;

  std::vector<Routing> of_source(hosts);
  for_each_index(hosts, threads, [&](std::size_t index, unsigned) {
    const auto source = static_cast<NodeId>(index);
    const PathsFrom from(topology, source);
    Routing& choices = of_source[index] = Routing(topology.hosts());
    std::size_t next = first_of[index];
    for (NodeId target = 0; target < topology.hosts(); ++target) {
      if (target == source) continue;
      PathList list = from.bounded(target, most_links, most);
      if (list.capped) list = from.shortest(target, most);
      std::vector<double> weights(list.paths.size(), 0);
      double sum = 0;
      for (; next < flow.paths() && flow.path(next).source == source && flow.path(next).target == target; ++next) {
        const WeightedPath path = flow.path(next);
        if (path.links.size() > static_cast<std::size_t>(most_links)) continue;
        sum += path.weight;
        const Path links(path.links.begin(), path.links.end());
        const auto known = std::find(list.paths.begin(), list.paths.end(), links);
        if (known == list.paths.end()) {
          list.paths.push_back(links);
          weights.push_back(path.weight);
        } else {
          weights[static_cast<std::size_t>(known - list.paths.begin())] += path.weight;
        }
      }
      if (!(sum > 0)) sum = weights.front() = 1;
      for (std::size_t i = 0; i < weights.size(); ++i) choices.add(source, target, weights[i] / sum, list.paths[i]);
    }
  });
  Routing all(topology.hosts());
  for (const Routing& some : of_source)
    for (std::size_t i = 0; i < some.paths(); ++i)
      all.add(some.path(i).source, some.path(i).target, some.path(i).weight, some.path(i).links);
  return all;
}

}  // namespace

SteppedSynthesis stepped_flow(const Topology& topology, const SynthesisOptions& options) {
  expect_connected(topology);
  const Deadline deadline(options.seconds);
  const Step fewest = fewest_steps(topology);
  SteppedSynthesis synthesis;

  constexpr std::int64_t k_most_columns = 30'000;
  const std::int64_t columns =
      (static_cast<std::int64_t>(topology.links().size()) + topology.hosts()) * topology.hosts() * fewest;
  if (columns <= k_most_columns) {
    synthesis.method = "the time-stepped linear programme";
    const ExactFlow unstepped = grouped_flows(whole_instance(topology), deadline.seconds_left());
    synthesis.bound.lengths = unstepped.class_lengths;
    synthesis.bound.time_lower = time_lower_bound(topology, synthesis.bound.lengths, options.threads);
    raise_steps(topology, fewest, synthesis.bound.time_lower * (1 + 1e-6), synthesis, options,
                [&](Step steps) { return time_expanded_flow(topology, steps, deadline.seconds_left()); });
    return synthesis;
  }

  synthesis.method = "paths of a hop more than the diameter, and times for their hops";
  // A quarter of the gap for the bound, the rest for the times.
  SynthesisOptions of_paths = options;
  of_paths.gap = options.gap / 4;
  of_paths.seconds = options.seconds / 2;
  of_paths.progress = {};
  FlowSolution unstepped = path_gauss_seidel(whole_instance(topology), of_paths);
  synthesis.bound.lengths = std::move(unstepped.class_lengths);
  synthesis.bound.time_lower = time_lower_bound(topology, synthesis.bound.lengths, options.threads);
  const double good_enough = synthesis.bound.time_lower * (1 + options.gap);
  const int diameter = facts_of(topology).diameter;
  const int most_links = diameter + (diameter + fewest - 1) / fewest;  // through switches a hop is several links
  const Routing paths = choices(topology, unstepped.routing, most_links, options.threads);
  raise_steps(topology, most_hops(topology, paths), good_enough, synthesis, options,
              [&](Step steps) { return with_hop_times(topology, paths, steps, good_enough, deadline.seconds_left()); });
  return synthesis;
}

}  // namespace colltopo
