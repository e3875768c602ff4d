// Trials: the turns and who wins them, and the guard over threads that play ranks.

#include "comm/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "comm/constants.h"
#include "comm/decisions.h"
#include "comm/guard.h"
#include "comm/selector.h"
#include "errors.h"
#include "ranks.h"

namespace colltopo {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Plays a trial in which a turn takes seconds_of(turn), if it has an end, on this many ranks alike; returns the turns
// taken of each.
std::vector<int> played_by(Trial& trial, const std::function<std::optional<double>(const Trial::Turn&)>& seconds_of,
                           int ranks = 1) {
  std::vector<int> turns(trial.contestants());
  while (!trial.winner()) {
    if (trial.must_agree()) {
      std::vector<long long> sums = trial.times();
      for (long long& sum : sums) sum *= ranks;
      trial.narrow(sums, ranks);
      continue;
    }
    const Trial::Turn turn = trial.turn();
    ++turns[turn.contestant];
    // What does not count may take as long as it likes.
    const std::optional<double> seconds = seconds_of(turn);
    if (turn.counts && seconds) trial.add(turn.contestant, *seconds);
    trial.advance();
  }
  return turns;
}

// Of whose contestants nothing is known.
Trial trial_of(std::size_t contestants, bool previous_is_last, TrialKind kind = TrialKind::as_they_come) {
  return Trial(std::vector<std::optional<double>>(contestants), previous_is_last, kind);
}

// Contestant c takes seconds[c].
std::vector<int> played(Trial& trial, const std::vector<double>& seconds, int ranks = 1) {
  return played_by(
      trial, [&](const Trial::Turn& turn) { return seconds[turn.contestant]; }, ranks);
}

TEST(Trial, the_fastest_wins_and_who_is_far_behind_is_out_early) {
  Trial trial = trial_of(3, true);
  const std::vector<int> turns = played(trial, {10e-6, 9e-6, 40e-6}, 16);
  EXPECT_EQ(trial.winner(), 1u);
  EXPECT_EQ(turns[2], 3) << "four times as long: only the first stage";
  EXPECT_EQ(turns[0], 39);
  EXPECT_NEAR(trial.seconds(1, 16), 9e-6, 1e-8);
  EXPECT_NEAR(trial.seconds(2, 16), 40e-6, 1e-8);
}

TEST(Trial, three_at_most_are_in_the_second_stage_and_the_close_ones_in_the_third) {
  Trial trial = trial_of(5, true);
  const std::vector<int> turns = played(trial, {14e-6, 10e-6, 13e-6, 12e-6, 11e-6}, 16);
  EXPECT_EQ(turns, (std::vector<int>{3, 39, 3, 13, 39}));
  EXPECT_EQ(trial.winner(), 1u);
  Trial without = trial_of(5, true);
  EXPECT_EQ(played(without, {14e-6, 13e-6, 10e-6, 11e-6, 15e-6}, 16)[4], 3) << "fourth though it is the previous one";
  EXPECT_EQ(without.winner(), 2u);
}

TEST(Trial, who_is_expected_to_be_fast_is_in_the_second_stage_though_two_calls_say_otherwise) {
  Trial trial({{9e-6}, {20e-6}, {20e-6}, {20e-6}, {20e-6}}, true);
  int counted = 0;
  played_by(trial, [&](const Trial::Turn& turn) {
    if (turn.contestant != 0) return std::optional(14e-6);
    return std::optional(turn.counts && ++counted <= 2 ? 25e-6 : 10e-6);
  });
  EXPECT_EQ(trial.winner(), 0u);
}

TEST(Trial, who_is_out_is_not_compared_with_later_calls) {
  // As when ranks run ahead of each other at first: all take twice as long from the second stage on.
  Trial trial = trial_of(2, true);
  std::vector<int> turns(2);
  played_by(trial, [&](const Trial::Turn& turn) {
    const double first = turn.contestant == 0 ? 5e-6 : 8e-6;
    return std::optional(++turns[turn.contestant] <= 3 ? first : 2 * first);
  });
  EXPECT_EQ(trial.winner(), 0u);
  Trial of_three = trial_of(3, true);
  turns.assign(3, 0);
  played_by(of_three, [&](const Trial::Turn& turn) {
    const double first = turn.contestant == 2 ? 8e-6 : 5e-6;
    return std::optional(++turns[turn.contestant] <= 3 ? first : 2 * first);
  });
  EXPECT_NE(of_three.winner(), 2u) << "10 us beside the 8 us of the first stage, in which it was the last";
}

TEST(Trial, the_previous_implementation_stays_in_where_its_times_are_too_short_to_tell) {
  Trial trial = trial_of(2, true);
  EXPECT_GT(played(trial, {0.1e-6, 0.16e-6}, 2)[1], 3);
  EXPECT_EQ(trial.winner(), 1u);
}

TEST(Trial, the_previous_implementation_keeps_what_is_not_clearly_beaten) {
  Trial close = trial_of(2, true);
  played(close, {9.7e-6, 10e-6});
  EXPECT_EQ(close.winner(), 1u);
  Trial clear = trial_of(2, true);
  played(clear, {9.5e-6, 10e-6});
  EXPECT_EQ(clear.winner(), 0u);
  Trial too_short_to_tell = trial_of(2, true);
  played(too_short_to_tell, {0.19e-6, 0.24e-6}, 2);
  EXPECT_EQ(too_short_to_tell.winner(), 1u) << "50 ns of one call";
  Trial short_and_clear = trial_of(2, true);
  played(short_and_clear, {0.3e-6, 0.6e-6}, 2);
  EXPECT_EQ(short_and_clear.winner(), 0u);
  Trial among_ours = trial_of(2, false);
  played(among_ours, {10e-6, 9.9e-6});
  EXPECT_EQ(among_ours.winner(), 1u);
}

TEST(Trial, a_brief_one_takes_few_calls) {
  Trial close = trial_of(2, true, TrialKind::brief), apart = trial_of(2, true, TrialKind::brief);
  EXPECT_EQ(played(close, {9.5e-6, 10e-6}), (std::vector<int>{6, 6}));
  EXPECT_EQ(close.winner(), 0u);
  EXPECT_EQ(played(apart, {16e-6, 10e-6}), (std::vector<int>{3, 3}));
  EXPECT_EQ(apart.winner(), 1u);
}

TEST(Trial, what_was_expected_counts_as_much_in_a_brief_one_as_what_it_measures_within_limits) {
  const auto winner = [](double seconds, double lead) {
    Trial trial({10e-6 - lead, 10e-6}, true, TrialKind::brief);
    played(trial, {seconds, 10e-6}, 8);
    return trial.winner();
  };
  EXPECT_EQ(winner(9.5e-6, 0), 1u) << "2.5% in the mean";
  EXPECT_EQ(winner(9.5e-6, 0.5e-6), 0u) << "5%";
  EXPECT_EQ(winner(10.5e-6, 2e-6), 0u) << "7.5%";
  EXPECT_EQ(winner(11e-6, 1e-6), 1u);
  EXPECT_EQ(winner(9.3e-6, -1e-6), 1u);
  EXPECT_EQ(winner(12e-6, 9e-6), 1u) << "an expectation is worth a quarter of the time at most";
  EXPECT_EQ(winner(5e-6, -40e-6), 0u);
  EXPECT_EQ(winner(20e-6, 2.5e-6), 1u) << "out in the first stage";
}

TEST(Trial, what_was_expected_counts_the_more_the_more_meetings_a_brief_one_measures) {
  const auto winner = [](double seconds, double expected, double expected_of_previous) {
    Trial trial({expected, expected_of_previous}, true, TrialKind::brief);
    played(trial, {seconds, 24e-6}, 8);
    return trial.winner();
  };
  EXPECT_EQ(winner(27.6e-6, 20e-6, 24e-6), 1u) << "0.8%, by halves: all of it is the call";
  EXPECT_EQ(winner(27.6e-6, 8e-6, 12e-6), 0u) << "8.8%: three quarters of 16.7%, for half is the call";
  EXPECT_EQ(winner(36e-6, 2e-6, 6e-6), 1u) << "3.3%: four fifths at most";
  EXPECT_EQ(winner(35e-6, 2e-6, 6e-6), 0u) << "4.2%";
  EXPECT_EQ(winner(18e-6, 14e-6, 12e-6), 1u) << "0%";
  EXPECT_EQ(winner(12e-6, 14e-6, 12e-6), 0u) << "6.3%: what is measured still counts";
}

// Of a trial at length on eight ranks, where contestant c takes seconds[c]; the last is the previous implementation.
std::optional<std::size_t> winner_of(const std::vector<double>& seconds, std::vector<std::optional<double>> expected) {
  Trial trial(std::move(expected), true);
  played(trial, seconds, 8);
  return trial.winner();
}

TEST(Trial, what_was_expected_is_a_fifth_of_what_decides_where_it_is_close) {
  const auto two = [](double seconds, double lead) { return winner_of({seconds, 10e-6}, {10e-6 - lead, 10e-6}); };
  EXPECT_EQ(two(9.7e-6, 1.2e-6), 0u) << "4.8%";
  EXPECT_EQ(two(9.7e-6, 0.6e-6), 1u) << "3.6%";
  EXPECT_EQ(two(9.5e-6, 0.2e-6), 0u) << "4.4%";
  EXPECT_EQ(two(9.5e-6, -0.2e-6), 1u) << "3.6%";
  EXPECT_EQ(two(10.2e-6, 9e-6), 1u) << "3.4%: it is worth a quarter of the time at most";
  EXPECT_EQ(two(9.8e-6, 9e-6), 0u) << "6.6%";
  EXPECT_EQ(two(7e-6, -40e-6), 0u) << "19%";
}

TEST(Trial, what_was_expected_counts_among_ours_too_within_limits) {
  const std::vector<std::optional<double>> known = {7e-6, 9e-6, 10e-6};
  EXPECT_EQ(winner_of({9.8e-6, 9.4e-6, 10e-6}, known), 0u) << "4% here, 29% before";
  EXPECT_EQ(winner_of({12e-6, 9e-6, 10e-6}, known), 1u) << "33% here, and 25% at most before";
  EXPECT_EQ(winner_of({12e-6, 12e-6, 10e-6}, known), 2u);
  EXPECT_EQ(winner_of({9.4e-6, 9e-6, 10e-6}, {7e-6, std::nullopt, 10e-6}), 1u) << "of one nothing is known";
}

TEST(Trial, two_slow_calls_of_who_is_expected_to_be_close_end_nothing) {
  const auto turns = [](std::vector<std::optional<double>> expected, double first, double then) {
    Trial trial(std::move(expected), true);
    int calls = 0;
    const std::vector<int> all = played_by(trial, [&](const Trial::Turn& turn) {
      if (turn.contestant == 1) return 10e-6;
      return ++calls <= 3 ? first : then;
    });
    return std::pair(all[0], trial.winner());
  };
  EXPECT_EQ(turns({std::nullopt, std::nullopt}, 20e-6, 8e-6), std::pair(3, std::optional<std::size_t>(1)));
  EXPECT_EQ(turns({8e-6, 10e-6}, 20e-6, 8e-6).second, 0u);
  EXPECT_EQ(turns({8e-6, 10e-6}, 20e-6, 20e-6), std::pair(13, std::optional<std::size_t>(1)));
  EXPECT_EQ(turns({8e-6, 10e-6}, 40e-6, 8e-6).first, 3) << "three times as long";
  EXPECT_EQ(turns({12e-6, 10e-6}, 20e-6, 8e-6).first, 3) << "expected behind";
  EXPECT_EQ(turns({12e-6, 10e-6}, 12.6e-6, 8e-6).first, 3) << "behind twice";
  EXPECT_EQ(turns({12e-6, 10e-6}, 12.4e-6, 8e-6).second, 0u);
  EXPECT_EQ(turns({std::nullopt, std::nullopt}, 12.6e-6, 8e-6).second, 0u) << "nothing expected";
}

TEST(Trial, a_row_of_calls_takes_what_they_take_together) {
  // Short and long by turns, 10 us in the mean: the median of most is 8.
  Trial trial = trial_of(2, true);
  int calls = 0;
  played_by(trial, [&](const Trial::Turn& turn) {
    if (turn.contestant == 0) return ++calls % 3 == 0 ? 14e-6 : 8e-6;
    return 9.5e-6;
  });
  EXPECT_EQ(trial.winner(), 1u);
}

TEST(Trial, short_calls_that_are_close_have_longer_turns_at_last) {
  Trial short_ones = trial_of(2, true), long_ones = trial_of(2, true), rooted = trial_of(2, true, TrialKind::together);
  EXPECT_EQ(played(short_ones, {1e-3, 1.1e-3}), (std::vector<int>{39, 39}));
  EXPECT_EQ(played(long_ones, {5e-3, 5.5e-3}), (std::vector<int>{23, 23}));
  EXPECT_EQ(played(rooted, {1e-3, 1.1e-3}), (std::vector<int>{15, 15}));
}

// And so has what looks close with what was expected, whatever it is.
TEST(Trial, ours_and_the_previous_implementation_go_on_where_they_are_very_close) {
  const auto turns = [](const std::vector<double>& seconds, std::vector<std::optional<double>> expected,
                        TrialKind kind = TrialKind::as_they_come) {
    Trial trial(std::move(expected), true, kind);
    return played(trial, seconds, 8);
  };
  const std::optional<double> none;
  EXPECT_EQ(turns({1e-3, 1.05e-3}, {none, none}), (std::vector<int>{91, 91}));
  EXPECT_EQ(turns({1.05e-3, 1e-3}, {none, none}), (std::vector<int>{91, 91}));
  EXPECT_EQ(turns({5e-3, 5.1e-3}, {none, none}), (std::vector<int>{43, 43}));
  EXPECT_EQ(turns({1e-3, 1.05e-3}, {none, none}, TrialKind::together), (std::vector<int>{27, 27}));
  EXPECT_EQ(turns({1e-3, 1.05e-3}, {none, none}, TrialKind::brief), (std::vector<int>{6, 6}));
  EXPECT_EQ(turns({1.1e-3, 1e-3}, {0.8e-3, 1e-3}), (std::vector<int>{91, 91})) << "5% ahead with what was expected";
  EXPECT_EQ(turns({0.88e-3, 1e-3}, {0.99e-3, 1e-3}), (std::vector<int>{39, 39})) << "7% with it, 12% by calls alone";
  EXPECT_EQ(turns({0.95e-3, 1e-3, 1e-3}, {none, none, none}), (std::vector<int>{91, 39, 91}));
  EXPECT_EQ(turns({0.9e-3, 0.9e-3, 1e-3}, {none, none, none}), (std::vector<int>{39, 39, 39}));
}

// By chance ours is ahead at first, in as many calls as there were before.
TEST(Trial, calls_by_chance_do_not_decide_what_is_close) {
  Trial trial = trial_of(2, true);
  int calls = 0;
  played_by(trial, [&](const Trial::Turn& turn) {
    if (turn.contestant == 1) return 10e-6;
    return ++calls <= 39 ? 9.4e-6 : 10.4e-6;
  });
  EXPECT_EQ(trial.winner(), 1u);
}

TEST(Trial, all_calls_of_a_brief_one_count) {
  Trial trial = trial_of(2, true, TrialKind::brief);
  int counted = 0;
  played_by(trial, [&](const Trial::Turn& turn) {
    if (turn.contestant == 1) return 9e-6;
    if (turn.counts) ++counted;
    return counted <= 2 ? 6e-6 : 11e-6;
  });
  EXPECT_EQ(counted, 4);
  EXPECT_EQ(trial.winner(), 0u) << "the last two were slow, two of all four";
}

TEST(Trial, one_slow_call_in_a_turn_decides_nothing) {
  Trial trial = trial_of(2, false);
  int call = 0;
  played_by(trial, [&](const Trial::Turn& turn) {
    const bool disturbed = turn.contestant == 0 && call++ % 5 == 1;
    return disturbed ? 1e-3 : turn.contestant == 0 ? 10e-6 : 12e-6;
  });
  EXPECT_EQ(trial.winner(), 0u);
}

TEST(Trial, a_contestant_that_was_never_measured_does_not_win) {
  Trial trial = trial_of(2, true);
  played_by(trial, [](const Trial::Turn& turn) { return turn.contestant == 0 ? std::optional(1.0) : std::nullopt; });
  EXPECT_EQ(trial.winner(), 0u);
  EXPECT_LT(trial.seconds(1, 1), 0);
}

TEST(Decisions, of_every_call_read_back) {
  for (std::size_t call = 0; call < calls().size(); ++call) {
    Outcome outcome;
    outcome.key = DecisionKey{static_cast<Collective>(call), 8, 10, 0, "tuned"};
    outcome.winner = "fallback";
    Decisions decisions;
    decisions.add(outcome);
    std::string line = decisions.text();
    line.pop_back();
    EXPECT_EQ(Decisions::outcome_from(line, "f:2").key, outcome.key) << line;
  }
}

TEST(Decisions, a_line_reads_back_and_a_wrong_one_is_named) {
  Outcome outcome;
  outcome.key = DecisionKey{Collective::alltoall, 8, 10, 0, "tuned"};
  outcome.winner = "tra:radix=4";
  outcome.times.push_back({"tra:radix=4", 1e-5});
  outcome.times.push_back({"fallback", -1});
  Decisions decisions;
  decisions.add(outcome);
  std::string line = decisions.text();
  line.pop_back();
  const Outcome back = Decisions::outcome_from(line, "f:2");
  EXPECT_EQ(back.key, outcome.key);
  EXPECT_EQ(back.winner, "tra:radix=4");
  ASSERT_EQ(back.times.size(), 2u);
  EXPECT_DOUBLE_EQ(back.times[0].seconds, 1e-5);
  EXPECT_THAT(error_from([] { Decisions::outcome_from("alltoall 8 10 0", "f:2"); }),
              HasSubstr("f:2: 'alltoall 8 10 0' is no decision"));
  EXPECT_THAT(error_from([] { Decisions::outcome_from("alltoall 8 10 0 - trap", "f:3"); }),
              HasSubstr("f:3 is 'trap'; must be one of"));
}

// A communicator of four threads whose previous implementation takes `previous_us`, ours `ours_us` more than it does.
class Guarded : public testing::Test {
 protected:
  static constexpr int k_ranks = 4;

  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() /
            ("colltopo_decisions_" + std::to_string(getpid()) + "_" + std::to_string(++files_));
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  struct Counted {
    int served = 0, left = 0;
  };
  // Calls of alltoall (allreduce) of one element, each checked; what rank 0 saw of the last `tail` of them.
  Counted calls(Ranks& ranks, int number, int tail, std::vector<std::pair<const char*, std::string>> settings,
                std::chrono::microseconds previous_takes, bool reduces = false, int op_properties = 3) {
    Counted counted;
    ranks.run([&](int rank, colltopo_comm* comm) {
      for (const auto& [name, value] : settings)
        ASSERT_EQ(colltopo_comm_set(comm, name, value.c_str()), COLLTOPO_SUCCESS);
      const unsigned* const left = colltopo_left(comm);
      const int collective = reduces ? COLLTOPO_ALLREDUCE : COLLTOPO_ALLTOALL;
      for (int i = 0; i < number; ++i) {
        std::vector<std::int64_t> input(k_ranks), output(k_ranks, -1);
        for (int to = 0; to < k_ranks; ++to) input[static_cast<std::size_t>(to)] = 100 * rank + to;
        colltopo_call call{};
        call.input = input.data();
        call.output = output.data();
        call.count = 1;
        call.element_size = sizeof(std::int64_t);
        call.op_properties = op_properties;
        call.reduce = [](void*, const void* source, void* target, std::size_t) {
          *static_cast<std::int64_t*>(target) += *static_cast<const std::int64_t*>(source);
          return 0;
        };
        // Ranks that pack ask first; the others do not.
        const bool asks = rank % 2 == 1 && i % 3 != 0;
        int code = asks && colltopo_serves(comm, collective, &call) == 0 ? COLLTOPO_DECLINED
                                                                         : colltopo_run(comm, collective, &call);
        if (code == COLLTOPO_DECLINED) {
          if (rank == 0 && i >= number - tail) ++counted.left;
          std::this_thread::sleep_for(previous_takes);
          if ((*left >> collective & 1) != 0) colltopo_previous_done(comm, collective);
          ASSERT_EQ(*left, 0u);
          continue;
        }
        ASSERT_EQ(code, COLLTOPO_SUCCESS);
        if (rank == 0 && i >= number - tail) ++counted.served;
        for (int from = 0; from < (reduces ? 1 : k_ranks); ++from)
          ASSERT_EQ(output[static_cast<std::size_t>(from)], reduces ? 600 : 100 * from + rank);
      }
    });
    return counted;
  }

  std::string path_;
  static inline int files_ = 0;  // a process reads a file once
};

using std::chrono_literals::operator""us;

TEST_F(Guarded, a_slow_previous_implementation_loses_though_nothing_is_known_of_it) {
  Ranks ranks(k_ranks);
  const Counted all = calls(ranks, 140, 140, {{"verbose", "1"}}, 20000us);
  EXPECT_GE(all.left, 3) << "its turn";
  Ranks again(k_ranks);
  EXPECT_EQ(calls(again, 140, 10, {}, 20000us).served, 10);
  EXPECT_THAT(ranks.said, Contains(HasSubstr("alltoall of 8 to 9 bytes on 4 ranks: ")));
  EXPECT_THAT(ranks.said, Contains(HasSubstr("(measured: ")));
}

TEST_F(Guarded, a_fast_previous_implementation_keeps_the_calls) {
  Ranks ranks(k_ranks);
  const Counted last = calls(ranks, 140, 10, {{"latency_node", "1us"}, {"verbose", "1"}}, 0us);
  EXPECT_EQ(last.left, 10);
  EXPECT_THAT(ranks.said, Contains(HasSubstr("fallback (measured: ")));
}

TEST_F(Guarded, all_that_are_predicted_to_be_close_take_part) {
  const auto takes_part = [](const char* algorithm) {
    return Contains(testing::ContainsRegex(std::string("alltoall of 8 to 9 .*measured: .*") + algorithm + "[ :]"));
  };
  // In this order: 18, 25 and 27 us; then linear 9, tra 18 and pairwise 27.
  Ranks close(k_ranks), apart(k_ranks);
  calls(close, 140, 0, {{"latency_node", "9us"}, {"message_overhead", "8us"}, {"verbose", "1"}}, 20000us);
  for (const char* algorithm : {"tra", "linear", "pairwise"}) EXPECT_THAT(close.said, takes_part(algorithm));
  calls(apart, 140, 0, {{"latency_node", "9us"}, {"verbose", "1"}}, 20000us);
  for (const char* algorithm : {"tra", "linear"}) EXPECT_THAT(apart.said, takes_part(algorithm));
  EXPECT_THAT(apart.said, Not(takes_part("pairwise")));
}

TEST_F(Guarded, few_calls_and_choice_by_model_try_nothing) {
  const unsigned long long before = [] {
    std::size_t i = 0;
    while (std::string(colltopo_counters()[i].name) != "trial_calls") ++i;
    return colltopo_counter_value(i);
  }();
  Ranks ranks(k_ranks), by_model(k_ranks), forced(k_ranks), off(k_ranks);
  calls(ranks, 8, 8, {{"latency_node", "2us"}}, 0us);
  calls(by_model, 60, 60, {{"choice", "model"}}, 0us);
  EXPECT_EQ(calls(forced, 60, 60, {{"alltoall_algorithm", "linear"}}, 0us).served, 60);
  EXPECT_EQ(calls(off, 60, 60, {{"choice", "off"}}, 0us).left, 60);
  std::size_t i = 0;
  while (std::string(colltopo_counters()[i].name) != "trial_calls") ++i;
  EXPECT_EQ(colltopo_counter_value(i), before);
}

TEST_F(Guarded, sums_whose_order_shows_are_tried_with_a_file_alone_and_exact_ones_always) {
  const std::vector<std::pair<const char*, std::string>> plain = {{"latency_node", "3us"}, {"verbose", "1"}};
  Ranks floating(k_ranks), exact(k_ranks), filed(k_ranks);
  calls(floating, 140, 140, plain, 1000us, true, COLLTOPO_OP_COMMUTATIVE);
  EXPECT_THAT(floating.said, Not(Contains(HasSubstr("measured: "))));
  calls(exact, 140, 140, plain, 1000us, true);
  EXPECT_THAT(exact.said, Contains(HasSubstr("measured: ")));
  auto with_file = plain;
  with_file.push_back({"decisions", path_});
  calls(filed, 140, 140, with_file, 1000us, true, COLLTOPO_OP_COMMUTATIVE);
  EXPECT_THAT(filed.said, Contains(HasSubstr("measured: ")));
}

TEST_F(Guarded, the_next_job_does_what_the_file_says_from_its_first_call) {
  std::ofstream(path_) << "colltopo-decisions 1\n";
  Ranks first(k_ranks);
  calls(first, 140, 1, {{"decisions", path_}}, 20000us);
  std::string text;
  std::ifstream in(path_);
  for (std::string line; std::getline(in, line);) text += line + '\n';
  EXPECT_THAT(text, HasSubstr("communicator 4 ranks, 1 nodes, placement "));
  ASSERT_THAT(text, HasSubstr("\nalltoall 8 10 0 tuned "));
  // Another winner than any trial would find, as another job may have left it.
  const std::size_t at = text.find("\nalltoall 8 10 0 tuned ");
  const std::string other = text.substr(0, at) + "\nalltoall 8 10 0 tuned pairwise pairwise 1e-6\n";
  const std::string elsewhere = path_ + "_2";  // what a process has read it reads no more
  std::ofstream(elsewhere) << other;
  Ranks next(k_ranks);
  EXPECT_EQ(calls(next, 40, 40, {{"decisions", elsewhere}, {"verbose", "1"}, {"choice", "model"}}, 0us).served, 40);
  EXPECT_THAT(next.said, Contains(HasSubstr("pairwise (measured, predicted ")));
  std::filesystem::remove(elsewhere);
}

TEST_F(Guarded, a_broken_file_of_decisions_is_named_and_changes_nothing) {
  std::ofstream(path_) << "hello\n";
  Ranks ranks(k_ranks);
  calls(ranks, 140, 1, {{"decisions", path_}}, 100us);
  EXPECT_THAT(ranks.said, Contains(HasSubstr(path_ + ":1: 'hello'; expected 'colltopo-decisions 1'")));
  std::string line;
  std::getline(std::ifstream(path_) >> std::ws, line);
  EXPECT_EQ(line, "hello");
}

// Calls of alltoallv in which rank r sends `unit` (r + to) bytes, each checked; what this rank saw of them, 's' or 'l'.
std::string alltoallv_calls(int rank, colltopo_comm* comm, int number, std::chrono::microseconds previous_takes,
                            std::size_t unit = 4) {
  constexpr std::size_t k_ranks = 4;
  const auto own = static_cast<std::size_t>(rank);
  std::array<std::size_t, k_ranks> bytes{}, at{};
  std::size_t total = 0;
  for (std::size_t peer = 0; peer < k_ranks; ++peer) {
    at[peer] = total;
    total += bytes[peer] = unit * (own + peer);  // the same both ways
  }
  const colltopo_blocks blocks{bytes.data(), at.data(), bytes.data(), at.data()};
  std::string seen;
  for (int i = 0; i < number; ++i) {
    std::vector<std::uint8_t> input(total + 1), output(total + 1, 255);
    for (std::size_t to = 0; to < k_ranks; ++to)
      std::fill_n(&input[at[to]], bytes[to], static_cast<std::uint8_t>(16 * own + to));
    colltopo_call call{};
    call.input = input.data();
    call.output = output.data();
    call.element_size = 1;
    call.blocks = &blocks;
    const int code = colltopo_run(comm, COLLTOPO_ALLTOALLV, &call);
    seen += code == COLLTOPO_SUCCESS ? 's' : 'l';
    if (code == COLLTOPO_DECLINED) {
      std::this_thread::sleep_for(previous_takes);
      if ((*colltopo_left(comm) >> COLLTOPO_ALLTOALLV & 1) != 0) colltopo_previous_done(comm, COLLTOPO_ALLTOALLV);
      continue;
    }
    EXPECT_EQ(code, COLLTOPO_SUCCESS);
    for (std::size_t from = 0; from < k_ranks; ++from)
      for (std::size_t b = 0; b < bytes[from]; ++b) EXPECT_EQ(output[at[from] + b], 16 * from + own);
  }
  return seen;
}

TEST_F(Guarded, calls_whose_sizes_nobody_knows_are_tried_at_the_mean_of_the_first) {
  Ranks first(k_ranks), second(k_ranks), by_model(k_ranks);
  std::array<std::string, k_ranks> seen, later, untried;
  const auto run = [](Ranks& ranks, auto& all, const char* choice, std::chrono::microseconds previous_takes) {
    ranks.run([&](int rank, colltopo_comm* comm) {
      for (const auto& [name, value] :
           {std::pair{"latency_node", "7us"}, {"verbose", "1"}, {"choice", choice}, {"trial_after", "8"}})
        ASSERT_EQ(colltopo_comm_set(comm, name, value), COLLTOPO_SUCCESS);
      all[static_cast<std::size_t>(rank)] = alltoallv_calls(rank, comm, 100, previous_takes);
    });
  };
  run(first, seen, "measured", 20000us);
  for (const std::string& one : seen) EXPECT_EQ(one, seen[0]);
  EXPECT_EQ(seen[0].substr(0, 8), "llllllll") << "the previous implementation's until there is a mean";
  EXPECT_EQ(seen[0].substr(90), "ssssssssss");
  EXPECT_THAT(first.said, Contains(HasSubstr("alltoallv on 4 ranks, 1 nodes: fallback (until measured)")));
  EXPECT_THAT(first.said, Contains(HasSubstr("alltoallv of 12 to 13 bytes a block, on average, on 4 ranks: ")));
  run(second, later, "measured", 0us);
  EXPECT_EQ(later[0], "llllllll" + std::string(92, 's')) << "of the same mean: as it was measured";
  run(by_model, untried, "model", 0us);
  EXPECT_EQ(untried[0], std::string(100, 'l'));
}

TEST_F(Guarded, the_mean_is_of_the_first_call_where_trials_begin_with_it) {
  Ranks ranks(k_ranks);
  ranks.run([](int rank, colltopo_comm* comm) {
    for (const auto& [name, value] : {std::pair{"verbose", "1"}, {"trial_after", "0"}})
      ASSERT_EQ(colltopo_comm_set(comm, name, value), COLLTOPO_SUCCESS);
    alltoallv_calls(rank, comm, 100, 0us);
  });
  EXPECT_THAT(ranks.said, Contains(HasSubstr("alltoallv of 12 to 13 bytes a block, on average, on 4 ranks: ")));
}

TEST_F(Guarded, rounds_end_when_blocks_have_become_others) {
  std::ofstream(path_) << "colltopo-decisions 1\n";
  Ranks first(k_ranks);
  first.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "decisions", path_.c_str());
    colltopo_comm_set(comm, "trial_after", "8");
    alltoallv_calls(rank, comm, 100, 20000us);
  });
  // As another job may have left it: by rounds, whatever was measured here.
  std::string text, line;
  for (std::ifstream in(path_); std::getline(in, line);)
    text +=
        (line.starts_with("alltoallv 12 14 0 tuned ") ? "alltoallv 12 14 0 tuned tra:radix=2 tra:radix=2 1e-6" : line) +
        "\n";
  ASSERT_THAT(text, HasSubstr("tuned tra:radix=2 tra:radix=2 1e-6"));
  const std::string elsewhere = path_ + "_2";
  std::ofstream(elsewhere) << text;
  Ranks next(k_ranks);
  std::array<std::string, k_ranks> small, none;
  next.run([&](int rank, colltopo_comm* comm) {
    const auto own = static_cast<std::size_t>(rank);
    colltopo_comm_set(comm, "decisions", elsewhere.c_str());
    colltopo_comm_set(comm, "trial_after", "8");
    small[own] = alltoallv_calls(rank, comm, 300, 0us);
    none[own] = alltoallv_calls(rank, comm, 1000, 0us, 0);
  });
  for (int rank = 0; rank < k_ranks; ++rank) {
    EXPECT_EQ(small[static_cast<std::size_t>(rank)], "llllllll" + std::string(292, 's'));
    EXPECT_EQ(none[static_cast<std::size_t>(rank)], none[0]);
  }
  const std::size_t looked = none[0].find('l');
  ASSERT_NE(looked, std::string::npos);
  EXPECT_GT(looked, 256u) << "looks come less often where they find nothing";
  EXPECT_EQ(none[0].substr(looked, 8), "llllllll") << "until this is measured, as at first";
  EXPECT_EQ(none[0].substr(900), std::string(100, 'l')) << "who does nothing at all is faster than rounds";
  std::filesystem::remove(elsewhere);
}

// In this call and the next the last rank begins when the root has come back from asking, or after `patience`. Whether
// the root had come back both times.
bool root_runs_ahead(std::size_t first, std::size_t bytes, std::chrono::milliseconds patience) {
  constexpr int k_ranks = 4, k_number = 17;
  std::array<std::atomic<bool>, k_number> came_back{};
  std::atomic<int> ahead = 0;
  Ranks ranks(k_ranks);
  ranks.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "trial_after", "8");
    const unsigned* const left = colltopo_left(comm);
    std::vector<std::uint8_t> data(bytes);
    for (std::size_t i = 0; i < k_number; ++i) {
      colltopo_call call{};
      call.input = call.output = data.data();
      call.count = bytes;
      call.element_size = 1;
      if (rank == k_ranks - 1 && (i == first || i == first + 1)) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (!came_back[i] && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        if (came_back[i]) ++ahead;
      }
      const int code = colltopo_run(comm, COLLTOPO_BCAST, &call);
      if (rank == 0) came_back[i] = true;
      if (code == COLLTOPO_SUCCESS) continue;
      EXPECT_EQ(code, COLLTOPO_DECLINED);
      if ((*left >> COLLTOPO_BCAST & 1) != 0) colltopo_previous_done(comm, COLLTOPO_BCAST);
    }
  });
  return ahead == 2;
}

TEST_F(Guarded, a_root_waits_before_counted_calls_and_no_others) {
  using std::chrono_literals::operator""ms;
  // Eight calls by the model, then turns of three calls of which the first does not count: ours, the previous one's
  // last.
  constexpr std::size_t k_counted = 15, k_by_model = 2;
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4} << 20})
    EXPECT_FALSE(root_runs_ahead(k_counted, bytes, 50ms));
  EXPECT_TRUE(root_runs_ahead(k_by_model, 8, 20000ms));
}

// 'l' for each bcast that was left to the previous implementation, which takes this long, 's' for each of ours.
std::string bcasts(Ranks& ranks, std::size_t bytes, const std::string& constants, std::chrono::microseconds previous) {
  std::string seen;
  ranks.run([&](int rank, colltopo_comm* comm) {
    for (const auto& [name, value] :
         {std::pair{"constants", constants.c_str()}, {"verbose", "1"}, {"trial_after", "8"}})
      ASSERT_EQ(colltopo_comm_set(comm, name, value), COLLTOPO_SUCCESS);
    const unsigned* const left = colltopo_left(comm);
    for (int i = 0; i < 40; ++i) {
      std::vector<std::uint8_t> data(bytes, static_cast<std::uint8_t>(rank == 0 ? i : 255));
      colltopo_call call{};
      call.input = call.output = data.data();
      call.count = bytes;
      call.element_size = 1;
      const int code = colltopo_run(comm, COLLTOPO_BCAST, &call);
      if (rank == 0) seen += code == COLLTOPO_SUCCESS ? 's' : 'l';
      if (code == COLLTOPO_SUCCESS) {
        EXPECT_EQ(data, std::vector<std::uint8_t>(bytes, static_cast<std::uint8_t>(i)));
        continue;
      }
      EXPECT_EQ(code, COLLTOPO_DECLINED);
      std::this_thread::sleep_for(previous);
      if ((*left >> COLLTOPO_BCAST & 1) != 0) colltopo_previous_done(comm, COLLTOPO_BCAST);
    }
  });
  return seen;
}

// Of `ranks` ranks of this node, without times.
ConstantsRecord record_of(int ranks) {
  std::string own(256, '\0');
  EXPECT_EQ(gethostname(own.data(), own.size() - 1), 0);
  ConstantsRecord record{{without_domain(own.c_str())}, ranks, transport_of_environment(), this_version(), {}, {}};
  record.constants["latency_node"] = 2e-5;
  record.places = places_of(std::vector<int>(static_cast<std::size_t>(ranks)));
  return record;
}

TEST_F(Guarded, long_calls_that_were_measured_follow_the_model_a_quarter_as_long) {
  // Three calls of the standing choice and of the next; then the previous implementation's.
  constexpr int k_number = 2 + 3 + 3 + 3;
  for (const double seconds : {0.9e-3, 1.1e-3}) {
    ConstantsRecord record = record_of(k_ranks);
    record.constants["latency_node"] = seconds;
    record.times.push_back({"alltoall", "linear", {{8, seconds}, {64, seconds}}});
    record.times.push_back({"alltoall", "fallback", {{8, 1.2 * seconds}, {64, 1.2 * seconds}}, "tuned"});
    write_constants(path_ + std::to_string(seconds), record);
    Ranks ranks(k_ranks);
    ranks.previous = "tuned";
    const Counted counted =
        calls(ranks, k_number, k_number, {{"constants", path_ + std::to_string(seconds)}, {"trial_after", "8"}}, 100us);
    EXPECT_EQ(counted.left, seconds < 1e-3 ? 0 : 3);
    EXPECT_EQ(counted.served, k_number - counted.left);
    std::filesystem::remove(path_ + std::to_string(seconds));
  }
}

TEST_F(Guarded, what_was_measured_to_take_three_times_as_long_as_ours_has_no_turn) {
  for (const double previous : {2.8e-3, 3.2e-3}) {
    ConstantsRecord record = record_of(k_ranks);
    record.constants["latency_node"] = 1e-3;
    record.times.push_back({"alltoall", "linear", {{8, 1e-3}, {64, 1e-3}}});
    record.times.push_back({"alltoall", "pairwise", {{8, 3e-3}, {64, 3e-3}}});
    record.times.push_back({"alltoall", "fallback", {{8, previous}, {64, previous}}, "tuned"});
    const std::string file = path_ + std::to_string(previous);
    write_constants(file, record);
    Ranks ranks(k_ranks);
    ranks.previous = "tuned";
    const int left =
        calls(ranks, 250, 250, {{"constants", file}, {"trial_after", "8"}, {"verbose", "1"}}, 20000us).left;
    EXPECT_EQ(left, previous < 3e-3 ? 3 : 0);
    const char* const others = previous < 3e-3 ? "measured: linear .*fallback" : "measured: linear .* us, tra[^,]*\\)";
    EXPECT_THAT(ranks.said, Contains(testing::ContainsRegex(others)));
    std::filesystem::remove(file);
  }
}

TEST_F(Guarded, short_calls_with_a_root_that_were_measured_have_a_brief_trial) {
  ConstantsRecord record = record_of(k_ranks);
  record.times.push_back({"bcast", "binomial", {{8, 40e-6}, {4096, 80e-6}}});
  record.times.push_back({"bcast", "linear", {{8, 50e-6}, {4096, 95e-6}}});
  record.times.push_back({"bcast", "knomial", {{8, 50e-6}, {4096, 95e-6}}});
  record.times.push_back({"bcast", "fallback", {{8, 40e-6}, {4096, 90e-6}}, "tuned"});
  write_constants(path_, record);
  Ranks ranks(k_ranks);
  ranks.previous = "tuned";
  // By the model; three calls of each, of which two count; the slow one is out.
  EXPECT_EQ(bcasts(ranks, 4096, path_, 20000us),
            "ssssssss"
            "sss"
            "lll" +
                std::string(26, 's'));
  EXPECT_THAT(ranks.said, Contains(testing::ContainsRegex("bcast of 4096 to .*measured: [^,]*, fallback [^,]*$")))
      << "one of ours and the previous one";
  Ranks others(k_ranks);
  others.previous = "tuned";
  bcasts(others, 8, path_, 0us);
  EXPECT_THAT(others.said, testing::Not(Contains(HasSubstr("measured: ")))) << "as long as a meeting";
}

TEST(Trials, of_measured_calls_with_a_root_short_ones_are_tried_briefly_and_the_shortest_not) {
  std::vector<MeasuredRow> rows;
  for (const Collective collective : {Collective::bcast, Collective::alltoall}) {
    rows.push_back({collective, nullptr, {{8, 20e-6}}, "tuned"});
    rows.push_back(
        {collective, algorithm_named(collective == Collective::bcast ? "binomial" : "linear"), {{8, 20e-6}}});
    if (collective == Collective::bcast) rows.push_back({collective, algorithm_named("swing"), {{8, 18e-6}}});
  }
  Machine machine;
  machine.latency_node = 10e-6;
  machine.bandwidth_node = 1e9;
  Chooser plain(4, {}, machine, {});
  Chooser measured(4, {}, machine, {}, {}, std::make_shared<const std::vector<MeasuredRow>>(std::move(rows)));
  Settings settings;
  Request request{Collective::bcast, 0, 64, true, true};
  request.previous = "tuned";
  EXPECT_EQ(trying(settings, plain, request), Trying::at_length);
  EXPECT_EQ(trying(settings, measured, request), Trying::not_at_all) << "less than a message along a binomial tree";
  EXPECT_FALSE(for_model(settings, measured, request).tried) << "so more of a lead is asked";
  request.bytes = 16384;
  EXPECT_EQ(trying(settings, measured, request), Trying::not_at_all) << "longer, but less than 50 us";
  request.bytes = 32768;
  EXPECT_EQ(trying(settings, measured, request), Trying::briefly);
  EXPECT_TRUE(for_model(settings, measured, request).tried);
  request.bytes = 1 << 20;
  EXPECT_EQ(trying(settings, measured, request), Trying::at_length) << "many times as long as a message to everyone";
  request.bytes = 64;
  request.collective = Collective::alltoall;
  EXPECT_EQ(trying(settings, measured, request), Trying::at_length);
  settings.choosing = Choosing::model;
  EXPECT_EQ(trying(settings, measured, request), Trying::not_at_all);
}

// Of a bcast of 32 KiB that is not much longer than a meeting, ours and tuned's times with their standard errors.
Trying trying_by(const MeasuredRow::Time& own, const MeasuredRow::Time& previous) {
  Machine machine;
  machine.latency_node = 10e-6;
  machine.bandwidth_node = 1e9;
  std::vector<MeasuredRow> rows;
  rows.push_back({Collective::bcast, algorithm_named("binomial"), {own}});
  rows.push_back({Collective::bcast, nullptr, {previous}, "tuned"});
  Chooser measured(4, {}, machine, {}, {}, std::make_shared<const std::vector<MeasuredRow>>(std::move(rows)));
  Request request{Collective::bcast, 0, own.bytes, true, true};
  request.previous = "tuned";
  return trying({}, measured, request);
}

TEST(Trials, of_measured_calls_with_a_root_none_is_where_ours_is_far_ahead_by_many_calls) {
  constexpr std::size_t k_bytes = 32768;
  EXPECT_EQ(trying_by({k_bytes, 80e-6, 0.02}, {k_bytes, 160e-6, 0.02}), Trying::not_at_all);
  EXPECT_EQ(trying_by({k_bytes, 80e-6, 0.02}, {k_bytes, 92e-6, 0.02}), Trying::briefly) << "not far";
  EXPECT_EQ(trying_by({k_bytes, 80e-6, 0.02}, {k_bytes, 96e-6, 0.02}), Trying::not_at_all) << "far";
  EXPECT_EQ(trying_by({k_bytes, 80e-6, 0.02}, {k_bytes, 160e-6, 0.2}), Trying::not_at_all) << "ahead all the same";
  EXPECT_EQ(trying_by({k_bytes, 80e-6, 0.5}, {k_bytes, 160e-6, 0.02}), Trying::briefly) << "perhaps not ahead";
  EXPECT_EQ(trying_by({k_bytes, 80e-6, 0.02}, {k_bytes, 160e-6, 0.26}), Trying::briefly) << "perhaps not ahead";
  EXPECT_EQ(trying_by({k_bytes, 80e-6}, {k_bytes, 130e-6}), Trying::briefly) << "of a few calls";
  EXPECT_EQ(trying_by({k_bytes, 80e-6}, {k_bytes, 130e-6, 0.02}), Trying::briefly) << "the same of one";
  EXPECT_EQ(trying_by({k_bytes, 80e-6}, {k_bytes, 135e-6}), Trying::not_at_all) << "very far";
  EXPECT_EQ(trying_by({k_bytes, 160e-6, 0.02}, {k_bytes, 80e-6, 0.02}), Trying::briefly) << "far behind";
}

TEST_F(Guarded, a_later_communicator_of_the_kind_begins_with_what_was_measured) {
  const std::vector<std::pair<const char*, std::string>> settings = {{"latency_node", "5us"}, {"verbose", "1"}};
  Ranks first(k_ranks), second(k_ranks);
  calls(first, 140, 1, settings, 20000us);
  const Counted all = calls(second, 30, 30, settings, 0us);
  EXPECT_EQ(all.served, 30);
  EXPECT_THAT(second.said, Contains(HasSubstr("(measured, predicted ")));
}

}  // namespace
}  // namespace colltopo
