// Gauss-Seidel on a smooth sum of maxima: sum over steps t of log(sum over links e of exp(sharpness * load / capacity))
// / sharpness.
//
// Its derivative by the load of e in t is the price of e in t. The cheapest way of a pair is found by going through the
// hops of its paths and the steps; what goes other ways moves there by a Newton step, and prices follow at once.
#include "synthesis/steps/hop_times.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

namespace colltopo::synthesis {

namespace {

using Clock = std::chrono::steady_clock;
using HopSteps = std::vector<std::uint16_t>;  // [hop] its step, less 1

/// A path and the steps of its hops.
struct Way {
  std::uint32_t path = 0;
  HopSteps steps;
  double weight = 0;
};

struct PairWays {
  std::uint32_t first_path = 0, end_path = 0;
  std::vector<Way> ways;  // weights sum to 1
};

class HopTimes {
 public:
  HopTimes(const Topology& topology, const Routing& routing, Step steps)
      : topology_(topology),
        routing_(routing),
        steps_(static_cast<std::size_t>(steps)),
        capacity_(capacities(topology)),
        loads_(steps_ * capacity_.size(), 0),
        power_(loads_.size(), 0),
        top_(steps_, 0),
        sum_(steps_, 0) {
    for (std::uint32_t i = 0; i < routing.paths(); ++i) {
      const WeightedPath path = routing.path(i);
      const auto same = [&](const WeightedPath& other) {
        return other.source == path.source && other.target == path.target;
      };
      if (i == 0 || !same(routing.path(i - 1))) pairs_.push_back({i, i, {}});
      pairs_.back().end_path = i + 1;
      std::vector<std::uint32_t>& ends = hop_end_.emplace_back();
      for (std::size_t k = 0; k < path.links.size(); ++k)
        if (topology.is_host(topology.link(path.links[k]).head)) ends.push_back(static_cast<std::uint32_t>(k) + 1);
      // Hops in the first steps.
      if (!(path.weight > 0)) continue;
      Way way{i, HopSteps(ends.size()), path.weight};
      std::iota(way.steps.begin(), way.steps.end(), std::uint16_t{0});
      pairs_.back().ways.push_back(std::move(way));
    }
    recount();
  }

  double run(double good_enough, double seconds) {
    const auto start = Clock::now();
    const auto late = [&] { return std::chrono::duration<double>(Clock::now() - start).count() >= seconds; };
    constexpr int k_sweeps = 60;   // at one sharpness, at most
    constexpr int k_stages = 9;    // the sharpness doubles from one to the next
    constexpr double k_first = 8;  // sharpness times the mean U_t
    constexpr double k_least_gain = 2e-4;
    double best = time();
    std::vector<std::vector<Way>> best_ways = ways();
    sharpness_ = k_first * static_cast<double>(steps_) / best;
    for (int stage = 0; stage < k_stages && best > good_enough && !late(); ++stage, sharpness_ *= 2) {
      double last = std::numeric_limits<double>::infinity();
      for (int sweep = 0; sweep < k_sweeps && !late(); ++sweep) {
        refresh();
        for (PairWays& pair : pairs_) improve(pair);
        recount();
        const double now = time();
        if (now < best) {
          best = now;
          best_ways = ways();
        }
        refresh();
        const double smooth = potential();
        if (best <= good_enough || smooth > (1 - k_least_gain) * last) break;
        last = smooth;
      }
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i) pairs_[i].ways = std::move(best_ways[i]);
    return best;
  }

  SteppedFlow flow() const {
    // A way of less than this part of its pair is not worth chunks of its own.
    constexpr double k_least_part = 1e-3;
    SteppedFlow flow(topology_.hosts());
    for (const PairWays& pair : pairs_) {
      double kept = 0;
      for (const Way& way : pair.ways) kept += way.weight >= k_least_part ? way.weight : 0;
      for (const Way& way : pair.ways) {
        if (way.weight < k_least_part) continue;
        const WeightedPath path = routing_.path(way.path);
        std::vector<Step> steps;
        for (std::size_t hop = 0; hop < way.steps.size(); ++hop)
          steps.resize(hop_end_[way.path][hop], static_cast<Step>(way.steps[hop]) + 1);
        flow.add(path.source, path.target, way.weight / kept, path.links, steps);
      }
    }
    return flow;
  }

 private:
  /// Calls visit(step and link, link) for all links of a way.
  template <typename Visit>
  void visit(const Way& way, const Visit& visit) const {
    const auto links = routing_.path(way.path).links;
    std::size_t i = 0;
    for (std::size_t hop = 0; hop < way.steps.size(); ++hop)
      for (; i < hop_end_[way.path][hop]; ++i) {
        const auto link = static_cast<std::size_t>(links[i]);
        visit(way.steps[hop] * capacity_.size() + link, link);
      }
  }

  /// Loads as the ways have them, without the rounding of many small changes.
  void recount() {
    std::fill(loads_.begin(), loads_.end(), 0);
    for (const PairWays& pair : pairs_)
      for (const Way& way : pair.ways) visit(way, [&](std::size_t r, std::size_t) { loads_[r] += way.weight; });
  }

  double time() const {
    double time = 0;
    for (std::size_t step = 0; step < steps_; ++step) {
      double most = 0;
      for (std::size_t link = 0; link < capacity_.size(); ++link)
        most = std::max(most, loads_[step * capacity_.size() + link] / capacity_[link]);
      time += most;
    }
    return time;
  }

  double potential() const {
    double sum = 0;
    for (std::size_t step = 0; step < steps_; ++step) sum += top_[step] + std::log(sum_[step]) / sharpness_;
    return sum;
  }

  std::vector<std::vector<Way>> ways() const {
    std::vector<std::vector<Way>> all;
    all.reserve(pairs_.size());
    for (const PairWays& pair : pairs_) all.push_back(pair.ways);
    return all;
  }

  void refresh() {
    for (std::size_t step = 0; step < steps_; ++step) {
      const std::size_t first = step * capacity_.size();
      top_[step] = 0;
      for (std::size_t link = 0; link < capacity_.size(); ++link)
        top_[step] = std::max(top_[step], loads_[first + link] / capacity_[link]);
      sum_[step] = 0;
      for (std::size_t link = 0; link < capacity_.size(); ++link)
        sum_[step] += power_[first + link] = power(step, link);
    }
  }

  double power(std::size_t step, std::size_t link) const {
    return std::exp(sharpness_ * (loads_[step * capacity_.size() + link] / capacity_[link] - top_[step]));
  }

  double price(std::size_t r, std::size_t link) const {
    return power_[r] / (sum_[r / capacity_.size()] * capacity_[link]);
  }

  void move(const Way& way, double amount) {
    visit(way, [&](std::size_t r, std::size_t link) {
      const std::size_t step = r / capacity_.size();
      loads_[r] = std::max(0.0, loads_[r] + amount);
      const double now = power(step, link);
      sum_[step] += now - power_[r];
      power_[r] = now;
    });
  }

  double cost(const Way& way) const {
    double cost = 0;
    visit(way, [&](std::size_t r, std::size_t link) { cost += price(r, link); });
    return cost;
  }

  /// The least cost of a path, and the steps of its hops for it. best_[hop][late]: of the hops up to this one, none
  /// later than that many steps after its earliest.
  double cheapest(std::uint32_t path, HopSteps& steps) {
    const auto links = routing_.path(path).links;
    const std::vector<std::uint32_t>& ends = hop_end_[path];
    const std::size_t hops = ends.size(), slack = steps_ - hops;
    best_.assign(hops * (slack + 1), 0);
    taken_.assign(best_.size(), 0);
    std::size_t begin = 0;
    for (std::size_t hop = 0; hop < hops; ++hop) {
      for (std::size_t late = 0; late <= slack; ++late) {
        const std::size_t at = hop * (slack + 1) + late;
        double here = hop == 0 ? 0 : best_[at - (slack + 1)];
        for (std::size_t i = begin; i < ends[hop]; ++i) {
          const auto link = static_cast<std::size_t>(links[i]);
          here += price((hop + late) * capacity_.size() + link, link);
        }
        const bool earlier = late > 0 && best_[at - 1] <= here;
        best_[at] = earlier ? best_[at - 1] : here;
        taken_[at] = earlier ? taken_[at - 1] : static_cast<std::uint16_t>(late);
      }
      begin = ends[hop];
    }
    steps.resize(hops);
    std::size_t late = slack;
    for (std::size_t hop = hops; hop-- > 0;) {
      late = taken_[hop * (slack + 1) + late];
      steps[hop] = static_cast<std::uint16_t>(hop + late);
    }
    return best_.back();
  }

  void improve(PairWays& pair) {
    Way target;
    double least = std::numeric_limits<double>::infinity();
    HopSteps steps;
    for (std::uint32_t path = pair.first_path; path < pair.end_path; ++path)
      if (const double cost = cheapest(path, steps); cost < least) {
        least = cost;
        target.path = path;
        target.steps = steps;
      }
    // The cheapest of those in use will do when it is about as cheap.
    constexpr double k_worth_it = 1e-3;
    std::size_t to = 0;
    double least_used = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < pair.ways.size(); ++i)
      if (const double used = cost(pair.ways[i]); used < least_used) {
        least_used = used;
        to = i;
      }
    if (least < (1 - k_worth_it) * least_used) {
      to = pair.ways.size();
      pair.ways.push_back(std::move(target));
    }
    for (std::size_t i = 0; i < pair.ways.size(); ++i)
      if (i != to) shift(pair.ways[i], pair.ways[to]);
    std::erase_if(pair.ways, [](const Way& way) { return !(way.weight > 0); });
  }

  /// From one way to a cheaper one, as far as it pays.
  void shift(Way& from, Way& to) {
    const double gain = cost(from) - cost(to);
    if (!(gain > 0)) return;
    // What both use counts as if it changed: a shorter step, never a longer one.
    double curvature = 0;
    for (const Way* way : {&from, &to})
      visit(*way, [&](std::size_t r, std::size_t link) { curvature += sharpness_ * price(r, link) / capacity_[link]; });
    // Prices change by a factor of e at most.
    const double amount = std::min(gain / curvature, 1 / sharpness_);
    const double moved = amount >= from.weight * (1 - 1e-12) ? from.weight : amount;
    move(from, -moved);
    move(to, moved);
    from.weight -= moved;
    to.weight += moved;
  }

  const Topology& topology_;
  const Routing& routing_;
  std::size_t steps_;
  std::vector<double> capacity_;
  std::vector<double> loads_;  // [step and link]
  std::vector<double> power_;  // [step and link] exp(sharpness * (load / capacity - top))
  std::vector<double> top_;    // [step] largest load over capacity when the sweep began
  std::vector<double> sum_;    // [step] of power
  double sharpness_ = 1;
  std::vector<std::vector<std::uint32_t>> hop_end_;  // [path][hop] into its links
  std::vector<PairWays> pairs_;
  std::vector<double> best_;
  std::vector<std::uint16_t> taken_;
};

}  // namespace

Step most_hops(const Topology& topology, const Routing& routing) {
  Step most = 0;
  for (std::size_t i = 0; i < routing.paths(); ++i) {
    Step hops = 0;
    for (const LinkId link : routing.path(i).links) hops += topology.is_host(topology.link(link).head) ? 1 : 0;
    most = std::max(most, hops);
  }
  return most;
}

SteppedFlow with_hop_times(const Topology& topology, const Routing& routing, Step steps, double good_enough,
                           double seconds) {
  HopTimes times(topology, routing, std::max(steps, most_hops(topology, routing)));
  times.run(good_enough, seconds);
  return times.flow();
}

}  // namespace colltopo::synthesis
