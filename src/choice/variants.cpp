// Which variants are worth their programs. A row may count what a rank has to send (Fan et al., Propositions 1 to 4);
// that times the machine's parameters is no price, but it orders variants of one row well enough to leave out those
// that are clearly behind at every size.

#include "choice/variants.h"

#include <algorithm>

namespace colltopo {

namespace {

constexpr double k_near = 1.1;  // times the best count: within what packing and placement may turn round

double estimate(const Counted& counted, const Terrain& terrain, const Machine& machine, double bytes) {
  const bool network = terrain.nodes->groups() > 1;
  const double latency_between = network ? machine.latency_network : machine.latency_node;
  const double rate_between = network ? machine.bandwidth_network / terrain.nodes->largest() : machine.bandwidth_node;
  const double shards = counted.shards_within + counted.shards_between;
  return counted.rounds_within * machine.latency_node + counted.rounds_between * latency_between +
         bytes * (counted.shards_within / machine.bandwidth_node + counted.shards_between / rate_between +
                  2 * shards / machine.bandwidth_copy);
}

std::vector<AlgorithmOptions> worth_a_price(const Algorithm& algorithm, const Shape& shape,
                                            std::vector<AlgorithmOptions> all, const Terrain& terrain,
                                            const Machine& machine) {
  if (!algorithm.counted || all.size() <= 2) return all;
  std::vector<Counted> counted;
  for (const AlgorithmOptions& options : all) counted.push_back(algorithm.counted(shape, options));
  std::vector<bool> kept(all.size(), false);
  for (double bytes = 1; bytes < 1e9; bytes *= 4) {
    std::vector<double> seconds;
    for (const Counted& one : counted) seconds.push_back(estimate(one, terrain, machine, bytes));
    const double best = *std::ranges::min_element(seconds);
    for (std::size_t i = 0; i < all.size(); ++i) kept[i] = kept[i] || seconds[i] <= k_near * best;
  }
  std::vector<AlgorithmOptions> worth;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (kept[i]) worth.push_back(std::move(all[i]));
  }
  return worth;
}

Variant described(const Algorithm& algorithm, const Shape& shape, AlgorithmOptions options) {
  Variant variant{&algorithm, std::move(options), std::string(algorithm.name), "", {}, shape, {}};
  variant.refusal = algorithm.refusal(shape, variant.options);
  if (!variant.refusal.empty()) return variant;
  variant.shape.chunks = algorithm.chunks(shape, variant.options);
  variant.properties = algorithm.properties(shape, variant.options);
  const std::string details = algorithm.describe(shape, variant.options);
  if (!details.empty()) variant.name += " " + details;
  return variant;
}

}  // namespace

double Variant::seconds(const Machine& machine, std::size_t bytes) const {
  double worst = 0;
  for (const Profile& profile : profiles)
    worst = std::max(worst, seconds_of(profile, machine, shard_bytes(shape, bytes)));
  return worst;
}

Variant variant_of(const Algorithm& algorithm, Collective collective, const AlgorithmOptions& options,
                   const Terrain& terrain) {
  Variant variant = described(algorithm, {collective, terrain.nodes->ranks(), 1, 0}, options);
  if (!variant.refusal.empty()) return variant;
  for (const Rank root : sampled_roots(collective, terrain)) {
    Shape shape = variant.shape;
    shape.root = root;
    variant.profiles.push_back(
        profile_of(shape, terrain, [&](Rank rank) { return algorithm.program(shape, rank, variant.options); }));
  }
  return variant;
}

std::vector<Variant> variants_of(const Algorithm& algorithm, Collective collective, const AlgorithmOptions& given,
                                 const Terrain& terrain, const Machine& machine) {
  const Shape shape{collective, terrain.nodes->ranks(), 1, 0};
  if (Variant refused = described(algorithm, shape, given); !refused.refusal.empty()) return {std::move(refused)};
  std::vector<Variant> all;
  for (const AlgorithmOptions& options :
       worth_a_price(algorithm, shape, algorithm.variants(shape, given), terrain, machine)) {
    all.push_back(variant_of(algorithm, collective, options, terrain));
  }
  return all;
}

}  // namespace colltopo
