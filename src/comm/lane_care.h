// Lanes that stall are given up by all ranks after the same call, and taken back when messages get through again
// (docs/decisions/0028-lanes-that-stall.md).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "comm/agreement.h"
#include "transport/lane_transport.h"

namespace colltopo {

class LaneCare {
 public:
  struct Outcome {
    bool changed = false;  // lanes that are given up
    int level = 0;         // of the remark, if this rank has one
    std::string remark;
  };

  /// What this rank has seen since the last time, for all ranks to agree on.
  void report(LaneTransport& lanes, Rank rank, Findings& findings);
  /// By what they agreed on; the same on all of them but for the remark.
  Outcome decide(LaneTransport& lanes, Rank rank, const Agreement::Result& agreed);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double k_shortest_rest_s = 10, k_longest_rest_s = 600;

  struct State {
    // Rank 0's alone count.
    Clock::time_point since{};          // it was given up, or is used again
    double rest_s = k_shortest_rest_s;  // until messages try it; longer each time, unless it has worked that long
    bool is_tried = false;
    std::size_t finding = 0;
  };

  std::vector<State> of_lane_;  // [lane] empty: nothing was told yet
};

}  // namespace colltopo
