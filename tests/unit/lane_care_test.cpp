// What ranks make of lanes that some of them have seen to stall.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "comm/lane_care.h"
#include "silent.h"

namespace colltopo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr long long k_nobody = std::numeric_limits<long long>::max();

/// A rank with three lanes and no endpoints.
struct OneRank {
  explicit OneRank(Rank of) : rank(of) {
    calls.close = [](LaneSet*, double) {};
    lanes = std::make_unique<LaneTransport>(calls, nullptr, lane_setting("device:a,b,c"),
                                            LaneTransport::Place{rank, 4, 0, 16, 15, &node_of, 1}, lent);
  }
  LaneCare::Outcome look(std::vector<long long> agreed) {
    Findings findings;
    care.report(*lanes, rank, findings);
    Agreement::Result result;
    result.good = true;
    result.smallest = std::move(agreed);
    return care.decide(*lanes, rank, result);
  }
  Rank rank;
  LaneCalls calls{};
  std::vector<int> node_of = std::vector<int>(4, 0);
  Silent lent;
  std::unique_ptr<LaneTransport> lanes;
  LaneCare care;
};

TEST(LaneCare, lanes_that_any_rank_has_seen_to_stall_are_given_up_by_all_and_one_says_so) {
  OneRank first(0), second(1), third(2);
  const std::vector<long long> agreed = {1, k_nobody, 2};
  EXPECT_THAT(first.look(agreed).remark, IsEmpty());
  const LaneCare::Outcome said = second.look(agreed);
  EXPECT_THAT(said.remark, HasSubstr("lanes 0, 2 given up, until messages get through again: rank 1 waited"));
  EXPECT_EQ(said.level, 0);
  EXPECT_TRUE(said.changed);
  EXPECT_THAT(third.look(agreed).remark, IsEmpty());
  for (const OneRank* rank : {&first, &second, &third}) EXPECT_EQ(rank->lanes->given_up(), mask_of(0) | mask_of(2));
}

TEST(LaneCare, where_all_lanes_stall_none_is_given_up) {
  OneRank rank(0);
  EXPECT_FALSE(rank.look({k_nobody, k_nobody, k_nobody}).changed);
  EXPECT_FALSE(rank.look({0, 3, 1}).changed);
  EXPECT_EQ(rank.lanes->given_up(), 0u);
  EXPECT_TRUE(rank.look({k_nobody, 3, 1}).changed);
  EXPECT_FALSE(rank.look({2, 0, 0}).changed);  // the last that is left
  EXPECT_EQ(rank.lanes->given_up(), mask_of(1) | mask_of(2));
}

TEST(LaneCare, a_lane_is_tried_after_its_rest_and_used_again_when_all_have_heard_it) {
  OneRank rank(0);
  rank.look({k_nobody, 0, k_nobody});
  EXPECT_FALSE(rank.look({k_nobody, 0, k_nobody}).changed);  // rests
  EXPECT_FALSE(rank.look({k_nobody, 1, k_nobody}).changed);  // has rested: tried
  EXPECT_FALSE(rank.look({k_nobody, 0, k_nobody}).changed);  // not heard everywhere
  const LaneCare::Outcome back = rank.look({k_nobody, 1, k_nobody});
  EXPECT_TRUE(back.changed);
  EXPECT_EQ(back.level, 1);
  EXPECT_EQ(back.remark, "lane 1 used again");
  EXPECT_EQ(rank.lanes->given_up(), 0u);
}

// A rank whose own clock runs otherwise must not hold the others up, nor rank 0's rest end by theirs.
TEST(LaneCare, only_rank_0_waits_for_the_rest_to_end) {
  for (const Rank rank : {0, 3}) {
    OneRank one(rank);
    one.look({k_nobody, k_nobody, 2});
    Findings findings;
    one.care.report(*one.lanes, rank, findings);
    const Agreement::Result own = Agreement(0, 1, one.lent).agree(findings);
    EXPECT_EQ(own.value(2), rank == 0 ? 0 : 1) << rank;
  }
}

}  // namespace
}  // namespace colltopo
