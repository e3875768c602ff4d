// What trials decided: in the process, for communicators of the same kind that come later, and in a file, for jobs that
// come later (the setting `decisions`, docs/choice.md).
#pragma once

#include <compare>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "comm/forced.h"

namespace colltopo {

/// The calls that a decision is for.
struct DecisionKey {
  Collective collective = Collective::alltoall;
  std::size_t from = 0, to = 0;  // bytes, a class of sizes
  int operation = 0;             // of a reduction 1: commutative, 2: any order gives the same bits; 4: others are wrong
                                 // for such calls; 8: in place
  std::string previous;          // name of the component that serves what is declined

  friend auto operator<=>(const DecisionKey&, const DecisionKey&) = default;
};

/// The winner, as a value of X_algorithm or "schedules" (one of the folders), and what all were measured at.
struct Outcome {
  struct Time {
    std::string name;
    double seconds = 0;  // a call, as the ranks' mean; negative: never measured
  };
  DecisionKey key;
  std::string winner;
  std::vector<Time> times;
};

inline constexpr const char* k_by_schedules = "schedules";

/// Those of one kind of communicator.
class Decisions {
 public:
  const Outcome* find(const DecisionKey& key) const;
  void add(Outcome outcome);
  void add(const Decisions& others);
  const std::vector<Outcome>& all() const { return all_; }

  /// A line for each.
  std::string text() const;
  /// Of one such line; throws Error naming `place`.
  static Outcome outcome_from(const std::string& line, const std::string& place);

 private:
  std::vector<Outcome> all_;
  std::map<DecisionKey, std::size_t> places_;  // in all_: a file may have many
};

/// A file of decisions, by kind of communicator.
class DecisionFile {
 public:
  /// A file that does not exist is empty. Throws Error naming place, fact and consequence.
  static DecisionFile read(const std::string& path);
  /// Adds decisions to what is in the file, of which all else stays, comments among it; other processes may do so at
  /// the same time. Throws Error; then the file is as it was.
  static void add(const std::string& path, const std::string& kind, const Decisions& decisions);

  const Decisions* find(const std::string& kind) const;

 private:
  static DecisionFile parse(const std::string& text, const std::string& path);
  /// A file's text with these decisions in place of those of the same calls.
  static std::string with(const std::string& before, const std::string& kind, const Decisions& decisions);

  std::map<std::string, Decisions> of_kind_;
};

/// What this process knows, beside what it has read: by file ("": none) and kind of communicator. Thread-safe.
class DecisionBook {
 public:
  static DecisionBook& of_process();
  /// With what `path` has, which is read once. Throws Error.
  Decisions known(const std::string& path, const std::string& kind);
  void add(const std::string& path, const std::string& kind, const Outcome& outcome);
  /// What was added; what was read stays.
  void forget_added(const std::string& path, const std::string& kind);

 private:
  std::mutex mutex_;
  std::map<std::string, DecisionFile> files_;  // as they were read
  std::map<std::pair<std::string, std::string>, Decisions> made_;
};

/// What decisions depend on besides the call: "16 ranks, 4 nodes, placement 1f, settings 2e".
/// `network`: the checksum of the machine's network.
std::string kind_of_communicator(const std::vector<int>& node_of, const std::string& settings, long long network = 0);

}  // namespace colltopo
