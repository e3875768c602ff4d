// Which program serves a call on one communicator, by what is equal on all ranks: a parameter, a rule, a schedule of
// the folders, or the model, in this order.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "colltopo/choice.h"
#include "comm/constants.h"
#include "comm/decisions.h"
#include "comm/filed_schedules.h"
#include "comm/rules.h"
#include "comm/schedule_files.h"
#include "comm/settings.h"
#include "comm/voice.h"

namespace colltopo {

constexpr std::size_t index_of(Collective collective) { return static_cast<std::size_t>(collective); }

/// What was decided for calls of some sizes.
struct Decision {
  const Algorithm* algorithm = nullptr;
  std::shared_ptr<const LoadedProgram> file;  // both null: declined
  AlgorithmOptions options;
  std::string name;
  bool open = false;  // the guard may try others

  bool serves() const { return algorithm != nullptr || file != nullptr; }
};

/// How a program runs calls of one size.
struct Manner {
  int segments = 1;
  SegmentOrder order = SegmentOrder::slot_by_slot;
  Pace pace = Pace::free;
  std::uint32_t window = 0;
};

/// How the guard measures calls.
enum class Trying { not_at_all, briefly, at_length };

/// What a selector has found out and decided.
class SelectorState {
 protected:
  /// A decision, and the calls that it is for.
  struct Kept {
    const Rule* rule = nullptr;  // that sent them there
    bool filed = false;          // folders are asked
    bool fallback_allowed = true;
    bool by_time = false, in_place = false;  // calls in place are others where times decide
    int op_properties = 0;
    Rank root = -1;  // -1: any
    std::string previous;
    std::size_t from = 0, to = k_any_bytes;
    DecisionKey key;  // of the call that asked first; of all while the decision is open
    Decision decision;
  };

  std::array<bool, k_calls> declined_{};  // for ever
  std::array<bool, k_calls> said_{};
  std::vector<int> node_of_;
  AlgorithmOptions options_;  // the groups found
  std::shared_ptr<Chooser> chooser_;
  std::size_t said_unmade_ = 0;  // of the chooser's lines
  ScheduleFiles files_;
  FiledSchedules filed_;
  std::optional<Rules> rules_;
  std::string rules_fingerprint_;  // that they may name
  Machine machine_;                // of the settings, with what was measured
  MeasuredRows measured_;
  std::string kind_;      // of communicator, for decisions
  Decisions decisions_;   // of earlier jobs, earlier communicators and this one
  Decisions remembered_;  // of this one
  std::array<std::vector<std::unique_ptr<Kept>>, k_calls> kept_;
};

class Selector : SelectorState {
 public:
  Selector(const Settings& settings, Rank rank, Rank ranks, const Voice& voice, const Agreement& agreement)
      : settings_(settings), rank_(rank), ranks_(ranks), voice_(voice), agreement_(agreement) {}

  /// Finds out where the ranks are and what files say, and whether all ranks found the same. Collective, one agreement.
  /// `*fault`: what hinders this rank before it begins; then what it should say, if anything. False: nothing can be
  /// served. `*leaves`: whether this rank leaves the call at hand to the previous implementation whatever the others
  /// find; then whether any does.
  bool settle(const colltopo_callbacks& callbacks, std::string* fault, bool* leaves);
  /// What this process has measured for such communicators, which files that have changed make doubtful.
  void forget_measured() const { DecisionBook::of_process().forget_added(settings_.decisions, kind_); }
  /// From now on as `other`, of the same settings and ranks, has settled.
  void replace_by(Selector&& other);
  /// What stands on disk of what decides: topology, rules, folders. Empty: nothing is on disk.
  std::string stamp() const;

  /// Collective where it is the first call that a parameter or a rule sends to a file, or the first with a root that
  /// folders may have one for. The answer lives as long as the selector.
  const Decision& decide(const Request& request);
  /// The model's first candidates of our own, best first, of different rows: two, and others that are predicted to take
  /// little longer.
  std::vector<Decision> worth_trying(const Request& request, std::size_t most);
  /// How the guard measures the call.
  Trying trying(const Request& request);
  /// The previous component was measured to take so many times as long as the model's first that it needs no turn.
  bool is_previous_hopeless(const Request& request);
  /// Seconds that a decision, the previous implementation where it serves nothing, is expected to take by what calls
  /// like these were measured to take.
  std::optional<double> expected_seconds(const Decision& decision, const Request& request) const;
  /// The class of calls that a request belongs to.
  static DecisionKey key_of(const Request& request);
  /// What a trial decided; what stood for the class is forgotten.
  void remember(Outcome outcome);
  /// What stands for the class of the request is kept untried.
  void close(const Request& request);
  /// Writes what was remembered to the file that settings name, on rank 0.
  void write_decisions() noexcept;
  Manner manner_of(const Decision& decision, const Request& request) const;
  /// For ever.
  void decline(Collective collective) { declined_[index_of(collective)] = true; }
  void decline_all() { declined_.fill(true); }
  bool declines(Collective collective) const { return declined_[index_of(collective)]; }
  bool declines_all() const;
  /// Says once per collective why calls are left to the previous implementation.
  void decline_once(Collective collective, const std::string& line);

  const std::vector<int>& node_of() const { return node_of_; }
  /// Of the ranks on the topology; empty where they have none.
  const RankPlaces& places() const { return filed_.places(); }
  /// Endpoints of our own, each with a route of its own; 0: none.
  Lane lanes() const { return filed_.lanes(); }
  /// Bytes up to which a block goes by way of others where the decision's algorithm aggregates: the setting, or by the
  /// model.
  std::size_t aggregation_limit(const Decision& decision) const;
  /// Bytes below which a block that two ranks alone know of goes over one lane.
  std::size_t whole_below() const { return settings_.schedules_from_bytes; }
  int nodes() const { return chooser_ == nullptr ? 1 : chooser_->nodes(); }
  std::size_t memory_bytes() const;

 private:
  bool find_places(const colltopo_callbacks& callbacks);
  /// The groups are then of nodes by their hosts' numbers.
  Placement fit_topology();
  Kept decided(const Request& request, const Rule* rule, bool filed);
  Decision decided_by(const Forced& choice, const std::string& source, const Request& request, Kept* kept);
  /// Nothing: `excluded` says what keeps it from serving the call.
  std::optional<Decision> decided_by_algorithm(const Forced& choice, const std::string& source, const Request& request,
                                               Kept* kept, std::string* excluded = nullptr);
  FiledSchedules::Found found_in_folders(const Request& request);
  std::optional<Decision> decided_by_folder(const std::string& choice, const Request& request, Kept* kept);
  std::optional<Decision> decided_by_folders_file(const std::string& path, const Request& request);
  std::optional<Decision> decided_by_outcome(const Outcome& outcome, const Request& request, Kept* kept);
  bool is_tried(const Request& request) { return trying(request) != Trying::not_at_all; }
  std::string own_memory(const colltopo_callbacks& callbacks, std::string* fault) const;
  std::string own_constants(const colltopo_callbacks& callbacks) const;
  void take_memory(const std::string& text);
  Decision decided_by_file(const std::string& path, const std::string& source, const Request& request);
  Decision default_of_messages(const Request& request, bool open) const;
  const Rule* matching_rule(const Request& request) const;
  void say_prediction(const Request& request, const Choice& chosen, const std::string& source,
                      bool with_next = false) const;
  void say_decision(const Request& request, const std::string& what, const std::string& source) const;
  /// Candidates that cannot be made, each once.
  void say_unmade();

  const Settings& settings_;
  Rank rank_, ranks_;
  const Voice& voice_;
  const Agreement& agreement_;
};

/// The request as the chooser knows it: of the collective whose schedules serve it.
Request of_schedules(const Request& request);
/// Whether the guard may measure the call: one whose size is known or can be learned, and whose bits do not depend on
/// who serves it or are decided by a file.
bool may_try(const Settings& settings, const Request& request);
/// Whether it does. Of calls with a root, in which ranks run ahead of each other, each that counts takes a meeting: of
/// short ones that were measured before only a few do, and of those that are shorter than it none.
Trying trying(const Settings& settings, Chooser& chooser, const Request& request);
/// of_schedules(), and whether a trial corrects what the model says.
Request for_model(const Settings& settings, Chooser& chooser, const Request& request);
/// Whether all ranks know the sizes of the call.
bool is_sized(const Request& request);
/// Whether no rank knows all sizes, but the mean block of earlier calls stands for them; bytes is 0 until there is one.
constexpr bool learns_size(Collective collective) {
  return collective == Collective::alltoallv || collective == Collective::alltoallw;
}
/// Why a schedule file may not serve the request; empty: it may.
std::string unfit_for(const LoadedProgram& file, const Request& request);

}  // namespace colltopo
