// The race between the rows that may serve a class of calls: who is believed the best, and which calls are worth
// spending to know more (../shared/design.md, section 8).
//
// A round is a block of calls of every live contestant, side by side. Two contestants are compared in the rounds that
// both were in, by the logarithms of their blocks, so that a slow minute is slow for both. From those differences
// follow the noise and how sure each difference is. A contestant takes part while what it may gain over the calls to
// come, as many as there were, is more than what its block costs.
//
// Only rank 0 has a Race. It tells the others Plans, so nothing must have the same bits on two ranks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "choice/belief.h"

namespace colltopo {

/// The numbers that decide. The replay (benchmarks/choice) is where a change of one is judged.
struct RaceRules {
  double share = 0.01;         // of a class's time that exploring may cost in the long run
  double start_calls = 30;     // and so many calls of the best at the beginning
  double first_calls = 500;    // that a class is taken to have still to come when it begins
  double difference = 0.0075;  // that is worth nothing to know
  double noise = 0.2;          // of a call's logarithm, before anything was seen
  double noise_calls = 4;      // that this counts for
  double most_errors = 2.5;    // that a block counts for beyond what was known of it
  double few_rounds = 3;       // an error that few rounds tell is unsure itself: variance x (1 + few_rounds / rounds^2)
  std::size_t block_calls = 4;  // of the first round; a block's first call is not counted
  double growth = 1.25;         // of blocks from round to round
  std::size_t most_block_calls = 40;
  double agreement_calls = 0.5;  // what an agreement costs, in calls of the best, before one was measured
};

/// The counted calls of one contestant in a round.
struct Block {
  double seconds = 0;  // of a call
  double scatter = 0;  // variance of a call's logarithm within the block
};

/// Seconds are between the calls' median and their mean, in which a call counts for two medians at most. Of two calls
/// the smaller is their median, for others only make a call longer.
Block block_of(std::vector<double> seconds);

class Race {
 public:
  /// What all ranks do until the next agreement: blocks of a round, then calls that the best serves.
  struct Plan {
    std::vector<std::size_t> order;  // of a round's blocks; empty: no round
    std::size_t block_calls = 0;
    std::size_t best = 0;
    std::size_t wait_calls = 0;  // of the best, from the end of the round before it to this one
  };

  /// `beliefs`: of each contestant before the first call. `serving`: who serves until something is known.
  Race(std::vector<Belief> beliefs, std::size_t serving, const RaceRules& rules = {});

  /// What comes after `calls` calls of the class.
  Plan plan(std::size_t calls) const;
  /// A round is over, of whose contestants these are the blocks, in the plan's order. `agreement_seconds`: that the
  /// ranks take to tell each other; 0: not known.
  void ended(const Plan& plan, std::span<const Block> blocks, double agreement_seconds = 0);

  std::size_t best() const { return best_; }
  /// Calls of the best, that exploring has cost beyond it.
  double spent_calls() const { return spent_; }
  /// By how much a contestant's time is above another's, as a difference of logarithms.
  Belief behind(std::size_t contestant, std::size_t other) const;
  /// Of its time: the best's, with what it is behind.
  Belief belief(std::size_t contestant) const;

 private:
  struct Pair {
    double difference = 0;  // of logarithms, the mean over their rounds
    double calls = 0;       // in them
    double rounds = 0;
  };
  /// Blocks, of all rounds.
  struct Seen {
    double log_seconds = 0;  // the mean
    double calls = 0;
  };
  Pair& pair(std::size_t a, std::size_t b) { return pairs_[a * beliefs_.size() + b]; }
  const Pair& pair(std::size_t a, std::size_t b) const { return pairs_[a * beliefs_.size() + b]; }
  void find_best();
  double noise_variance() const { return noise_squares_ / noise_weight_; }
  double calls_until_worth(std::size_t contestant) const;
  std::size_t block_calls() const;

  RaceRules rules_;
  std::vector<Belief> beliefs_;
  std::vector<Pair> pairs_;  // [contestant][contestant]
  std::vector<Seen> seen_;   // [contestant]
  double noise_squares_, noise_weight_;
  std::size_t best_;
  std::size_t rounds_ = 0;
  double block_calls_;
  double agreement_calls_;  // what an agreement costs, in calls of the best
  double spent_ = 0;
};

}  // namespace colltopo
