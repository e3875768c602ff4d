#include "choice/played.h"

#include <algorithm>
#include <limits>

namespace colltopo {

namespace {

constexpr double k_behind = 1.3;  // times the best, by its count: no price would turn that round

}  // namespace

// No window of ours.
Played::Played(const Terrain& terrain, const Machine& machine) : all_(terrain), machine_(machine) {
  machine_.window = std::numeric_limits<int>::max();
}

std::vector<Part> Played::parts_of(std::string_view component, Collective collective, std::size_t bytes) const {
  const Groups& nodes = *all_.nodes;
  return parts_of_previous(component, collective, nodes.ranks(), nodes.groups(), nodes.largest(), bytes);
}

std::string Played::names_of(std::span<const Part> parts) {
  std::string names;
  for (const Part& part : parts) names += (names.empty() ? "" : " + ") + variant_of(part).name;
  return names;
}

double Played::seconds_of(std::span<const Part> parts, double best, double lead, const Factor& factor) {
  double seconds = 0;
  for (const Part& part : parts) {
    Variant& variant = variant_of(part);
    const Terrain& there = terrain_of(part.level);
    const auto bytes = static_cast<std::size_t>(part.bytes);
    const double fit = factor(part);
    const double counted = variant.counted ? fit * variant.counted_seconds(there, machine_, bytes) : 0;
    const double least = fit * variant.least_seconds(there, machine_, bytes);
    if (counted > k_behind * best || lead * least > best) {
      seconds += std::max(counted, least);
      continue;
    }
    const double price = fit * variant.seconds(there, machine_, bytes);
    seconds += variant.refusal.empty() ? price : least;
  }
  return seconds;
}

Variant& Played::variant_of(const Part& part) {
  for (Known& one : known_) {
    if (one.part.algorithm == part.algorithm && one.part.collective == part.collective &&
        one.part.level == part.level && one.part.values == part.values)
      return one.variant;
  }
  const Algorithm& algorithm = *algorithm_named(part.algorithm);
  known_.push_back({part, colltopo::variant_of(algorithm, part.collective, {part.values, {}, {}},
                                               terrain_of(part.level).nodes->ranks())});
  return known_.back().variant;
}

const Terrain& Played::terrain_of(Level level) {
  if (level == Level::all) return all_;
  auto& made = level == Level::within_nodes ? within_ : between_;
  if (made) return *made;
  Placement placement;
  const Rank ranks = level == Level::within_nodes ? all_.nodes->largest() : all_.nodes->groups();
  for (Rank r = 0; r < ranks; ++r) placement.node_of.push_back(level == Level::within_nodes ? 0 : r);
  if (level == Level::between_nodes) {
    placement.dimensions = all_.placement.dimensions;
    placement.network = all_.placement.network;
  }
  return *(made = std::make_unique<Terrain>(std::move(placement)));
}

}  // namespace colltopo
