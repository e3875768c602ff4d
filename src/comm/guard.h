// The guard of a communicator: nothing that the model chose is kept before it was measured beside the next best and the
// previous implementation (docs/decisions/0018-trials.md).
//
// For every class of sizes it counts the calls. The first follow the model; then a Trial goes through its turns, the
// ranks agree once per stage on sums of their times, and what won is kept. Each rank counts alike, since a class
// follows from what is equal on all ranks. Of calls whose sizes no rank knows, the ranks agree on the mean block of the
// first; that is the size of all that follow, until a later mean is another by far.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "comm/agreement.h"
#include "comm/counters.h"
#include "comm/selector.h"
#include "comm/trial.h"

namespace colltopo {

class Guard {
 public:
  Guard(const Settings& settings, Selector& selector, const Agreement& agreement, const Voice& voice, Rank ranks)
      : settings_(settings), selector_(selector), agreement_(agreement), voice_(voice), ranks_(ranks) {}

  /// What serves the call at hand, whose standing decision is open. Collective where a stage of the trial is over, and
  /// before a call that ranks begin together.
  /// Looking twice at the same call changes nothing. The answer holds for this call. `own_bytes`: this rank's mean
  /// block where nobody knows all sizes.
  const Decision* look(const Request& request, const Decision& standing, std::size_t own_bytes);
  /// Mean block of calls whose sizes no rank knows, as the ranks have agreed; 0: they have not.
  std::size_t mean_bytes(Collective collective) const noexcept { return followed_[index_of(collective)].mean; }
  /// After a call that was served by way of other ranks, as a mean block decided: whether the ranks look now whether
  /// that still is their mean.
  bool follows(Collective collective, std::size_t own_bytes) noexcept;
  /// Collective. Where the mean is another by far, it decides from the next call on.
  void look_at_mean(Collective collective);

  /// The call at hand is left to the previous implementation, to be timed if that is its turn.
  void leave();
  /// A call is left whose like may be served.
  void leave_once(Collective collective) noexcept { left_ |= 1u << index_of(collective); }
  /// The call at hand is to be served; then it was.
  void begins() noexcept;
  void ran();
  /// Nothing of any class is known any more: what there is to choose between has changed.
  void reset() noexcept;
  /// Whether the call at hand is part of a class that is not decided.
  bool has_call() const noexcept { return now_.of != nullptr; }
  void forget() noexcept { now_ = {}; }

  /// Bit c: a call of collective c was left, and the caller is to say when it is done.
  const unsigned* left() const noexcept { return &left_; }
  /// It is done.
  void done(Collective collective);

 private:
  using Clock = std::chrono::steady_clock;

  struct Contestant {
    Decision decision;      // of the previous implementation: serves nothing
    std::string text;       // as in Outcome
    bool standing = false;  // whatever the selector says for the call: a schedule of the folders may differ by root
  };
  /// Calls that are decided together.
  struct Class {
    DecisionKey key;
    std::size_t calls = 0;
    std::optional<std::size_t> first_calls;  // before the trial; none yet: nobody asked
    unsigned long long own_bytes = 0;        // in all these calls
    std::vector<Contestant> contestants;
    std::unique_ptr<Trial> trial;  // null: the model still serves
    bool meets = false;            // whoever may run ahead waits for the others before a call that counts
    bool briefly = false;          // and the others for it
  };
  struct Now {
    Class* of = nullptr;
    bool counts = false;  // towards the turn's contestant
    bool leaves = false;  // the turn is the previous implementation's
    std::size_t contestant = 0;
    bool begun = false;
    std::size_t own_bytes = 0;
    Clock::time_point since{};
  };

  /// Blocks whose sizes nobody knows.
  struct Followed {
    std::size_t mean = 0;
    // Since the ranks looked.
    std::size_t calls = 0;
    unsigned long long own_bytes = 0;
    std::size_t until_look = 0;
  };

  std::size_t agreed_mean(unsigned long long own_bytes, std::size_t calls) const;
  void set_mean(Collective collective, std::size_t mean);
  const Decision* look_by_mean(const Class& one, Request request, std::size_t own_bytes);
  Class& class_of(const Request& request);
  void meet(const Request& request, bool all) const;
  std::size_t first_calls(Class& one, const Request& request, const Decision& standing) const;
  bool begin_trial(Class& one, const Request& request, const Decision& standing);
  /// Returns whether the class is decided.
  bool agree(Class& one, const Request& request);
  void say(const Request& request, const Outcome& outcome) const;
  void advance();

  const Settings& settings_;
  Selector& selector_;
  const Agreement& agreement_;
  const Voice& voice_;
  Rank ranks_;
  std::array<std::vector<std::unique_ptr<Class>>, k_calls> classes_;
  std::array<Followed, k_calls> followed_{};
  Now now_;
  std::array<Now, k_calls> waiting_{};  // by collective, as left_
  unsigned left_ = 0;
  static_assert(k_calls <= 8 * sizeof(unsigned));
  TrialCounts counts_;
};

}  // namespace colltopo
