#include "comm/lane_care.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace colltopo {

namespace {

constexpr long long k_nobody = std::numeric_limits<long long>::max();

std::string words(const std::vector<Lane>& lanes) {
  return fmt::format("{} {}", lanes.size() == 1 ? "lane" : "lanes", fmt::join(lanes, ", "));
}

}  // namespace

// One number for each lane: of one in use, the lowest rank that has seen it stall; of one that is given up, whether it
// has rested, and then whether messages over it have come in, which every rank must find.
void LaneCare::tell(LaneTransport& lanes, Rank rank, Findings& findings) {
  of_lane_.resize(static_cast<std::size_t>(lanes.lanes()));
  for (Lane lane = 0; lane < lanes.lanes(); ++lane) {
    Lame& of = of_lane_[static_cast<std::size_t>(lane)];
    if ((mask_of(lane) & lanes.given_up()) == 0) {
      of.finding = findings.smallest((mask_of(lane) & lanes.late()) == 0 ? k_nobody : rank);
      continue;
    }
    // Of clocks, rank 0's alone counts.
    const bool rested = rank != 0 || std::chrono::duration<double>(Clock::now() - of.since).count() >= of.rest_s;
    of.finding = findings.smallest((of.is_tried ? lanes.is_heard(lane) : rested) ? 1 : 0);
  }
  lanes.forget_late();
}

LaneCare::Outcome LaneCare::heed(LaneTransport& lanes, Rank rank, const Agreement::Result& agreed) {
  const LaneMask before = lanes.given_up();
  LaneMask after = before;
  long long speaker = k_nobody;
  std::vector<Lane> lost, back;
  for (Lane lane = 0; lane < lanes.lanes(); ++lane) {
    Lame& of = of_lane_[static_cast<std::size_t>(lane)];
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
  const auto is_left = [&](Lane lane) { return (mask_of(lane) & after) == 0; };
  bool any_left = false;
  for (Lane lane = 0; lane < lanes.lanes(); ++lane) any_left = any_left || is_left(lane);
  // Where all stall it is not the lanes.
  if (after == before || !any_left) return {};
  lanes.give_up(after);
  for (const Lane lane : lost) {
    Lame& of = of_lane_[static_cast<std::size_t>(lane)];
    of.since = Clock::now();
    of.is_tried = false;
  }
  Outcome outcome{true, 1, ""};
  if (!lost.empty() && rank == speaker) {
    outcome.level = 0;
    outcome.remark = fmt::format(
        "{} given up, until messages get through again: rank {} waited for messages there when "
        "others of their senders had come",
        words(lost), rank);
  } else if (lost.empty() && rank == 0) {
    outcome.remark = words(back) + " used again";
  }
  for (const Lane lane : back) {
    Lame& of = of_lane_[static_cast<std::size_t>(lane)];
    of.rest_s = std::min(2 * of.rest_s, k_longest_rest_s);
  }
  return outcome;
}

}  // namespace colltopo
