// Sweeps over sources, on several threads.
#include "synthesis/sweep/flow_sweep.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/meeting.h"
#include "base/parallel.h"

namespace colltopo::synthesis {

namespace {

constexpr std::size_t k_batches = 250;
// Sources that are more than this part of all, visited together, overshoot: each moves as if others did as it does.
constexpr double k_part_together = 1.0 / 60;
// A tree's path joins a pool when it is shorter than the pool's best by this part.
constexpr double k_worth_adding = 1e-4;
// An unused path stays while it is no longer than the shortest by this part.
constexpr double k_worth_keeping = 0.02;

/// Whether the links lead from source to target in this topology.
bool leads(const Topology& topology, const WeightedPath& path) {
  NodeId at = path.source;
  for (const LinkId link : path.links) {
    if (link < 0 || static_cast<std::size_t>(link) >= topology.links().size() || topology.link(link).tail != at)
      return false;
    at = topology.link(link).head;
  }
  return at == path.target;
}

void copy_pair(const PathPool& from, NodeId target, PathPool& to) {
  for (std::size_t path = from.first(target); path < from.first(target + 1); ++path)
    to.add(from.weight(path), from.links(path));
  to.end_target();
}

}  // namespace

FlowSweep::FlowSweep(const FlowInstance& instance, const SynthesisOptions& options)
    : instance_(instance),
      team_(options.team),
      arcs_(instance),
      potential_(instance.class_capacity),
      pools_(instance.sources.size()),
      orders_(instance.sources.size()),
      changes_(instance.class_capacity.size()) {
  const std::size_t members = team_ == nullptr ? 1 : static_cast<std::size_t>(team_->ranks());
  const std::size_t rank = team_ == nullptr ? 0 : static_cast<std::size_t>(team_->rank());
  for (std::size_t source = rank; source < pools_.size(); source += members) turns_.push_back(source);
  // Members must not visit neighbours at the same time in every sweep: both would move to the same links.
  random_ = Lots(options.seed + static_cast<std::uint64_t>(rank));
  most_turns_ = (pools_.size() + members - 1) / members;
  const std::size_t batch = std::max<std::size_t>(1, pools_.size() / members / k_batches);
  for (unsigned i = 0; i < worker_count(options.threads); ++i)
    desks_.push_back({ShortestPathTree(arcs_), PairStep(instance), {}, {}});
  if (batch > 1 || members > 1) copies_.assign(batch, potential_);
  const double together = static_cast<double>(batch * members) / static_cast<double>(pools_.size());
  companions_ = std::max(1.0, together / k_part_together);
}

void FlowSweep::sweep(const std::function<void(std::size_t, Desk&, LinkPotential&)>& visit) {
  random_.shuffle(turns_);
  if (copies_.empty()) {
    for (const std::size_t source : turns_) visit(source, desks_[0], potential_);
    return;
  }
  const std::size_t workers = std::min(desks_.size(), copies_.size());
  std::mutex mutex;
  std::exception_ptr error;  // thrown once all have come to the end: the others would wait for who is gone
  Meeting together(workers);
  std::atomic<std::size_t> taken{0};  // places of all batches so far, and one beyond the last by each worker
  const auto work = [&](std::size_t worker) {
    const std::size_t classes = changes_.size();
    const std::size_t begin = classes * worker / workers, end = classes * (worker + 1) / workers;
    std::size_t taken_before = 0;
    for (std::size_t first = 0; first < most_turns_; first += copies_.size()) {
      const std::size_t count = std::min(copies_.size(), turns_.size() - std::min(first, turns_.size()));
      for (std::size_t i; (i = taken++ - taken_before) < count;) {
        copies_[i].restart_from(potential_, companions_);
        try {
          visit(turns_[first + i], desks_[worker], copies_[i]);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!error) error = std::current_exception();
        }
      }
      taken_before += count + workers;
      together.arrive_and_wait();
      LinkPotential::changes(std::span(copies_).first(count), begin, end, changes_);
      if (team_ != nullptr) {
        together.arrive_and_wait();
        if (worker == 0) team_->sum(changes_);
        together.arrive_and_wait();
      }
      potential_.apply(changes_, begin, end);
      together.arrive_and_wait();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t worker = 1; worker < workers; ++worker) others.emplace_back(work, worker);
    work(0);
  }
  if (error) std::rethrow_exception(error);
}

void FlowSweep::damp() {
  const double members = team_ == nullptr ? 1 : team_->ranks();
  companions_ = std::clamp(2 * companions_, 1.0, std::max(companions_, static_cast<double>(copies_.size()) * members));
}

void FlowSweep::grow(std::size_t source, std::span<const double> class_lengths, Desk& desk) {
  desk.tree.grow(instance_.sources[source], class_lengths, orders_[source]);
  ++desk.trees;
}

void FlowSweep::start_from(const Routing& routing) {
  const Topology& topology = *instance_.topology;
  std::vector<std::size_t> own = turns_;
  std::sort(own.begin(), own.end());
  std::size_t next = 0;
  for (const std::size_t i : own) {
    const NodeId source = instance_.sources[i];
    while (next < routing.paths() && routing.path(next).source < source) ++next;
    for (NodeId target = 0; target < topology.hosts(); ++target) {
      double sum = 0;
      std::size_t end = next;
      for (; end < routing.paths(); ++end) {
        const WeightedPath path = routing.path(end);
        if (path.source != source || path.target != target) break;
        if (leads(topology, path)) sum += path.weight;
      }
      for (; next < end; ++next)
        if (const WeightedPath path = routing.path(next); path.source != target && leads(topology, path)) {
          pools_[i].add(path.weight / sum, path.links);
          desks_[0].step.put(path.links, path.weight / sum * instance_.demand(i, target), potential_);
        }
      pools_[i].end_target();
    }
  }
  if (team_ == nullptr) return;
  std::vector<double> loads(potential_.loads().begin(), potential_.loads().end());
  team_->sum(loads);
  potential_.set_loads(loads);
}

double FlowSweep::sweep_with_new_paths(std::span<const double> class_lengths) {
  std::vector<double> sums(pools_.size());
  sweep([&](std::size_t source, Desk& desk, LinkPotential& potential) {
    sums[source] = renew_pool(source, class_lengths, desk, potential);
  });
  return sum_over(team_, std::accumulate(sums.begin(), sums.end(), 0.0));
}

void FlowSweep::sweep_over(const std::vector<bool>& classes) {
  sweep([&](std::size_t source, Desk& desk, LinkPotential& potential) {
    renew_pairs_over(classes, source, desk, potential);
  });
}

void FlowSweep::sweep_pools() {
  sweep([&](std::size_t source, Desk& desk, LinkPotential& potential) { balance_pool(source, desk, potential); });
}

double FlowSweep::sum_of_distances(std::span<const double> class_lengths) {
  std::vector<double> sums(pools_.size());
  for_each_index(turns_.size(), static_cast<int>(desks_.size()), [&](std::size_t turn, unsigned worker) {
    const std::size_t source = turns_[turn];
    Desk& desk = desks_[worker];
    grow(source, class_lengths, desk);
    for (NodeId host = 0; host < instance_.topology->hosts(); ++host)
      sums[source] += instance_.demand(source, host) * desk.tree.distance(host);
  });
  return sum_over(team_, std::accumulate(sums.begin(), sums.end(), 0.0));
}

double FlowSweep::renew_pool(std::size_t source, std::span<const double> class_lengths, Desk& desk,
                             LinkPotential& potential) {
  PathPool& pool = pools_[source];
  grow(source, class_lengths.empty() ? potential.lengths() : class_lengths, desk);
  if (!class_lengths.empty()) desk.tree.measure(potential.lengths());
  desk.fresh.clear();
  double distances = 0;
  for (NodeId target = 0; target < instance_.topology->hosts(); ++target) {
    if (!instance_.has_demand(source, target)) {
      desk.fresh.end_target();
      continue;
    }
    const double demand = instance_.demand(source, target);
    const double distance = desk.tree.distance(target);
    distances += demand * distance;
    desk.candidates.clear();
    double shortest = std::numeric_limits<double>::infinity();
    if (pool.targets() > 0)
      for (std::size_t path = pool.first(target); path < pool.first(target + 1); ++path) {
        const double length = desk.step.length(pool.links(path), potential);
        desk.candidates.push_back({pool.links(path), pool.weight(path), length});
        shortest = std::min(shortest, length);
      }
    const double reach = std::min(distance, shortest);
    const double by_tree = class_lengths.empty() ? distance : desk.tree.measured(target);
    if (desk.candidates.empty()) {
      const std::span<const LinkId> links = desk.tree.path(target);
      desk.step.put(links, demand, potential);
      desk.candidates.push_back({links, 1, distance});
    } else if (by_tree < shortest * (1 - k_worth_adding)) {
      const std::span<const LinkId> links = desk.tree.path(target);
      const double length = desk.step.length(links, potential);
      if (length < shortest * (1 - k_worth_adding)) desk.candidates.push_back({links, 0, length});
    }
    if (desk.candidates.size() > 1) desk.step.balance(desk.candidates, demand, potential);
    for (const Candidate& candidate : desk.candidates)
      if (candidate.weight > 0 || candidate.length < reach * (1 + k_worth_keeping))
        desk.fresh.add(candidate.weight, candidate.links);
    desk.fresh.end_target();
  }
  pool = desk.fresh;
  return distances;
}

void FlowSweep::renew_pairs_over(const std::vector<bool>& classes, std::size_t source, Desk& desk,
                                 LinkPotential& potential) {
  PathPool& pool = pools_[source];
  const auto is_over = [&](NodeId target) {
    for (std::size_t path = pool.first(target); path < pool.first(target + 1); ++path)
      for (const LinkId link : pool.links(path))
        if (classes[static_cast<std::size_t>(instance_.link_class[static_cast<std::size_t>(link)])]) return true;
    return false;
  };
  bool grown = false;
  for (NodeId target = 0; target < instance_.topology->hosts(); ++target) {
    const bool over = is_over(target);
    if (over && !grown) {
      grown = true;
      grow(source, potential.lengths(), desk);
      desk.fresh.clear();
      for (NodeId before = 0; before < target; ++before) copy_pair(pool, before, desk.fresh);
    }
    if (!grown) continue;
    if (over)
      renew_pair(source, target, desk, potential);
    else
      copy_pair(pool, target, desk.fresh);
  }
  if (grown) pool = desk.fresh;
}

void FlowSweep::renew_pair(std::size_t source, NodeId target, Desk& desk, LinkPotential& potential) {
  const PathPool& pool = pools_[source];
  desk.candidates.clear();
  double shortest = std::numeric_limits<double>::infinity();
  for (std::size_t path = pool.first(target); path < pool.first(target + 1); ++path) {
    const double length = desk.step.length(pool.links(path), potential);
    desk.candidates.push_back({pool.links(path), pool.weight(path), length});
    shortest = std::min(shortest, length);
  }
  const std::span<const LinkId> links = desk.tree.path(target);
  const double length = desk.step.length(links, potential);
  if (length < shortest * (1 - k_worth_adding)) desk.candidates.push_back({links, 0, length});
  const double reach = std::min(length, shortest);
  if (desk.candidates.size() > 1) desk.step.balance(desk.candidates, instance_.demand(source, target), potential);
  for (const Candidate& candidate : desk.candidates)
    if (candidate.weight > 0 || candidate.length < reach * (1 + k_worth_keeping))
      desk.fresh.add(candidate.weight, candidate.links);
  desk.fresh.end_target();
}

void FlowSweep::balance_pool(std::size_t source, Desk& desk, LinkPotential& potential) {
  PathPool& pool = pools_[source];
  for (NodeId target = 0; target < instance_.topology->hosts(); ++target) {
    const std::size_t first = pool.first(target), last = pool.first(target + 1);
    if (last - first < 2) continue;
    desk.candidates.clear();
    for (std::size_t path = first; path < last; ++path)
      desk.candidates.push_back({pool.links(path), pool.weight(path), desk.step.length(pool.links(path), potential)});
    desk.step.balance(desk.candidates, instance_.demand(source, target), potential);
    for (std::size_t path = first; path < last; ++path) pool.weight(path) = desk.candidates[path - first].weight;
  }
}

void FlowSweep::gather_pools() {
  std::vector<std::byte> own;
  std::sort(turns_.begin(), turns_.end());
  if (team_->rank() != 0)
    for (const std::size_t source : turns_) pools_[source].pack(own);
  const std::vector<std::vector<std::byte>> gathered = team_->gather(own);
  for (std::size_t rank = 1; rank < gathered.size(); ++rank) {
    std::span<const std::byte> left = gathered[rank];
    for (std::size_t source = rank; source < pools_.size(); source += gathered.size()) pools_[source].unpack(left);
  }
}

FlowSolution FlowSweep::solution(double time_lower, std::vector<double> class_lengths, Answer answer, KeptFlow* kept) {
  FlowSolution solution{{}, loads(), std::move(class_lengths), 0, time_lower};
  if (kept != nullptr && kept->time() < instance_.time_of(solution.loads)) {
    if (answer == Answer::routing) pools_ = kept->release();
    solution.loads = answer == Answer::routing ? loads() : kept->loads();
  }
  solution.time = instance_.time_of(solution.loads);
  std::uint64_t trees = 0;
  for (const Desk& desk : desks_) trees += desk.trees;
  solution.trees = counts_by_member(team_, trees);
  if (answer == Answer::routing) solution.routing = routing();
  return solution;
}

std::vector<double> FlowSweep::loads() const {
  constexpr std::size_t k_slices = 16;  // of the sources: sums that are the same for any number of threads
  std::vector<std::vector<double>> slices(k_slices, std::vector<double>(changes_.size(), 0));
  for_each_index(k_slices, static_cast<int>(desks_.size()), [&](std::size_t slice, unsigned) {
    for (std::size_t source = slice; source < pools_.size(); source += k_slices) {
      const PathPool& pool = pools_[source];
      for (NodeId target = 0; target < static_cast<NodeId>(pool.targets()); ++target) {
        const double demand = instance_.demand(source, target), sum = weight_in_use(pool, target);
        for (std::size_t path = pool.first(target); path < pool.first(target + 1); ++path) {
          if (pool.weight(path) <= k_least_share) continue;
          for (const LinkId link : pool.links(path))
            slices[slice][static_cast<std::size_t>(instance_.link_class[static_cast<std::size_t>(link)])] +=
                pool.weight(path) / sum * demand;
        }
      }
    }
  });
  for (std::size_t slice = 1; slice < k_slices; ++slice)
    std::transform(slices[0].begin(), slices[0].end(), slices[slice].begin(), slices[0].begin(), std::plus<>());
  if (team_ != nullptr) team_->sum(slices[0]);
  return std::move(slices[0]);
}

Routing FlowSweep::routing() {
  if (team_ != nullptr) gather_pools();
  if (team_ != nullptr && team_->rank() != 0) return Routing(instance_.topology->hosts());
  Routing routing(instance_.topology->hosts());
  std::size_t paths = 0, links = 0;
  for (const PathPool& pool : pools_) paths += pool.paths(), links += pool.links();
  routing.reserve(paths, links);
  for (std::size_t source = 0; source < pools_.size(); ++source) {
    const PathPool& pool = pools_[source];
    for (NodeId target = 0; target < instance_.topology->hosts(); ++target) {
      const double sum = weight_in_use(pool, target);
      for (std::size_t path = pool.first(target); path < pool.first(target + 1); ++path)
        if (pool.weight(path) > k_least_share)
          routing.add(instance_.sources[source], target, pool.weight(path) / sum, pool.links(path));
    }
  }
  return routing;
}

}  // namespace colltopo::synthesis
