// The fully polynomial-time approximation of maximum concurrent flow: Fleischer 2000 ("Approximating fractional
// multicommodity flow independent of the number of commodities") with the commodities of a source routed together along
// one tree, as Karakostas 2008 ("Faster approximation schemes for fractional multicommodity flow problems").
//
// Lengths begin at delta / capacity. In a phase every source sends its demands down its tree of shortest paths, at most
// a link's capacity at a time, and each link it used grows by 1 + epsilon * flow / capacity. When the sum of length
// times capacity reaches 1, the flow that was sent, scaled to unit demands, is within 1 - 3 epsilon of the best
// throughput, and the lengths of the best phase prove it. Lengths here are in units of delta, which would underflow.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "synthesis/methods.h"
#include "synthesis/sweep/shortest_path_tree.h"

namespace colltopo::synthesis {

namespace {

/// The flow sent so far from one source, path by path.
class SentPaths {
 public:
  explicit SentPaths(NodeId hosts) : of_target_(static_cast<std::size_t>(hosts)) {}

  void add(NodeId target, std::span<const LinkId> path, double flow) {
    std::vector<Sent>& known = of_target_[static_cast<std::size_t>(target)];
    // Trees change little from phase to phase: the path of the last one comes first.
    const auto same = std::find_if(known.begin(), known.end(), [&](const Sent& sent) {
      return sent.links == path.size() && std::equal(path.begin(), path.end(), links_.begin() + sent.first_link);
    });
    if (same != known.end()) {
      same->flow += flow;
      std::swap(*same, known.front());
      return;
    }
    known.push_back({flow, static_cast<std::ptrdiff_t>(links_.size()), path.size()});
    std::swap(known.back(), known.front());
    links_.insert(links_.end(), path.begin(), path.end());
  }

  void write(NodeId source, Routing& routing) const {
    for (std::size_t target = 0; target < of_target_.size(); ++target) {
      double total = 0;
      for (const Sent& sent : of_target_[target]) total += sent.flow;
      for (const Sent& sent : of_target_[target])
        routing.add(source, static_cast<NodeId>(target), sent.flow / total,
                    std::span(links_).subspan(static_cast<std::size_t>(sent.first_link), sent.links));
    }
  }

 private:
  struct Sent {
    double flow = 0;
    std::ptrdiff_t first_link = 0;
    std::size_t links = 0;
  };
  std::vector<std::vector<Sent>> of_target_;
  std::vector<LinkId> links_;
};

class Approximation {
 public:
  Approximation(const Topology& topology, double epsilon, double demand)
      : topology_(topology),
        epsilon_(epsilon),
        demand_(demand),
        instance_(whole_instance(topology)),
        arcs_(instance_),
        tree_(arcs_),
        orders_(static_cast<std::size_t>(topology.hosts())),
        sent_(orders_.size(), SentPaths(topology.hosts())),
        flow_(topology.links().size(), 0) {
    for (const double capacity : instance_.class_capacity) lengths_.push_back(1 / capacity);
    volume_ = static_cast<double>(lengths_.size());
    const double links = volume_;
    log_end_ = std::log(links / (1 - epsilon)) / epsilon;
    doubling_phases_ = 2 * std::ceil(std::log(links / (1 - epsilon)) / std::log1p(epsilon) / epsilon);
  }

  bool ended() const { return std::log(volume_) + log_scale_ >= log_end_; }
  /// Whether every pair has been sent something.
  bool usable() const { return phases_ > 0; }

  void phase() {
    // The first phase is finished in any case: every pair must have been sent something.
    double distances = 0;  // lengths only grow, so that at the end of the phase they are at least this
    for (NodeId source = 0; source < topology_.hosts() && (phases_ == 0 || !ended()); ++source) {
      const double scale = log_scale_;
      const double of_source = send_from(source);
      distances = (distances + of_source) * std::exp(scale - log_scale_);
    }
    if (ended() && phases_ > 0) return;  // the phase may have been cut short
    if (distances / volume_ > best_ratio_) {
      best_ratio_ = distances / volume_;
      best_lengths_ = lengths_;
    }
    // The best throughput is more than twice the demands: halve it in units of them.
    if (++phases_ % static_cast<std::int64_t>(doubling_phases_) == 0) demand_ *= 2;
  }

  FlowBound bound() const { return {0, best_ratio_, best_lengths_}; }
  Routing routing() const {
    Routing routing(topology_.hosts());
    for (NodeId source = 0; source < topology_.hosts(); ++source)
      sent_[static_cast<std::size_t>(source)].write(source, routing);
    return routing;
  }

 private:
  /// Returns the sum of the distances of the hosts from the source, before.
  double send_from(NodeId source) {
    double distances = 0;
    double remaining = demand_;  // to every target
    for (bool first = true; remaining > 0 && (first || !ended()); first = false) {
      tree_.grow(source, lengths_, orders_[static_cast<std::size_t>(source)]);
      touched_.clear();
      for (NodeId target = 0; target < topology_.hosts(); ++target) {
        if (first) distances += tree_.distance(target);
        for (const LinkId link : tree_.path(target)) {
          if (flow_[at(link)] == 0) touched_.push_back(link);
          flow_[at(link)] += remaining;
        }
      }
      double fullest = 1;
      for (const LinkId link : touched_)
        fullest = std::max(fullest, flow_[at(link)] / instance_.class_capacity[at(link)]);
      const double sent = remaining / fullest;
      for (NodeId target = 0; target < topology_.hosts(); ++target)
        if (target != source) sent_[at(source)].add(target, tree_.path(target), sent);
      for (const LinkId link : touched_) {
        const double growth = epsilon_ * lengths_[at(link)] * flow_[at(link)] / fullest;  // times the capacity
        lengths_[at(link)] += growth / instance_.class_capacity[at(link)];
        volume_ += growth;
        flow_[at(link)] = 0;
      }
      remaining = fullest > 1 ? remaining - sent : 0;
    }
    rescale();
    return distances;
  }

  void rescale() {
    constexpr double k_large = 1e100;
    if (volume_ < k_large) return;
    for (double& length : lengths_) length /= k_large;
    volume_ /= k_large;
    log_scale_ += std::log(k_large);
  }

  static std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

  const Topology& topology_;
  const double epsilon_;
  double demand_;  // of every pair, in a phase
  FlowInstance instance_;
  Arcs arcs_;
  ShortestPathTree tree_;
  std::vector<std::vector<NodeId>> orders_;  // [source] of tree_
  std::vector<SentPaths> sent_;              // [source]
  std::vector<double> flow_;                 // [link] of one tree
  std::vector<LinkId> touched_;
  std::vector<double> lengths_;  // [link] times delta * exp(log_scale_)
  double volume_ = 0;            // sum of lengths_ * capacity
  double log_scale_ = 0;
  double log_end_ = 0;  // log(1 / delta)
  double doubling_phases_ = 0;
  std::int64_t phases_ = 0;
  double best_ratio_ = 0;
  std::vector<double> best_lengths_;
};

std::string fptas_refusal(const Topology&, const SynthesisOptions& options) {
  if (options.epsilon > 0 && options.epsilon < 1.0 / 3) return "";
  return fmt::format("epsilon {}: the approximation is within 1 - 3 epsilon, so it must be above 0 and below 1/3",
                     options.epsilon);
}

Synthesis make_fptas(const Topology& topology, const SynthesisOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  // Any routing shows a throughput that can be had: with the demands that SSSP serves at once, the best is at least 1.
  const double demand = 1 / sssp_method().make(topology, options).bound.time;
  Approximation approximation(topology, options.epsilon, demand);
  while (!approximation.usable() || !approximation.ended()) {
    approximation.phase();
    if (options.progress) options.progress(approximation.bound());
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > options.seconds) break;
  }
  Synthesis synthesis{approximation.routing(), approximation.bound()};
  synthesis.bound.time = all_to_all_time(topology, link_loads(topology, synthesis.routing));
  synthesis.bound.time_lower = time_lower_bound(topology, synthesis.bound.lengths, options.threads);
  return synthesis;
}

}  // namespace

RoutingMethod fptas_method() {
  return {"fptas", "approximate maximum concurrent flow by growing lengths (Fleischer, Karakostas)", fptas_refusal,
          make_fptas};
}

}  // namespace colltopo::synthesis
