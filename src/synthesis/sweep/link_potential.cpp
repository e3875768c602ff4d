// Loads, lengths and their exponential tie.
#include "synthesis/sweep/link_potential.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace colltopo::synthesis {

namespace {

// Lengths below this part of the longest are raised to it: they must not vanish, and no bound feels it.
constexpr double k_log_floor = -40;

/// exp(x) for |x| <= 1 to a thousandth; set() forgets the error.
double near_exp(double x) {
  const double even = 12 + x * x, odd = 6 * x;
  return (even + odd) / (even - odd);
}

}  // namespace

LinkPotential::LinkPotential(std::span<const double> capacity)
    : capacity_(capacity.begin(), capacity.end()),
      log_prior_(capacity.size()),
      load_(capacity.size()),
      length_(capacity.size()),
      rate_(capacity.size()) {
  set(1, 1);
}

double LinkPotential::largest() const {
  double largest = 0;
  for (std::size_t e = 0; e < load_.size(); ++e) largest = std::max(largest, load_[e] / capacity_[e]);
  return largest;
}

double LinkPotential::mean() const {
  double cost = 0;
  for (std::size_t e = 0; e < load_.size(); ++e) cost += load_[e] * length_[e];
  return cost / volume();
}

double LinkPotential::volume() const {
  double volume = 0;
  for (std::size_t e = 0; e < load_.size(); ++e) volume += capacity_[e] * length_[e];
  return volume;
}

void LinkPotential::set_loads(std::span<const double> loads) { load_.assign(loads.begin(), loads.end()); }

void LinkPotential::set_priors(std::span<const double> lengths) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < lengths.size(); ++e) {
    log_prior_[e] = std::log(lengths[e] * capacity_[e]);
    largest = std::max(largest, log_prior_[e]);
  }
  for (double& prior : log_prior_) prior = std::max(prior - largest, k_log_floor);
}

void LinkPotential::set(double beta, double time) {
  beta_ = beta;
  time_ = time;
  ++rates_set_;
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < load_.size(); ++e) {
    rate_[e] = beta / (capacity_[e] * time);
    length_[e] = log_prior_[e] + load_[e] * rate_[e];
    largest = std::max(largest, length_[e]);
  }
  for (std::size_t e = 0; e < load_.size(); ++e)
    length_[e] = std::exp(std::max(length_[e] - largest, k_log_floor)) / capacity_[e];
}

void LinkPotential::absorb(double floor) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < load_.size(); ++e) {
    log_prior_[e] = std::log(length_[e] * capacity_[e]);
    largest = std::max(largest, log_prior_[e]);
  }
  for (double& prior : log_prior_) prior = std::max(prior - largest, std::log(floor));
}

void LinkPotential::absorb_excess() {
  for (std::size_t e = 0; e < load_.size(); ++e) log_prior_[e] += std::max(0.0, load_[e] * rate_[e] - beta_);
}

void LinkPotential::add(std::size_t e, double amount) {
  load_[e] += amount;
  length_[e] *= near_exp(std::clamp(amount * rate_[e], -1.0, 1.0));
}

void LinkPotential::restart_from(const LinkPotential& master, double companions) {
  std::fill(load_.begin(), load_.end(), 0);
  length_ = master.length_;
  if (rates_taken_ == master.rates_set_ && companions_taken_ == companions) return;
  rates_taken_ = master.rates_set_;
  companions_taken_ = companions;
  for (std::size_t e = 0; e < rate_.size(); ++e) rate_[e] = master.rate_[e] * companions;
}

void LinkPotential::changes(std::span<const LinkPotential> copies, std::size_t first, std::size_t last,
                            std::span<double> changes) {
  for (std::size_t e = first; e < last; ++e) changes[e] = 0;
  for (const LinkPotential& copy : copies)
    for (std::size_t e = first; e < last; ++e) changes[e] += copy.load_[e];
}

void LinkPotential::apply(std::span<const double> changes, std::size_t first, std::size_t last) {
  for (std::size_t e = first; e < last; ++e) {
    if (changes[e] == 0) continue;
    load_[e] += changes[e];
    length_[e] *= std::exp(changes[e] * rate_[e]);
  }
}

}  // namespace colltopo::synthesis
