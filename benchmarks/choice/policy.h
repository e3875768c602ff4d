// A policy of choice as the replay plays it: which contestant serves the next call, and what it took. Each is the
// component's own code behind these few functions.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace colltopo::replay {

class Policy {
 public:
  struct Call {
    std::size_t contestant = 0;
    bool explores = false;
    bool agreed = false;  // the ranks agreed before it
  };

  virtual ~Policy() = default;
  virtual Call next() = 0;
  virtual void took(double seconds) = 0;
  /// Whom it would keep.
  virtual std::size_t best() const = 0;
};

/// `expected`: seconds by tune, of each contestant, where there was one; its error is `tune_error` of them. The last
/// contestant is Open MPI's own; the first is what the model says.
struct Start {
  std::vector<std::optional<double>> expected;
  double tune_error = 0;
};

/// Trials of stages (src/comm/trial.h).
std::unique_ptr<Policy> trial_policy(const Start& start);

/// The race of a class (src/comm/class_race.h).
std::unique_ptr<Policy> race_policy(const Start& start);

}  // namespace colltopo::replay
