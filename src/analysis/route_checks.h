// What is wrong with routes on a topology, for whole schedules and for sections.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "colltopo/topology.h"
#include "colltopo/verify.h"

namespace colltopo::analysis {

/// The first of them.
class Violations {
 public:
  static constexpr std::size_t k_most = 20;

  template <typename... Arguments>
  void add(Rank rank, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    if (!full()) found_.push_back({rank, -1, fmt::format(text, std::forward<Arguments>(arguments)...)});
  }
  bool full() const { return found_.size() >= k_most; }
  bool empty() const { return found_.empty(); }
  std::vector<Violation> take() { return std::move(found_); }

 private:
  std::vector<Violation> found_;
};

/// Whether its links are there, follow each other and lead from source to target.
void check_route(const Route& route, const Topology& topology, Violations& violations);

}  // namespace colltopo::analysis
