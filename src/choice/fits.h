// By how much algorithms of a collective take longer than the model says, where calls of them were measured.
//
// At a size that was measured the factor is measured over predicted, between two of them what lies between: messages
// that pass at once, are sent before their receive is known or fill a network change it step by step. Beyond the last
// it slowly goes back to 1; where only others were measured, theirs count. A size that is left out in turn says how far
// fitted prices are off. Nothing but +, -, * and /: ranks on processors of several kinds must come to the same bits.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "colltopo/choice.h"

namespace colltopo {

class Fits {
 public:
  /// The price by the model alone, in seconds, of the row's variant, of the one that is cheapest at this size, or of
  /// what the previous component is known to do; nothing where the row does not serve.
  using Model = std::function<std::optional<double>(const MeasuredRow& row, std::size_t bytes)>;

  /// Of the collective's rows, which must stay; the others are passed over.
  Fits(Collective collective, std::span<const MeasuredRow> rows, const Model& model);

  /// What a price by the model is to be multiplied by, at most twice as far from the others' as they have in common. An
  /// algorithm that was not measured has just that, a variant that was not what its algorithm has.
  double factor(const Algorithm* algorithm, const OptionValues& values, std::size_t bytes) const;
  /// Of the times that factor() is from, as error_between(); 1 where they are of others.
  double error(const Algorithm* algorithm, const OptionValues& values, std::size_t bytes) const;
  /// Whether this one was measured.
  bool has(const Algorithm* algorithm) const;
  bool has_any() const { return !rows_.empty(); }
  /// The median of all algorithms; of none that of the previous components, as the machine is the same; 1 of none.
  double common(std::size_t bytes) const;
  /// The same as factor(), of what the component of this name is known to do; at most four times as far from the
  /// others', as that may not be what it does. Nothing: it was not measured.
  std::optional<double> factor_of_previous(std::string_view name, std::size_t bytes) const;
  /// For each size between two others, by what share of the measured time a factor from those alone would be off.
  const std::vector<double>& errors() const { return errors_; }

 private:
  struct Point {
    double octave = 0, factor = 1;
  };
  struct Fitted {
    const MeasuredRow* measured;
    std::vector<Point> points;
  };
  static const Algorithm* algorithm_of(const Fitted& row) { return row.measured->algorithm; }
  static double between(std::span<const Point> points, double octave);
  /// Null: neither the variant nor its algorithm was measured.
  const Fitted* row_of(const Algorithm* algorithm, const OptionValues& values, std::size_t bytes) const;
  /// Whether a row knows of such calls: it was measured at smaller and larger ones, or as far as any.
  bool covers(const Fitted& row, double octave) const;
  double near_the_others(const Fitted& row, std::size_t bytes, double apart) const;

  std::vector<Fitted> rows_, variants_, previous_;
  double first_ = std::numeric_limits<double>::infinity(), last_ = 0;  // octaves, of all that were measured
  std::vector<double> errors_;
};

/// What lies between the two nearest times, by bytes; beyond the last as fast as between the last two. Not for none.
double seconds_between(std::span<const MeasuredRow::Time> times, std::size_t bytes);
/// The larger one of those of the two nearest times; 1 beyond the last. Not for none.
double error_between(std::span<const MeasuredRow::Time> times, std::size_t bytes);

}  // namespace colltopo
