// By how much algorithms take longer than the model says, where calls of them were measured.
//
// The model adds what does not grow with the bytes (latencies, messages) and what does (links, copies). Measured at a
// small size and at a large one, an algorithm has a factor for each: the processors behind a message, and rates that
// are shared in ways that no constant has. What was measured in between says how far fitted prices are off.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "colltopo/choice.h"

namespace colltopo {

/// Factors of the two parts of a price.
struct Fit {
  double constant = 1, bytes = 1;

  /// Of a price by the model, and what it is without bytes.
  double seconds(double by_model, double without_bytes) const;
};

class Fits {
 public:
  /// What the model alone says of the variant that is cheapest at this size.
  struct Priced {
    double seconds = 0, without_bytes = 0;
  };
  /// Nothing where the row does not serve.
  using Model = std::function<std::optional<Priced>(const MeasuredRow& row, std::size_t bytes)>;

  Fits(std::span<const MeasuredRow> rows, const Model& model);

  /// Of what was not measured, the median of the collective's others; without any, of all.
  Fit of(Collective collective, const Algorithm* algorithm) const;
  /// Half of the prices that took no part in the fit are off by less: 0.2 is 20% of what was measured. Nothing: there
  /// is none.
  std::optional<double> error() const;

 private:
  struct Fitted {
    Collective collective;
    const Algorithm* algorithm;
    Fit fit;
  };
  Fit common_of(Collective collective) const;

  std::vector<Fitted> rows_;
  std::vector<double> errors_;  // sorted
};

}  // namespace colltopo
