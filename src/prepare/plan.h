// Which of the offers serves which sizes of a collective, and what that gains.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "prepare/bounds.h"
#include "prepare/offers.h"

namespace colltopo::prepare {

/// An offer, or nothing: coll/topo's own model chooses as well as anybody (k_lead).
struct Interval {
  std::size_t least = 0, most = std::numeric_limits<std::size_t>::max();  // bytes of a call, both included
  const Offer* offer = nullptr;
};

/// Predictions at one size. Seconds below 0: not known.
struct SizeRow {
  std::size_t bytes = 0;
  std::string model, previous;  // what they would run
  double model_s = -1, previous_s = -1, bound_s = 0;
  const Offer* as_is = nullptr;  // the best
  double as_is_s = -1;
  const Offer* with_tables = nullptr;
  double with_tables_s = -1;
};

struct CollectivePlan {
  Collective collective = Collective::alltoall;
  CollectiveBound bound;
  std::vector<Offer> offers;
  std::vector<Interval> as_is, with_tables;  // with_tables: empty where tables change nothing
  std::vector<SizeRow> sizes;

  /// Those that some interval names, each once.
  std::vector<const Offer*> winners() const;
};

// What is this much ahead of the model's choice gets a rule of its own.
inline constexpr double k_lead = 0.95;

/// Decides; offers must have prices.
void decide(CollectivePlan& plan, const Ground& ground, const std::vector<std::size_t>& sizes);

}  // namespace colltopo::prepare
