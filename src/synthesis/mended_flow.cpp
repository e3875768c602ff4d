// Rounds over the overloaded links alone, with a multiplier for each of them.
//
// The lengths that proved the old flow still prove nearly as much on what is left of the network, and price every
// detour rightly. On top of them come multipliers, which grow with the overload of a link as long as it lasts. Where
// the break makes the optimum worse (a torus loses a part of its narrowest cut), the goal cannot be reached by that
// bound; then the overloaded links contain a cut, and length on the links of the cut alone proves it.
#include "synthesis/mended_flow.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "synthesis/arcs.h"
#include "synthesis/flow_sweep.h"

namespace colltopo {

namespace {

constexpr int k_most_rounds = 30;
constexpr double k_most_overloaded = 1.0 / 3;  // of the links: the old flow was not near this bound
constexpr double k_aim = 0.05;            // of the gap, below the goal: rounds come to rest a little above their aim
constexpr double k_beta = 200;            // sharp enough that a link half a percent too busy costs three times as much
constexpr double k_highest_exponent = 8;  // a broken pair's first detour overloads links by much more
constexpr double k_progress = 0.8;        // an overload that is more than this part of the last one does not shrink
constexpr double k_proving_betas[] = {40, 0};  // sharper lengths than the multipliers alone, and these
constexpr int k_cut_steps = 24;   // how busy links of a cut may be at least: so many values up to the busiest
constexpr int k_most_parts = 64;  // of a network that a cut divides

/// [link] whether its class is closed.
std::vector<bool> closed_links_of(const FlowInstance& instance, const std::vector<bool>& closed) {
  std::vector<bool> closed_links;
  closed_links.reserve(instance.link_class.size());
  for (const std::int32_t of_link : instance.link_class)
    closed_links.push_back(closed[static_cast<std::size_t>(of_link)]);
  return closed_links;
}

/// [node] the number of its part: nodes that reach each other over links that are not `closed`. Empty when there are more
/// than k_most_parts.
std::vector<int> parts_without(const FlowInstance& instance, const std::vector<bool>& closed) {
  const Topology& topology = *instance.topology;
  const std::vector<bool> closed_links = closed_links_of(instance, closed);
  std::vector<int> part(static_cast<std::size_t>(topology.nodes()), -1);
  int parts = 0;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (part[static_cast<std::size_t>(node)] >= 0) continue;
    if (parts == k_most_parts) return {};
    const std::vector<bool> forward = reached(topology, node, false, closed_links);
    const std::vector<bool> backward = reached(topology, node, true, closed_links);
    for (std::size_t other = 0; other < part.size(); ++other)
      if (forward[other] && backward[other]) part[other] = parts;
    ++parts;
  }
  return part;
}

/// [class] 1 over the capacity where a closed link of it leads from one part of the network to another.
std::vector<double> cut_lengths(const FlowInstance& instance, const std::vector<bool>& closed,
                                const std::vector<int>& part) {
  std::vector<double> lengths(instance.class_capacity.size(), 0);
  for (std::size_t link = 0; link < instance.link_class.size(); ++link) {
    const Link& ends = instance.topology->link(static_cast<LinkId>(link));
    const auto e = static_cast<std::size_t>(instance.link_class[link]);
    if (closed[e] && part[static_cast<std::size_t>(ends.tail)] != part[static_cast<std::size_t>(ends.head)])
      lengths[e] = 1 / instance.class_capacity[e];
  }
  return lengths;
}

/// What such lengths prove, found on the parts alone: within one all distances are 0.
double cut_bound(const FlowInstance& instance, const std::vector<double>& lengths, const std::vector<int>& part) {
  const Topology& topology = *instance.topology;
  const auto parts = static_cast<std::size_t>(*std::max_element(part.begin(), part.end())) + 1;
  std::vector<double> hosts(parts, 0), distance(parts * parts, INFINITY);
  for (NodeId host = 0; host < topology.hosts(); ++host)
    hosts[static_cast<std::size_t>(part[static_cast<std::size_t>(host)])] += 1;
  for (std::size_t i = 0; i < parts; ++i) distance[i * parts + i] = 0;
  for (std::size_t link = 0; link < instance.link_class.size(); ++link) {
    const Link& ends = topology.link(static_cast<LinkId>(link));
    const auto from = static_cast<std::size_t>(part[static_cast<std::size_t>(ends.tail)]);
    const auto to = static_cast<std::size_t>(part[static_cast<std::size_t>(ends.head)]);
    double& known = distance[from * parts + to];
    known = std::min(known, lengths[static_cast<std::size_t>(instance.link_class[link])]);
  }
  for (std::size_t via = 0; via < parts; ++via)
    for (std::size_t i = 0; i < parts; ++i)
      for (std::size_t j = 0; j < parts; ++j)
        distance[i * parts + j] =
            std::min(distance[i * parts + j], distance[i * parts + via] + distance[via * parts + j]);
  double sum = 0;
  for (std::size_t i = 0; i < parts; ++i)
    for (std::size_t j = 0; j < parts; ++j) sum += hosts[i] * hosts[j] * distance[i * parts + j];
  return sum / std::inner_product(lengths.begin(), lengths.end(), instance.class_capacity.begin(), 0.0);
}

class Mending {
 public:
  Mending(const FlowInstance& instance, std::span<const double> class_lengths, const SynthesisOptions& options)
      : instance_(instance), options_(options), flow_(instance, options) {
    flow_.start_from(*options.start);
    potential().set_priors(class_lengths);
    prove(0.0);
  }

  FlowSolution run() {
    double last = INFINITY;
    for (int round = 0; round < k_most_rounds && overload() > 0 && !is_late(); ++round) {
      if (overload() > k_progress * last && !prove_more()) break;
      if (overload() <= 0) break;
      last = overload();
      if (!move_overload()) break;
      if (options_.progress) options_.progress({.time = time(), .time_lower = time_lower_, .lengths = {}});
    }
    return flow_.solution(time_lower_, std::move(lengths_));
  }

 private:
  using Clock = std::chrono::steady_clock;

  LinkPotential& potential() { return flow_.potential(); }
  double time() { return potential().largest(); }
  double goal() const { return time_lower_ * (1 + options_.gap); }
  double overload() { return time() / goal() - 1; }
  bool is_late() const {
    return std::isfinite(options_.seconds) &&
           any_member(options_.team, std::chrono::duration<double>(Clock::now() - began_).count() > options_.seconds);
  }

  void prove(std::vector<double> lengths) {
    const double volume = std::inner_product(lengths.begin(), lengths.end(), instance_.class_capacity.begin(), 0.0);
    const double time_lower = flow_.sum_of_distances(lengths) / volume;
    if (time_lower <= time_lower_) return;
    time_lower_ = time_lower;
    lengths_ = std::move(lengths);
  }

  /// By the lengths under this beta.
  void prove(double beta) {
    potential().set(beta, time());
    prove(std::vector<double>(potential().lengths().begin(), potential().lengths().end()));
  }

  /// Whether a cut or the lengths of the moment prove more than is known.
  bool prove_more() {
    const double before = time_lower_;
    prove_by_cut();
    for (const double beta : k_proving_betas) {
      if (overload() <= 0) break;
      const double known = time_lower_;
      prove(beta);
      if (time_lower_ <= known) break;
    }
    return time_lower_ > before;
  }

  /// By the best of the cuts that the busiest links make, however many these may be.
  void prove_by_cut() {
    const double low = time_lower_, step = (time() - time_lower_) / k_cut_steps;
    double best = time_lower_;
    std::vector<double> best_lengths;
    for (int i = k_cut_steps - 1; i >= 0; --i) {
      const std::vector<bool> busy = overloaded_links(low + i * step);
      const std::vector<int> part = parts_without(instance_, busy);
      if (part.empty()) break;  // and more parts with more links
      if (std::all_of(part.begin(), part.end(), [](int one) { return one == 0; })) continue;
      std::vector<double> lengths = cut_lengths(instance_, busy, part);
      if (const double bound = cut_bound(instance_, lengths, part); bound > best) {
        best = bound;
        best_lengths = std::move(lengths);
      }
    }
    if (!best_lengths.empty()) prove(std::move(best_lengths));
  }

  /// [class] whether it is busy for longer than this.
  std::vector<bool> overloaded_links(double time) {
    std::vector<bool> overloaded(instance_.class_capacity.size());
    for (std::size_t e = 0; e < overloaded.size(); ++e)
      overloaded[e] = potential().loads()[e] > time * instance_.class_capacity[e];
    return overloaded;
  }

  /// Moves pairs off the links that are too busy. False when these are too many.
  bool move_overload() {
    const double aim = goal() * (1 - k_aim * options_.gap);
    const std::vector<bool> overloaded = overloaded_links(aim);
    const auto count = static_cast<double>(std::count(overloaded.begin(), overloaded.end(), true));
    if (count > k_most_overloaded * static_cast<double>(overloaded.size())) return false;
    const double beta = std::min(k_beta, k_highest_exponent / (time() / aim - 1));
    potential().set(beta, aim);
    flow_.sweep_over(overloaded);
    potential().set(beta, aim);
    potential().absorb_excess();
    return true;
  }

  const FlowInstance& instance_;
  const SynthesisOptions& options_;
  const Clock::time_point began_ = Clock::now();
  FlowSweep flow_;
  double time_lower_ = 0;
  std::vector<double> lengths_;  // [class] that prove it
};

}  // namespace

FlowSolution mended_flow(const FlowInstance& instance, std::span<const double> class_lengths,
                         const SynthesisOptions& options) {
  return Mending(instance, class_lengths, options).run();
}

}  // namespace colltopo
