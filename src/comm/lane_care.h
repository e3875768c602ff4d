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
  void tell(LaneTransport& lanes, Rank rank, Findings& findings);
  /// What they agreed on, the same on all of them but for the line.
  Outcome heed(LaneTransport& lanes, Rank rank, const Agreement::Result& agreed);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double k_shortest_rest_s = 10, k_longest_rest_s = 600;

  struct Lame {
    Clock::time_point since{};          // when it was given up
    double rest_s = k_shortest_rest_s;  // until messages try it; each time longer
    bool is_tried = false;
    std::size_t finding = 0;
  };

  std::vector<Lame> of_lane_;  // [lane] empty: nothing was told yet
};

}  // namespace colltopo
