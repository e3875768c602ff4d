// By how much algorithms take longer than the model says, where calls of them were measured.
//
// At a size that was measured, a price is what was measured; between two of them the factor goes from one to the other
// as the size does, both by their logarithms: messages that pass at once, are sent before their receive is known or
// fill a network change it step by step. One that is left out in turn says how far fitted prices are off.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "colltopo/choice.h"

namespace colltopo {

class Fits {
 public:
  /// The price by the model alone, in seconds, of the variant that is cheapest at this size; nothing where the row does
  /// not serve.
  using Model = std::function<std::optional<double>(const MeasuredRow& row, std::size_t bytes)>;

  Fits(std::span<const MeasuredRow> rows, const Model& model);

  /// What a price by the model is to be multiplied by. An algorithm that was not measured is as far off as the median
  /// of its collective's others; without any, of all.
  double factor(Collective collective, const Algorithm* algorithm, std::size_t bytes) const;
  /// Half of the prices at sizes that took no part in the fit are off by less: 0.2 is 20% of what was measured.
  /// Nothing: no row has three.
  std::optional<double> error() const;

 private:
  struct Point {
    double octave = 0;  // logarithm of the bytes
    double factor = 1;  // logarithm
  };
  struct Fitted {
    Collective collective;
    const Algorithm* algorithm;
    std::vector<Point> points;
  };
  static double between(std::span<const Point> points, double octave);
  double common(Collective collective, double octave) const;

  std::vector<Fitted> rows_;
  std::vector<double> errors_;  // sorted
};

}  // namespace colltopo
