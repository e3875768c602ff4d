// The race: who is believed the best, and which calls are worth exploring.

#include "choice/race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace colltopo {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::vector<Belief> unknown(std::size_t contestants) { return std::vector<Belief>(contestants); }

Belief known(double seconds, double error) { return {std::log(seconds), error * error}; }

// Plays rounds without noise until `calls` are over; returns the calls that each contestant had.
std::vector<std::size_t> play(Race& race, const std::vector<double>& seconds, std::size_t calls) {
  std::vector<std::size_t> had(seconds.size());
  std::size_t done = 0;
  while (done < calls) {
    const Race::Plan plan = race.plan(done);
    const std::size_t waits = std::min(plan.wait_calls, calls - done);
    had[plan.best] += waits;
    done += waits;
    if (done == calls) break;
    std::vector<Block> blocks;
    for (const std::size_t contestant : plan.order) {
      blocks.push_back({seconds[contestant], 0});
      had[contestant] += plan.block_calls;
      done += plan.block_calls;
    }
    race.ended(plan, blocks);
  }
  return had;
}

TEST(Belief, merging_weighs_by_certainty_and_is_surer_than_either) {
  const Belief merged = Belief{1, 1}.merged({2, 0.25});
  EXPECT_DOUBLE_EQ(merged.log_seconds, 1.8);
  EXPECT_DOUBLE_EQ(merged.variance, 0.2);
}

TEST(Belief, age_makes_wider_and_moves_nothing) {
  const Belief aged = Belief{3, 0.5}.aged(4);
  EXPECT_DOUBLE_EQ(aged.log_seconds, 3);
  EXPECT_DOUBLE_EQ(aged.variance, 2);
}

TEST(Belief, of_nothing_changes_nothing) {
  const Belief merged = Belief{1, 0.01}.merged({});
  EXPECT_NEAR(merged.log_seconds, 1, 1e-6);
  EXPECT_FALSE(Belief{}.is_known());
}

TEST(Block, of_two_calls_is_nearer_the_smaller) {
  EXPECT_LT(block_of({1, 4}).seconds, 1.5);
  EXPECT_DOUBLE_EQ(block_of({2, 2, 2}).seconds, 2);
  EXPECT_NEAR(block_of({2, 2, 2}).scatter, 0, 1e-12);
}

TEST(Block, one_call_that_was_held_up_counts_for_two) {
  EXPECT_DOUBLE_EQ(block_of({1, 1, 1, 1000}).seconds, block_of({1, 1, 1, 2}).seconds);
}

TEST(Race, begins_at_once_with_all_where_nothing_is_known) {
  const Race race(unknown(3), 2);
  const Race::Plan plan = race.plan(0);
  EXPECT_EQ(plan.wait_calls, 0U);
  EXPECT_EQ(plan.best, 2U);
  EXPECT_THAT(plan.order, ElementsAre(0, 1, 2));
  EXPECT_GE(plan.block_calls, 2U);
}

TEST(Race, one_contestant_alone_is_never_explored) {
  const Race race(unknown(1), 0);
  EXPECT_GT(race.plan(0).wait_calls, std::size_t{1} << 40);
}

TEST(Race, finds_the_best_and_leaves_who_is_far_behind) {
  Race race(unknown(4), 3);
  const std::vector<std::size_t> had = play(race, {2e-3, 1e-3, 1.5e-3, 1.2e-3}, 1000);
  EXPECT_EQ(race.best(), 1U);
  EXPECT_LT(had[0], 20U);
  EXPECT_GT(had[1], 900U);
}

TEST(Race, who_was_left_comes_back_as_calls_go_on) {
  Race race(unknown(2), 1);
  const std::size_t early = play(race, {1e-3, 1.3e-3}, 1000)[1];
  Race again(unknown(2), 1);
  EXPECT_GT(play(again, {1e-3, 1.3e-3}, 10'000'000)[1], early);
}

TEST(Race, an_order_that_turns_is_found) {
  Race race(unknown(2), 1);
  const Race::Plan first = race.plan(0);
  race.ended(first, std::vector<Block>{{1e-3, 0}, {1.01e-3, 0}});
  EXPECT_EQ(race.best(), 0U);
  for (int round = 0; round < 20; ++round) {
    Race::Plan plan = race.plan(std::size_t{1} << 30);
    plan.order = {0, 1};
    race.ended(plan, std::vector<Block>{{1.2e-3, 0}, {1e-3, 0}});
  }
  EXPECT_EQ(race.best(), 1U);
}

TEST(Race, a_slow_minute_is_slow_for_all) {
  Race race(unknown(2), 1);
  for (const double minute : {1.0, 7.0, 2.0, 30.0}) {
    Race::Plan plan = race.plan(std::size_t{1} << 30);
    plan.order = {0, 1};
    race.ended(plan, std::vector<Block>{{minute * 1e-3, 0}, {minute * 1.1e-3, 0}});
  }
  EXPECT_NEAR(race.behind(1, 0).log_seconds, std::log(1.1), 1e-6);
}

TEST(Race, what_is_surely_known_needs_no_round) {
  const Race race({known(1e-3, 0.01), known(2e-3, 0.01), known(3e-3, 0.01)}, 2);
  EXPECT_EQ(race.best(), 0U);
  EXPECT_GT(race.plan(0).wait_calls, 100'000U);
}

TEST(Race, a_belief_that_calls_contradict_is_forgotten) {
  Race race({known(1e-3, 0.15), known(1.4e-3, 0.15)}, 1);
  EXPECT_EQ(race.best(), 0U);
  play(race, {1.4e-3, 1e-3}, 2000);
  EXPECT_EQ(race.best(), 1U);
}

TEST(Race, exploring_costs_its_share_at_most) {
  RaceRules rules;
  rules.difference = 0;
  Race race(unknown(3), 2, rules);
  constexpr std::size_t k_calls = 200'000;
  play(race, {1e-3, 1.003e-3, 1.004e-3}, k_calls);
  EXPECT_LT(race.spent_calls(), rules.start_calls + rules.share * static_cast<double>(k_calls) + 100);
}

TEST(Race, is_not_ended_by_a_difference_that_is_worth_nothing) {
  Race race(unknown(2), 1);
  const std::vector<std::size_t> had = play(race, {1e-3, 1.001e-3}, 1'000'000);
  EXPECT_LT(std::min(had[0], had[1]), 5000U);
}

}  // namespace
}  // namespace colltopo
