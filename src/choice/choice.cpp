// Candidates per collective, their prices, and what the previous component is taken to do.

#include "colltopo/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "choice/profile.h"
#include "colltopo/error.h"

namespace colltopo {

int Placement::nodes() const { return static_cast<int>(std::set<int>(node_of.begin(), node_of.end()).size()); }

int Placement::ranks_per_node() const {
  std::map<int, int> ranks;
  int most = 0;
  for (const int node : node_of) most = std::max(most, ++ranks[node]);
  return most;
}

struct Chooser::State {
  Rank ranks;
  Placement placement;
  Machine machine;
  AlgorithmOptions options;
  int nodes, per_node;
  // Programs do not depend on bytes, so neither do profiles: (algorithm and options, collective, root) -> profile.
  std::map<std::string, Profile> profiles;

  const Profile& profile(const Algorithm& algorithm, const AlgorithmOptions& wanted, const Shape& shape) {
    const std::string key = fmt::format("{} {} {} {}", algorithm.name, algorithm.describe(shape, wanted),
                                        colltopo::name(shape.collective), shape.root);
    if (const auto found = profiles.find(key); found != profiles.end()) return found->second;
    if (profiles.size() > 512) profiles.clear();  // a job that reduces to ever new roots
    return profiles[key] =
               profile_of(shape, placement, [&](Rank rank) { return algorithm.program(shape, rank, wanted); });
  }
};

Chooser::Chooser(Rank ranks, Placement placement, Machine machine, AlgorithmOptions options)
    : state_(std::make_unique<State>(State{ranks, std::move(placement), machine, std::move(options), 1, 1, {}})) {
  state_->nodes = state_->placement.nodes();
  state_->per_node = state_->placement.ranks_per_node();
}

Chooser::~Chooser() = default;

namespace {

Shape shape_of(const Request& request, Rank ranks) {
  return {request.collective, ranks, 1, rooted(request.collective) ? request.root : 0};
}

// Options as the row needs them: a group for tra2 where the user named none.
AlgorithmOptions completed(const Algorithm& algorithm, AlgorithmOptions options, const Placement& placement) {
  if ((algorithm.name == "tra2" || algorithm.name == "two-level") && options.group_of.empty() && options.group == 0)
    options.group_of = placement.node_of;
  // With one rank per node the ranks form the torus themselves.
  if (options.dimensions.empty() && placement.nodes() == static_cast<int>(placement.node_of.size())) {
    options.dimensions = placement.dimensions;
  }
  return options;
}

std::vector<int> radices(int ranks) {
  std::set<int> radices;
  const int root = static_cast<int>(std::ceil(std::sqrt(ranks)));
  for (const int r : {2, 3, 4, 8, root, 2 * root, ranks}) {
    if (r >= 2 && r <= ranks) radices.insert(r);
  }
  return {radices.begin(), radices.end()};
}

struct Named {
  std::string_view name;
  AlgorithmOptions options;
};

std::vector<Named> contenders(Collective collective, const AlgorithmOptions& given, Rank ranks, int nodes,
                              int per_node) {
  std::vector<Named> all;
  const auto add = [&](std::string_view name) { all.push_back({name, given}); };
  switch (collective) {
    case Collective::alltoall: {
      add("linear");
      add("pairwise");
      const auto choices = given.radix > 0 ? std::vector<int>{given.radix} : radices(ranks);
      for (const int r : choices) all.push_back({"tra", given}), all.back().options.radix = r;
      if (nodes == 1 || per_node == 1) break;
      const auto intra = given.intra_radix > 0 ? std::vector<int>{given.intra_radix} : radices(per_node);
      const auto inter = given.inter_radix > 0 ? std::vector<int>{given.inter_radix} : radices(nodes);
      for (const int a : intra) {
        for (const int b : inter) {
          all.push_back({"tra2", given});
          all.back().options.intra_radix = a;
          all.back().options.inter_radix = b;
        }
      }
      break;
    }
    case Collective::allgather:
      for (const auto* name : {"ring", "bruck", "recursive-doubling", "swing", "bucket", "hamiltonian"}) add(name);
      break;
    case Collective::reduce_scatter:
      for (const auto* name : {"ring", "recursive-halving", "swing", "bucket", "hamiltonian"}) add(name);
      break;
    case Collective::allreduce:
      for (const auto* name : {"recursive-doubling", "recursive-halving", "ring", "swing", "swing-latency", "mirrored",
                               "bucket", "hamiltonian"})
        add(name);
      break;
    case Collective::bcast:
      for (const auto* name : {"binomial", "scatter-allgather", "swing"}) add(name);
      break;
    case Collective::reduce:
      for (const auto* name : {"binomial", "swing"}) add(name);
      break;
    case Collective::gather:
    case Collective::scatter:
      for (const auto* name : {"linear", "binomial", "two-level"}) add(name);
      break;
  }
  return all;
}

// What Open MPI 4.1's tuned component takes by its fixed decision rules, in terms of our table.
Named stand_in_for_tuned(Collective collective, Rank ranks, std::size_t bytes) {
  AlgorithmOptions options;
  const std::size_t total = bytes * static_cast<std::size_t>(ranks);
  switch (collective) {
    case Collective::alltoall:
      options.radix = 2;
      if (bytes < 200 && ranks > 12) return {"tra", options};
      return {bytes < 3000 ? "linear" : "pairwise", {}};
    case Collective::allgather:
      return {
          total < 50000 ? (std::has_single_bit(static_cast<unsigned>(ranks)) ? "recursive-doubling" : "bruck") : "ring",
          {}};
    case Collective::reduce_scatter:
      return {total < 12000 ? "recursive-halving" : "ring", {}};
    case Collective::allreduce:
      return {bytes < 10000 ? "recursive-doubling" : "ring", {}};
    case Collective::bcast:
      return {bytes < 2048 || ranks < 4 ? "binomial" : "scatter-allgather", {}};
    case Collective::reduce:
      return {"binomial", {}};
    case Collective::gather:
      return {bytes <= 6000 && (ranks > 60 || (ranks > 10 && bytes < 1024)) ? "binomial" : "linear", {}};
    case Collective::scatter:
      return {ranks > 10 && bytes < 300 ? "binomial" : "linear", {}};
  }
  return {"linear", {}};
}

}  // namespace

std::string unfit_for(const Properties& properties, const Request& request) {
  if (!reduces(request.collective)) return "";
  if (!request.commutative && !properties.keeps_rank_order) {
    return "does not keep the order of ranks, which this operation needs";
  }
  if (request.collective == Collective::allreduce && !request.associative_bits && !properties.same_on_all_ranks) {
    return "lets ranks reduce in different orders, which floating point shows";
  }
  return "";
}

Candidate Chooser::price(const Algorithm& algorithm, const AlgorithmOptions& wanted, const Request& request) {
  Candidate candidate{&algorithm, completed(algorithm, wanted, state_->placement), std::string(algorithm.name), 0, ""};
  Shape shape = shape_of(request, state_->ranks);
  if (!serves(algorithm, request.collective)) {
    candidate.excluded = fmt::format("does not do {}", name(request.collective));
    return candidate;
  }
  candidate.excluded = algorithm.refusal(shape, candidate.options);
  if (!candidate.excluded.empty()) return candidate;
  shape.chunks = algorithm.chunks(shape, candidate.options);
  const std::string details = algorithm.describe(shape, candidate.options);
  if (!details.empty()) candidate.name += " " + details;
  candidate.excluded =
      unfit_for(algorithm.properties ? algorithm.properties(shape, candidate.options) : Properties{}, request);
  candidate.seconds = seconds_of(state_->profile(algorithm, candidate.options, shape), state_->machine,
                                 shard_bytes(shape, request.bytes));
  return candidate;
}

std::vector<Candidate> Chooser::candidates(const Request& request) {
  std::vector<Candidate> all;
  for (const Named& named :
       contenders(request.collective, state_->options, state_->ranks, state_->nodes, state_->per_node)) {
    if (const Algorithm* algorithm = algorithm_named(named.name))
      all.push_back(price(*algorithm, named.options, request));
  }
  const Named tuned = stand_in_for_tuned(request.collective, state_->ranks, request.bytes);
  if (const Algorithm* algorithm = algorithm_named(tuned.name)) {
    Request flat = request;
    flat.commutative = flat.associative_bits = true;
    Candidate fallback = price(*algorithm, tuned.options, flat);
    fallback.algorithm = nullptr;
    fallback.name = fmt::format("fallback (priced as {})", fallback.name);
    fallback.excluded.clear();
    all.push_back(std::move(fallback));
  }
  std::ranges::stable_sort(all, [](const Candidate& a, const Candidate& b) {
    if (a.excluded.empty() != b.excluded.empty()) return a.excluded.empty();
    return a.seconds < b.seconds;
  });
  return all;
}

Candidate Chooser::choose(const Request& request) {
  const std::vector<Candidate> all = candidates(request);
  const auto fallback = std::ranges::find_if(all, [](const Candidate& c) { return c.algorithm == nullptr; });
  if (fallback == all.end() || all.front().seconds < 0.95 * fallback->seconds) return all.front();
  return *fallback;
}

}  // namespace colltopo
