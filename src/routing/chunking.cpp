// Shares to whole chunks: highest common factor, or rounding by carried errors and repair of the busiest links.
//
// Rounding gives each path its share rounded down and hands out what is left of the pair path by path, to where the
// rounding errors so far are most in the other direction (with no errors: the largest remainder). Repair then moves
// single chunks off the busiest link of a step, as long as nothing else becomes as busy.
#include "colltopo/chunking.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include <fmt/format.h>

#include "colltopo/error.h"

namespace colltopo {

namespace {

// Shares of less are what solvers leave behind; fractions of up to thousands of chunks lie further apart.
constexpr double k_tolerance = 1e-6;

bool near_whole(double value, double tolerance) { return std::abs(value - std::round(value)) <= tolerance; }

double time_of(const Shares& shares, const std::vector<double>& loads) {
  if (shares.step.empty()) {
    double most = 0;
    for (std::size_t r = 0; r < loads.size(); ++r) most = std::max(most, loads[r] / shares.capacity[r]);
    return most;
  }
  std::vector<double> most;
  for (std::size_t r = 0; r < loads.size(); ++r) {
    const auto step = static_cast<std::size_t>(shares.step[r]);
    if (most.size() <= step) most.resize(step + 1, 0);
    most[step] = std::max(most[step], loads[r] / shares.capacity[r]);
  }
  return std::accumulate(most.begin(), most.end(), 0.0);
}

double demand_of(const Shares& shares, std::size_t pair) { return shares.demand.empty() ? 1 : shares.demand[pair]; }

/// `amount`: of a path, in shards.
template <typename Amount>
std::vector<double> loads_of(const Shares& shares, const Amount& amount) {
  std::vector<double> loads(shares.capacity.size(), 0);
  for (std::size_t pair = 0; pair + 1 < shares.first_path.size(); ++pair)
    for (std::size_t path = shares.first_path[pair]; path < shares.first_path[pair + 1]; ++path)
      for (const std::int32_t r : shares.resources[path])
        loads[static_cast<std::size_t>(r)] += amount(path) * demand_of(shares, pair);
  return loads;
}

/// Pairs of several paths: the others have nothing to round.
std::vector<std::size_t> split_pairs(const Shares& shares) {
  std::vector<std::size_t> split;
  for (std::size_t pair = 0; pair + 1 < shares.first_path.size(); ++pair)
    if (shares.first_path[pair + 1] - shares.first_path[pair] > 1) split.push_back(pair);
  return split;
}

/// The rounding of all pairs to `chunks`, errors carried from pair to pair.
class Rounding {
 public:
  Rounding(const Shares& shares, Chunk chunks)
      : shares_(shares), chunks_(chunks), error_(shares.capacity.size(), 0), counts_(shares.weights.size(), chunks) {}

  std::vector<Chunk> run(const std::vector<std::size_t>& split) {
    for (const std::size_t pair : split) {
      demand_ = demand_of(shares_, pair);
      round_pair(shares_.first_path[pair], shares_.first_path[pair + 1]);
    }
    return std::move(counts_);
  }

 private:
  void round_pair(std::size_t first, std::size_t end) {
    Chunk left = chunks_;
    for (std::size_t path = first; path < end; ++path) {
      const double share = shares_.weights[path] * chunks_;
      const double whole = std::floor(share + k_tolerance * chunks_);
      counts_[path] = static_cast<Chunk>(whole);
      left -= counts_[path];
      add_error(path, whole - share);
    }
    rounded_up_.assign(end - first, false);
    for (; left > 0; --left) {
      std::size_t best = end;
      double best_cost = 0;
      for (std::size_t path = first; path < end; ++path) {
        const double cost = rounded_up_[path - first] ? 0 : cost_of_one_more(path);
        if (rounded_up_[path - first] || (best != end && cost >= best_cost)) continue;
        best = path;
        best_cost = cost;
      }
      if (best == end) best = first;  // weights that sum to a little more than 1
      rounded_up_[best - first] = true;
      ++counts_[best];
      add_error(best, 1);
    }
    for (std::size_t path = first; left < 0; path = path + 1 < end ? path + 1 : first) {  // to a little less
      if (counts_[path] == 0) continue;
      --counts_[path];
      add_error(path, -1);
      ++left;
    }
  }

  void add_error(std::size_t path, double error) {
    for (const std::int32_t r : shares_.resources[path]) error_[static_cast<std::size_t>(r)] += error * demand_;
  }
  /// By how much the sum of squared errors grows when the path gets one chunk more.
  double cost_of_one_more(std::size_t path) const {
    double cost = 0;
    for (const std::int32_t r : shares_.resources[path]) {
      const double capacity = shares_.capacity[static_cast<std::size_t>(r)];
      cost += (2 * error_[static_cast<std::size_t>(r)] + demand_) / (capacity * capacity);
    }
    return cost;
  }

  const Shares& shares_;
  Chunk chunks_;
  double demand_ = 1;          // of the pair at hand
  std::vector<double> error_;  // [resource] chunks times demand more than its paths' shares
  std::vector<Chunk> counts_;
  std::vector<bool> rounded_up_;  // [path of the pair]
};

/// Which paths of split pairs load a resource.
struct PathsOver {
  std::vector<std::size_t> first;   // [resource], and the end
  std::vector<std::uint32_t> path;  // increasing within a resource
  std::vector<std::uint32_t> pair;  // [path] of all paths

  PathsOver(const Shares& shares, const std::vector<std::size_t>& split)
      : first(shares.capacity.size() + 1, 0), pair(shares.weights.size(), 0) {
    const auto each = [&](const auto& visit) {
      for (const std::size_t p : split)
        for (std::size_t i = shares.first_path[p]; i < shares.first_path[p + 1]; ++i)
          for (const std::int32_t r : shares.resources[i]) visit(p, i, static_cast<std::size_t>(r));
    };
    each([&](std::size_t, std::size_t, std::size_t r) { ++first[r + 1]; });
    std::partial_sum(first.begin(), first.end(), first.begin());
    path.resize(first.back());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    each([&](std::size_t p, std::size_t i, std::size_t r) {
      path[next[r]++] = static_cast<std::uint32_t>(i);
      pair[i] = static_cast<std::uint32_t>(p);
    });
  }
};

/// Moves single chunks to other paths of their pair until the busiest resource of every step must stay as it is.
class Repair {
 public:
  Repair(const Shares& shares, const PathsOver& over, std::vector<Chunk>& counts)
      : shares_(shares),
        over_(over),
        counts_(counts),
        loads_(loads_of(shares, [&](std::size_t path) { return static_cast<double>(counts[path]); })),
        net_(loads_.size(), 0) {
    std::int32_t steps = 1;
    for (const std::int32_t step : shares.step) steps = std::max(steps, step + 1);
    queues_.resize(static_cast<std::size_t>(steps));
    for (std::size_t r = 0; r < loads_.size(); ++r) queue_of(r).push({ratio(r), r});
  }

  void run() {
    for (std::size_t step = 0; step < queues_.size(); ++step)
      while (relieve(busiest(step))) {
      }
  }

 private:
  struct Entry {
    double ratio;
    std::size_t resource;
    bool operator<(const Entry& other) const {
      return ratio != other.ratio ? ratio < other.ratio : resource > other.resource;
    }
  };

  double ratio(std::size_t r) const { return loads_[r] / shares_.capacity[r]; }
  std::size_t step_of(std::size_t r) const {
    return shares_.step.empty() ? 0 : static_cast<std::size_t>(shares_.step[r]);
  }
  std::priority_queue<Entry>& queue_of(std::size_t r) { return queues_[step_of(r)]; }

  /// Every change of a load is in the queue; entries that are no longer true are dropped when they come up.
  std::size_t busiest(std::size_t step) {
    auto& queue = queues_[step];
    while (!queue.empty() && ratio(queue.top().resource) != queue.top().ratio) queue.pop();
    return queue.empty() ? loads_.size() : queue.top().resource;
  }

  /// Takes one chunk off the resource if that leaves all it is given to less busy than the busiest of their steps.
  bool relieve(std::size_t resource) {
    if (resource == loads_.size() || loads_[resource] <= 0) return false;
    std::size_t best_from = 0, best_to = 0;
    double best = ratio(resource);
    for (std::size_t i = over_.first[resource]; i < over_.first[resource + 1]; ++i) {
      const std::size_t from = over_.path[i];
      if (counts_[from] == 0) continue;
      const std::size_t pair = over_.pair[from];
      demand_ = demand_of(shares_, pair);
      for (std::size_t to = shares_.first_path[pair]; to < shares_.first_path[pair + 1]; ++to) {
        const double worst = to == from ? best : busiest_after(from, to, resource, best);
        if (worst >= best) continue;
        best = worst;
        best_from = from;
        best_to = to;
      }
    }
    if (best_from == best_to) return false;
    demand_ = demand_of(shares_, over_.pair[best_from]);
    add(best_from, -1);
    add(best_to, 1);
    return true;
  }

  /// The largest ratio of what gets more load when a chunk moves from one path to the other, as a part of its step's
  /// largest times that of `resource`'s; `limit` or more when the move does not pay.
  double busiest_after(std::size_t from, std::size_t to, std::size_t resource, double limit) {
    for (const std::int32_t id : shares_.resources[to]) ++net_[static_cast<std::size_t>(id)];
    for (const std::int32_t id : shares_.resources[from]) --net_[static_cast<std::size_t>(id)];
    const double worst = net_[resource] < 0 ? busiest_of(to, resource, limit) : limit;
    for (const std::int32_t id : shares_.resources[to]) net_[static_cast<std::size_t>(id)] = 0;
    for (const std::int32_t id : shares_.resources[from]) net_[static_cast<std::size_t>(id)] = 0;
    return worst;
  }

  double busiest_of(std::size_t to, std::size_t resource, double limit) {
    double worst = 0;
    for (const std::int32_t id : shares_.resources[to]) {
      const auto r = static_cast<std::size_t>(id);
      if (net_[r] <= 0) continue;
      const double after = (loads_[r] + net_[r] * demand_) / shares_.capacity[r];
      const double most = ratio(busiest(step_of(r)));
      worst = std::max(worst, step_of(r) == step_of(resource) ? after : after / most * ratio(resource));
      if (worst >= limit) return limit;
    }
    return worst;
  }

  void add(std::size_t path, Chunk chunks) {
    counts_[path] += chunks;
    for (const std::int32_t id : shares_.resources[path]) {
      const auto r = static_cast<std::size_t>(id);
      loads_[r] += chunks * demand_;
      queue_of(r).push({ratio(r), r});
    }
  }

  const Shares& shares_;
  const PathsOver& over_;
  std::vector<Chunk>& counts_;
  double demand_ = 1;              // of the pair at hand
  std::vector<double> loads_;      // [resource] chunks times demand
  std::vector<std::int32_t> net_;  // [resource] by how much the move at hand loads it more; 0 between moves
  std::vector<std::priority_queue<Entry>> queues_;  // [step]
};

/// The numbers of chunks that are worth a try: all small ones, then in steps of about a fifth.
std::vector<Chunk> candidates(Chunk most) {
  std::vector<Chunk> all;
  for (Chunk c = 1; c < most; c += std::max<Chunk>(1, c / 5)) all.push_back(c);
  all.push_back(most);
  return all;
}

void require_shares(const Shares& shares, Chunk most) {
  if (most < 1) throw Error(fmt::format("at most {} chunks per shard; expected 1 or more", most));
  for (std::size_t pair = 0; pair + 1 < shares.first_path.size(); ++pair) {
    double sum = 0;
    for (std::size_t path = shares.first_path[pair]; path < shares.first_path[pair + 1]; ++path)
      sum += shares.weights[path];
    if (!(std::abs(sum - 1) <= 1e-3))
      throw Error(fmt::format("the weights of pair {} sum to {}; expected 1", pair, sum));
  }
}

}  // namespace

Chunk common_chunks(std::span<const double> weights, Chunk most) {
  Chunk chunks = 1;
  for (const double weight : weights) {
    if (near_whole(weight * chunks, k_tolerance * chunks)) continue;
    Chunk denominator = 2;
    while (denominator <= most && !near_whole(weight * denominator, k_tolerance * denominator)) ++denominator;
    if (denominator > most) return 0;
    const std::int64_t common = std::lcm(std::int64_t{chunks}, std::int64_t{denominator});
    if (common > most) return 0;
    chunks = static_cast<Chunk>(common);
  }
  return chunks;
}

ChunkCounts whole_chunks(const Shares& shares, Chunk most, bool exactly, double loss) {
  require_shares(shares, most);
  const std::vector<std::size_t> split = split_pairs(shares);
  const PathsOver over(shares, split);
  const double before = time_of(shares, loads_of(shares, [&](std::size_t path) { return shares.weights[path]; }));
  const auto rounded = [&](Chunk chunks, bool repaired) {
    ChunkCounts result{chunks, Rounding(shares, chunks).run(split), before, 0};
    if (repaired) Repair(shares, over, result.counts).run();
    result.time =
        time_of(shares, loads_of(shares, [&](std::size_t path) { return double{1} * result.counts[path] / chunks; }));
    return result;
  };
  if (exactly) return rounded(most, true);
  if (const Chunk common = common_chunks(shares.weights, most); common > 0) return rounded(common, false);

  ChunkCounts best;
  for (const Chunk chunks : candidates(most)) {
    ChunkCounts next = rounded(chunks, true);
    if (best.counts.empty() || next.time < best.time) best = std::move(next);
    if (best.loss() <= loss) break;
  }
  return best;
}

Chunked chunked(const Topology& topology, const Routing& routing, Chunk most, double loss, const Demand* demand) {
  Shares shares;
  const auto end_pair = [&](const WeightedPath& path) {
    shares.end_pair();
    if (demand != nullptr) shares.demand.push_back(demand->bytes(path.source, path.target));
  };
  shares.capacity = capacities(topology);
  shares.weights.reserve(routing.paths());
  shares.resources.reserve(routing.paths());
  for (std::size_t i = 0; i < routing.paths(); ++i) {
    const WeightedPath path = routing.path(i);
    const bool next_pair = i > 0 && (routing.path(i - 1).source != path.source ||  //
                                     routing.path(i - 1).target != path.target);
    if (next_pair) end_pair(routing.path(i - 1));
    shares.weights.push_back(path.weight);
    shares.resources.push_back(path.links);
  }
  if (routing.paths() > 0) end_pair(routing.path(routing.paths() - 1));
  const ChunkCounts counts = whole_chunks(shares, most, false, loss);

  Chunked result{counts.chunks, Routing(routing.hosts()), counts.time_before, counts.time};
  result.routing.reserve(routing.paths(), routing.links());
  for (std::size_t i = 0; i < routing.paths(); ++i) {
    if (counts.counts[i] == 0) continue;
    const WeightedPath path = routing.path(i);
    result.routing.add(path.source, path.target, double{1} * counts.counts[i] / counts.chunks, path.links);
  }
  return result;
}

}  // namespace colltopo
