// ILP (Basu et al., 5.2): one path per pair, out of its link-disjoint or shortest paths, such that the busiest link
// carries least.
//
// Three steps, each only as far as the gap asks: a local search for a choice of paths, the linear relaxation for a
// bound (its prices are the certificate of the flow's bound, too), and Cbc from that choice on. Where all links are
// equal loads are whole numbers, so the bound is rounded up.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/deadline.h"
#include "base/random.h"
#include "lp/model.h"
#include "synthesis/methods.h"
#include "synthesis/methods/mcf_path.h"
#include "synthesis/paths/candidate_paths.h"
#include "synthesis/paths/path_sets.h"

namespace colltopo::synthesis {

namespace {

struct PairCandidates {
  NodeId source = 0;
  NodeId target = 0;
  std::vector<Path> paths;
};

std::vector<PairCandidates> pairs_of(const Routing& candidates) {
  std::vector<PairCandidates> pairs;
  for (std::size_t i = 0; i < candidates.paths(); ++i) {
    const WeightedPath path = candidates.path(i);
    if (pairs.empty() || pairs.back().source != path.source || pairs.back().target != path.target)
      pairs.push_back({path.source, path.target, {}});
    pairs.back().paths.emplace_back(path.links.begin(), path.links.end());
  }
  return pairs;
}

/// Which of its paths every pair takes, and what links carry then.
class Choice {
 public:
  Choice(const std::vector<double>& capacity, const std::vector<PairCandidates>& pairs)
      : capacity_(&capacity), pairs_(&pairs), chosen_(pairs.size(), 0), loads_(capacity.size(), 0) {
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) add(pair, 1);
  }

  const std::vector<std::size_t>& chosen() const { return chosen_; }
  double time() const {
    double time = 0;
    for (std::size_t link = 0; link < loads_.size(); ++link) time = std::max(time, loads_[link] / (*capacity_)[link]);
    return time;
  }

  void choose(std::size_t pair, std::size_t path) {
    add(pair, -1);
    chosen_[pair] = path;
    add(pair, 1);
  }

  /// Gives the pair the path that adds least to the sum over links of exp(sharpness * load / capacity). Whether that is
  /// another than before.
  bool improve(std::size_t pair, double sharpness) {
    const std::size_t before = chosen_[pair];
    add(pair, -1);
    const double top = time();
    const auto added = [&](std::size_t path) {
      double sum = 0;
      for (const LinkId link : (*pairs_)[pair].paths[path]) {
        const auto at = static_cast<std::size_t>(link);
        const double inverse = 1 / (*capacity_)[at];
        sum += std::exp(sharpness * (loads_[at] * inverse - top)) * std::expm1(sharpness * inverse);
      }
      return sum;
    };
    std::size_t best = before;
    double least = added(before) * (1 - 1e-12);
    for (std::size_t path = 0; path < (*pairs_)[pair].paths.size(); ++path)
      if (const double sum = added(path); sum < least) {
        least = sum;
        best = path;
      }
    chosen_[pair] = best;
    add(pair, 1);
    return best != before;
  }

 private:
  void add(std::size_t pair, double amount) {
    for (const LinkId link : (*pairs_)[pair].paths[chosen_[pair]]) loads_[static_cast<std::size_t>(link)] += amount;
  }

  const std::vector<double>* capacity_;
  const std::vector<PairCandidates>* pairs_;
  std::vector<std::size_t> chosen_;  // [pair]
  std::vector<double> loads_;        // [link]
};

/// Pair by pair to the path of least potential, ever more sharply, until nothing changes or the time is up.
Choice local_search(const std::vector<double>& capacity, const std::vector<PairCandidates>& pairs, std::uint32_t seed,
                    const Deadline& deadline) {
  constexpr int k_most_passes = 30;
  Choice choice(capacity, pairs), best = choice;
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  Lots random(seed);
  for (const double sharpness : {0.5, 1.0, 2.0, 4.0, 8.0}) {
    bool changed = true;
    for (int pass = 0; changed && pass < k_most_passes; ++pass) {
      random.shuffle(order);
      changed = false;
      for (const std::size_t pair : order) {
        if (deadline.passed()) return choice.time() < best.time() ? choice : best;
        changed = choice.improve(pair, sharpness) || changed;
      }
      if (choice.time() < best.time()) best = choice;
    }
  }
  return best;
}

/// A column per path of every pair, in their order, then T; a row per pair, then a row per link.
struct ChoiceProgram {
  lp::Model model;
  lp::Column time = 0;

  ChoiceProgram(const std::vector<double>& capacity, const std::vector<PairCandidates>& pairs, bool integers) {
    std::vector<std::vector<lp::Term>> loads(capacity.size());
    std::vector<std::vector<lp::Term>> choices;
    for (const PairCandidates& pair : pairs) {
      auto& choice = choices.emplace_back();
      for (const Path& path : pair.paths) {
        const lp::Column taken = integers ? model.integer_column(0, 0, 1) : model.column(0);
        choice.push_back({taken, 1});
        for (const LinkId link : path) loads[static_cast<std::size_t>(link)].push_back({taken, 1});
      }
    }
    time = model.column(1);
    for (const auto& choice : choices) model.row(1, 1, choice);
    for (std::size_t link = 0; link < capacity.size(); ++link) {
      loads[link].push_back({time, -capacity[link]});
      model.row(-lp::k_infinity, 0, loads[link]);
    }
  }
};

std::vector<double> point_of(const Choice& choice, const std::vector<PairCandidates>& pairs) {
  std::vector<double> point;
  for (std::size_t pair = 0; pair < pairs.size(); ++pair)
    for (std::size_t path = 0; path < pairs[pair].paths.size(); ++path)
      point.push_back(path == choice.chosen()[pair] ? 1 : 0);
  point.push_back(choice.time());
  return point;
}

void take_point(Choice& choice, const std::vector<PairCandidates>& pairs, const std::vector<double>& point) {
  std::size_t column = 0;
  for (std::size_t pair = 0; pair < pairs.size(); ++pair)
    for (std::size_t path = 0; path < pairs[pair].paths.size(); ++path, ++column)
      if (point[column] > 0.5) choice.choose(pair, path);
}

std::string ilp_refusal(const Topology& topology, const SynthesisOptions& options) {
  constexpr std::int64_t k_most_pairs = 40'000;
  const std::int64_t pairs = std::int64_t{topology.hosts()} * (topology.hosts() - 1);
  if (pairs <= k_most_pairs) return candidate_refusal(topology, options);
  return fmt::format(
      "an integer program of {} pairs of hosts; Cbc gets nowhere with more than {}; sssp chooses single paths at any "
      "size",
      pairs, k_most_pairs);
}

Synthesis ilp(const Topology& topology, const SynthesisOptions& options) {
  const Deadline deadline(options.seconds);
  const std::vector<double> capacity = capacities(topology);
  const CandidatePaths candidates = candidate_paths(topology, options);
  const std::vector<PairCandidates> pairs = pairs_of(candidates.paths);
  Choice choice = local_search(capacity, pairs, options.seed, deadline);

  Synthesis synthesis;
  synthesis.remark = candidates.remark();
  synthesis.bound.time = choice.time();
  lp::SolveOptions how;
  how.method = lp::Method::barrier;
  how.seconds = deadline.seconds_left();
  const ChoiceProgram relaxed(capacity, pairs, false);
  if (const lp::Solution relaxation = relaxed.model.solve(how); relaxation.status == lp::Status::optimal) {
    for (std::size_t link = 0; link < capacity.size(); ++link)
      synthesis.bound.lengths.push_back(std::max(0.0, -relaxation.row_prices[pairs.size() + link]));
    synthesis.bound.time_lower = time_lower_bound(topology, synthesis.bound.lengths, options.threads);
    // By the prices, not as the solver says: no weights on these paths are faster, single ones least of all.
    synthesis.time_lower_of_paths = time_lower_of_paths(topology, candidates.paths, synthesis.bound.lengths);
    if (options.progress) options.progress(synthesis.bound);

    const bool whole = std::all_of(capacity.begin(), capacity.end(), [](double c) { return c == 1; });
    const double least = whole ? std::ceil(synthesis.time_lower_of_paths - 1e-6) : synthesis.time_lower_of_paths;
    synthesis.time_lower_of_choice = least;
    if (choice.time() > least * (1 + options.gap)) {
      ChoiceProgram program(capacity, pairs, true);
      if (whole) program.model.require_integer(program.time);
      const std::vector<double> point = point_of(choice, pairs);
      how.start = point;
      how.gap = options.gap;
      how.seconds = deadline.seconds_left();
      const lp::Solution solution = program.model.solve(how);
      // Cbc's tree cannot be recomputed; what it proves beyond the prices is named as the solver's.
      if (std::isfinite(solution.bound))
        synthesis.time_lower_of_choice = std::max(least, whole ? std::ceil(solution.bound - 1e-6) : solution.bound);
      if (!solution.columns.empty() && solution.objective < choice.time()) take_point(choice, pairs, solution.columns);
    }
  }
  synthesis.routing = Routing(topology.hosts());
  for (std::size_t pair = 0; pair < pairs.size(); ++pair)
    synthesis.routing.add(pairs[pair].source, pairs[pair].target, 1, pairs[pair].paths[choice.chosen()[pair]]);
  synthesis.bound.time = choice.time();
  return synthesis;
}

}  // namespace

RoutingMethod ilp_method() {
  return {"ilp", "one path per pair by integer programming (ILP-disjoint, ILP-shortest), the largest load least",
          ilp_refusal, ilp};
}

}  // namespace colltopo::synthesis
