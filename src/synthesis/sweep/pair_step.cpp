// Newton steps between the paths of a pair.
#include "synthesis/sweep/pair_step.h"

#include <algorithm>
#include <cmath>

#include "colltopo/routing.h"

namespace colltopo::synthesis {

namespace {

// Of a length: nothing is gained by moving flow for less.
constexpr double k_least_saving = 1e-9;

}  // namespace

PairStep::PairStep(const FlowInstance& instance)
    : link_class_(instance.link_class), difference_(instance.class_capacity.size()), is_touched_(difference_.size()) {}

double PairStep::length(std::span<const LinkId> links, const LinkPotential& potential) const {
  double length = 0;
  for (const LinkId link : links)
    length += potential.length(static_cast<std::size_t>(link_class_[static_cast<std::size_t>(link)]));
  return length;
}

void PairStep::put(std::span<const LinkId> links, double load, LinkPotential& potential) const {
  for (const LinkId link : links)
    potential.add(static_cast<std::size_t>(link_class_[static_cast<std::size_t>(link)]), load);
}

void PairStep::count(std::span<const LinkId> links, int times) {
  for (const LinkId link : links) {
    const auto e = static_cast<std::size_t>(link_class_[static_cast<std::size_t>(link)]);
    if (!is_touched_[e]) touched_.push_back(static_cast<std::int32_t>(e));
    is_touched_[e] = 1;
    difference_[e] += times;
  }
}

double PairStep::move(const Candidate& from, const Candidate& to, double demand, LinkPotential& potential) {
  touched_.clear();
  count(to.links, 1);
  count(from.links, -1);
  // The potential along the move: its slope, its curvature, and how far its quadratic may be trusted (an exponent of
  // 1).
  double saving = 0, curvature = 0, fastest = 0;
  for (const std::int32_t touched : touched_) {
    const auto e = static_cast<std::size_t>(touched);
    const double change = difference_[e];
    saving -= change * potential.length(e);
    curvature += change * change * potential.length(e) * potential.rate(e);
    fastest = std::max(fastest, std::abs(change) * potential.rate(e));
  }
  double moved = 0;
  if (saving > k_least_saving * from.length && curvature > 0)
    moved = std::min({from.weight, saving / (curvature * demand), 1 / (fastest * demand)});
  if (from.weight - moved < k_least_share) moved = from.weight;
  for (const std::int32_t touched : touched_) {
    const auto e = static_cast<std::size_t>(touched);
    if (moved > 0 && difference_[e] != 0) potential.add(e, difference_[e] * moved * demand);
    difference_[e] = 0;
    is_touched_[e] = 0;
  }
  return moved;
}

std::size_t PairStep::balance(std::span<Candidate> candidates, double demand, LinkPotential& potential) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i)
    if (candidates[i].length < candidates[best].length) best = i;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i == best || candidates[i].weight == 0) continue;
    const double moved = move(candidates[i], candidates[best], demand, potential);
    candidates[best].weight += moved;
    candidates[i].weight = moved == candidates[i].weight ? 0 : candidates[i].weight - moved;
  }
  return best;
}

}  // namespace colltopo::synthesis
