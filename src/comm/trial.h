// The turns of a trial: which contestant serves the next call of a class of sizes, and what was measured.
//
// Nothing here is communicated. Turns follow from the number of calls alone, so all ranks are at the same one; when
// must_agree(), they add up their times and narrow() the field. First every contestant has a few calls, and who is far
// behind is out; then those that are left have more of them, forth and back, so that what drifts meets all alike; and
// once more those that are close; and twice more ours and the previous implementation, where they are so close that
// chance may decide. The first call of a turn is not counted: it makes a plan, and ends what the turn before it left
// under way.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace colltopo {

enum class TrialKind {
  as_they_come,
  together,  // ranks begin what counts together, which takes its time and lets fewer calls tell as much
  brief,     // the same of calls that are not much longer than that, whose times hold it: two stages
};

class Trial {
 public:
  /// `previous_is_last`: the last contestant is the previous implementation, whom others must beat by a margin.
  /// `expected`: seconds per call of each, where something is known. Who is expected to be close is not out for two
  /// calls, and an expected lead counts as much as a measured one; more where a brief trial's calls are hardly more
  /// than their meetings.
  Trial(std::vector<std::optional<double>> expected, bool previous_is_last, TrialKind kind = TrialKind::as_they_come);

  struct Turn {
    std::size_t contestant = 0;
    bool counts = false;
  };
  /// All turns of this stage are over: narrow() comes before the next.
  bool must_agree() const { return place_ == turns_.size(); }
  Turn turn() const { return turns_[place_]; }
  void advance() { ++place_; }
  void add(std::size_t contestant, double seconds);

  /// What a call takes on this rank, of each contestant in this stage, the last with the one before it, in nanoseconds;
  /// k_no_time for one without any.
  std::vector<long long> times() const;
  /// With the sums of all `ranks`' times(), equal everywhere.
  void narrow(std::span<const long long> sums, int ranks);
  /// Once the trial is over.
  std::optional<std::size_t> winner() const { return winner_; }
  /// Seconds per rank and call, as they were agreed on last; negative: never measured.
  double seconds(std::size_t contestant, int ranks) const;
  std::size_t contestants() const { return sums_.size(); }

  static constexpr long long k_no_time = 1'000'000'000'000;  // ns; the sum of a million fits

 private:
  void begin_stage(std::size_t calls, int turns);
  std::size_t calls_of_a_turn(std::size_t best, int ranks) const;
  void keep_best(const std::vector<double>& judged);
  std::vector<double> judged() const;
  bool is_out(std::size_t contestant, double times_the_best) const;
  bool is_expected_close(std::size_t contestant) const;
  double lead_over_previous(std::size_t contestant, int ranks) const;
  double share_of_expected(int ranks) const;
  bool beats_previous(std::size_t contestant, int ranks) const;
  bool is_close_to_previous(std::size_t contestant, int ranks) const;

  bool previous_is_last_;
  TrialKind kind_;
  std::vector<std::optional<double>> expected_;  // [contestant]
  int stage_ = 0;
  std::size_t place_ = 0;
  std::vector<Turn> turns_;
  std::vector<std::size_t> left_;           // contestants that are still in
  std::vector<std::vector<double>> times_;  // [contestant], of this stage
  std::vector<long long> sums_;             // [contestant]; negative: never measured
  std::optional<std::size_t> winner_;
};

}  // namespace colltopo
