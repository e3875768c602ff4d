// The race of one class: its rounds, what ranks tell each other, and when it wakes.

#include "comm/class_race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "silent.h"

namespace colltopo {
namespace {

using testing::ElementsAre;

Race::Plan plan_of(std::vector<std::size_t> order, std::size_t block_calls) {
  Race::Plan plan;
  plan.order = std::move(order);
  plan.block_calls = block_calls;
  return plan;
}

TEST(Rounds, each_contestant_has_a_block_whose_first_call_does_not_count) {
  Rounds rounds;
  rounds.begin(plan_of({2, 0}, 3));
  std::vector<std::size_t> contestants;
  std::vector<bool> counts;
  for (; !rounds.is_over(); rounds.advance()) {
    const Rounds::Turn turn = rounds.turn();
    contestants.push_back(turn.contestant);
    counts.push_back(turn.counts);
    if (turn.counts) rounds.add(rounds.place(), turn.contestant == 2 ? 2e-6 : 1e-6);
  }
  EXPECT_THAT(contestants, ElementsAre(2, 2, 2, 0, 0, 0));
  EXPECT_THAT(counts, ElementsAre(false, true, true, false, true, true));
  const std::vector<Block> blocks = rounds.blocks();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_NEAR(blocks[0].seconds, 2e-6, 1e-12);
  EXPECT_NEAR(blocks[1].seconds, 1e-6, 1e-12);
}

TEST(Rounds, a_block_without_times_took_as_long_as_can_be) {
  Rounds rounds;
  rounds.begin(plan_of({0, 1}, 2));
  rounds.add(1, 0);
  const std::vector<Block> blocks = rounds.blocks();
  EXPECT_DOUBLE_EQ(blocks[0].seconds, Rounds::k_least_time);
  EXPECT_DOUBLE_EQ(blocks[1].seconds, Rounds::k_no_time);
}

/// A class on one rank, a call a tick.
class Player {
 public:
  explicit Player(std::size_t contestants, std::size_t serving, bool ends = false)
      : agreement_(0, 1, transport_),
        race(agreement_, 0, 1, std::vector<Belief>(contestants), serving, ends),
        had(contestants) {
    race.begin(0, 0, 0);
  }
  void play(std::size_t calls, const std::function<double(std::size_t)>& seconds_of, double meeting = 0) {
    for (std::size_t call = 0; call < calls; ++call, ++now) {
      if (race.is_waiting() && race.wakes_at() <= now) race.wake(now);
      if (!race.is_waiting() && race.rounds().is_over())
        race.end_round(now, meeting > 0 ? std::optional(Block{meeting, 0}) : std::nullopt);
      const std::size_t contestant = race.is_waiting() ? race.best() : race.rounds().turn().contestant;
      ++had[contestant];
      if (race.is_waiting()) continue;
      if (race.rounds().turn().counts) race.rounds().add(race.rounds().place(), seconds_of(contestant) + meeting);
      race.rounds().advance();
    }
  }

 private:
  Silent transport_;
  Agreement agreement_;

 public:
  ClassRace race;
  std::vector<std::size_t> had;
  ClassRace::Tick now = 0;
};

TEST(ClassRace, the_fastest_serves_all_but_few_calls) {
  Player player(3, 2);
  player.play(10'000, [](std::size_t c) { return c == 1 ? 8e-6 : 10e-6 + 2e-6 * static_cast<double>(c); });
  EXPECT_EQ(player.race.best(), 1u);
  EXPECT_GT(player.had[1], 9500u);
  EXPECT_NEAR(std::exp(player.race.beliefs()[1].log_seconds), 8e-6, 0.5e-6);
  EXPECT_NEAR(std::exp(player.race.beliefs()[0].log_seconds), 10e-6, 0.8e-6);
}

TEST(ClassRace, who_has_become_faster_is_found) {
  Player player(2, 0);
  player.play(5000, [](std::size_t c) { return c == 0 ? 8e-6 : 10e-6; });
  EXPECT_EQ(player.race.best(), 0u);
  player.play(200'000, [](std::size_t c) { return c == 0 ? 16e-6 : 10e-6; });
  EXPECT_EQ(player.race.best(), 1u);
}

TEST(ClassRace, a_meeting_in_each_call_is_taken_off) {
  Player player(2, 0);
  player.play(
      2000, [](std::size_t c) { return c == 0 ? 4e-6 : 2e-6; }, 20e-6);
  EXPECT_EQ(player.race.best(), 1u);
  EXPECT_NEAR(std::exp(player.race.beliefs()[1].log_seconds), 2e-6, 0.2e-6);
}

TEST(ClassRace, one_that_ends_has_no_round_after_it_waits) {
  Player player(2, 0, true);
  player.play(100'000, [](std::size_t c) { return c == 0 ? 10e-6 : 9e-6; });
  EXPECT_TRUE(player.race.is_waiting());
  EXPECT_EQ(player.race.wakes_at(), ClassRace::k_never);
  EXPECT_LT(player.had[0], 200u);
}

TEST(ClassRace, ticks_of_other_calls_are_none_of_its_own) {
  // Ten ticks from call to call: it waits as many calls, not as many ticks.
  Silent transport;
  const Agreement agreement(0, 1, transport);
  const auto wait_of = [&](ClassRace::Tick ticks_of_call) {
    ClassRace race(agreement, 0, 1, std::vector<Belief>(2), 0, false);
    ClassRace::Tick now = 0;
    race.begin(0, 0, now);
    while (!race.is_waiting()) {
      for (; !race.rounds().is_over(); race.rounds().advance(), now += ticks_of_call)
        if (race.rounds().turn().counts)
          race.rounds().add(race.rounds().place(), race.rounds().turn().contestant == 0 ? 8e-6 : 12e-6);
      race.end_round(now, std::nullopt);
    }
    return race.wakes_at() - now;
  };
  EXPECT_EQ(wait_of(10), 10 * wait_of(1));
}

}  // namespace
}  // namespace colltopo
