// A named choice of how a collective is to be served: the value of X_algorithm, and of `alg` in a rules file.
#pragma once

#include <string>
#include <string_view>

#include "colltopo/algorithms.h"

namespace colltopo {

struct Forced {
  enum class Kind { automatic, fallback, algorithm, file } kind = Kind::automatic;
  const Algorithm* algorithm = nullptr;
  OptionValues values;  // given with the name: "tra:radix=4"
  std::string path;     // of a schedule file

  /// `options` with what the choice gives in their place.
  AlgorithmOptions over(AlgorithmOptions options) const;
};

/// From "auto", "fallback", "file:PATH" or "NAME:option=value,...". Throws Error naming `place`, the value and what is
/// allowed.
Forced forced_from(std::string_view place, Collective collective, std::string_view value);

/// What forced_from() reads as this algorithm with these of its options: "tra:radix=4".
std::string text_of(const Algorithm& algorithm, const OptionValues& values);

/// A whole number from `least` to `most`; throws Error naming `place`.
int whole_number(std::string_view place, std::string_view value, int least, int most);

}  // namespace colltopo
