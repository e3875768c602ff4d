#include "comm/lane_care.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/deadline.h"

namespace colltopo {

namespace {

constexpr long long k_nobody = std::numeric_limits<long long>::max();

std::string words(const std::vector<Lane>& lanes) {
  return fmt::format("{} {}", lanes.size() == 1 ? "lane" : "lanes", fmt::join(lanes, ", "));
}

}  // namespace

// One number for each lane: of one in use, the lowest rank that has seen it stall; of one that is given up, whether it
// has rested, and then whether messages over it have come in, which every rank must find.
void LaneCare::report(LaneTransport& lanes, Rank rank, Findings& findings) {
  of_lane_.resize(static_cast<std::size_t>(lanes.lanes()));
  for (Lane lane = 0; lane < lanes.lanes(); ++lane) {
    State& of = of_lane_[static_cast<std::size_t>(lane)];
    if ((mask_of(lane) & lanes.given_up()) == 0) {
      of.finding = findings.smallest((mask_of(lane) & lanes.late()) == 0 ? k_nobody : rank);
      continue;
    }
    const bool rested = rank != 0 || seconds_since(of.since) >= of.rest_s;
    of.finding = findings.smallest((of.is_tried ? lanes.is_heard(lane) : rested) ? 1 : 0);
  }
  lanes.forget_late();
}

LaneCare::Outcome LaneCare::decide(LaneTransport& lanes, Rank rank, const Agreement::Result& agreed) {
  const LaneMask before = lanes.given_up();
  LaneMask after = before;
  long long speaker = k_nobody;
  std::vector<Lane> lost, back;
  for (Lane lane = 0; lane < lanes.lanes(); ++lane) {
    State& of = of_lane_[static_cast<std::size_t>(lane)];
    const long long found = agreed.value(of.finding);
    if ((mask_of(lane) & before) != 0) {
      if (found == 0) continue;
      if (!std::exchange(of.is_tried, true)) {
        lanes.knock(lane);
        continue;
      }
      after &= ~mask_of(lane);
      back.push_back(lane);
    } else if (found != k_nobody) {
      after |= mask_of(lane);
      lost.push_back(lane);
      speaker = std::min(speaker, found);
    }
  }
  bool any_left = false;
  for (Lane lane = 0; lane < lanes.lanes(); ++lane) any_left = any_left || (mask_of(lane) & after) == 0;
  // Where all stall it is not the lanes.
  if (after == before || !any_left) return {};
  lanes.give_up(after);
  for (const Lane lane : lost) {
    State& of = of_lane_[static_cast<std::size_t>(lane)];
    if (seconds_since(of.since) > k_longest_rest_s) of.rest_s = k_shortest_rest_s;
    of.since = Clock::now();
    of.is_tried = false;
  }
  for (const Lane lane : back) {
    State& of = of_lane_[static_cast<std::size_t>(lane)];
    of.since = Clock::now();
    of.rest_s = std::min(2 * of.rest_s, k_longest_rest_s);
  }
  Outcome outcome{true, rank == speaker ? 0 : 1, ""};
  if (rank == speaker)
    outcome.remark = fmt::format(
        "{} given up, until messages get through again: rank {} waited for messages there when later "
        "ones had come",
        words(lost), rank);
  if (rank == 0 && !back.empty()) outcome.remark += (outcome.remark.empty() ? "" : "; ") + words(back) + " used again";
  return outcome;
}

}  // namespace colltopo
