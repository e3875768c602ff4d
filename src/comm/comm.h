// One rank's side of a communicator: decides which schedule serves a call, keeps its plan, runs it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "colltopo/choice.h"
#include "colltopo/colltopo.h"
#include "colltopo/execution.h"
#include "comm/comm_lanes.h"
#include "comm/counters.h"
#include "comm/filed_schedules.h"
#include "comm/rules.h"
#include "comm/schedule_files.h"
#include "comm/settings.h"
#include "transport/callbacks.h"

namespace colltopo {

constexpr std::size_t index_of(Collective collective) { return static_cast<std::size_t>(collective); }
/// Elements.
std::size_t largest_shard(const colltopo_call& call, Rank ranks);
std::string group_text(const std::vector<int>& group_of);

class Comm {
 public:
  Comm(Rank rank, Rank ranks, const colltopo_callbacks& callbacks);

  /// Throws Error after having marked what the setting is about as declined for ever.
  void set(std::string_view name, std::string_view value);
  /// COLLTOPO_SUCCESS, COLLTOPO_DECLINED or an error code of a callback.
  int run(Collective collective, const colltopo_call& call);
  bool serves(Collective collective, const colltopo_call& call);
  void passed_on() noexcept { fallbacks_.add(); }
  std::size_t memory_bytes() const;
  void say(int level, const std::string& line) const noexcept;

 private:
  /// A plan in the cache, and how to run it.
  struct Served {
    Served(Program program, PlanOptions options, Transport& transport, std::size_t row)
        : plan(std::move(program), options), execution(plan, transport), tally(row) {}
    Plan plan;
    Execution execution;
    Tally tally;
    bool stepped = true;  // may run step by step
    bool said_empty_chunks = false;
    bool input_in_output = false;
    bool copies_input = false;  // MPI_IN_PLACE with a program that is not in-place safe
    bool on_lanes = false;      // by endpoints of our own
  };
  /// What was decided for calls of one size.
  struct Decision {
    const Algorithm* algorithm = nullptr;
    const LoadedProgram* file = nullptr;  // both null: declined
    AlgorithmOptions options;
    std::string name;
    int segments = 1;
    SegmentOrder order = SegmentOrder::slot_by_slot;
  };
  /// The last call of a collective, for the common case of many equal ones.
  struct Recent {
    std::size_t count = 0, element_size = 0;
    int root = 0, op_properties = 0, in_place = 0;
    bool valid = false;
    Served* served = nullptr;  // null: declined

    bool equals(const colltopo_call& call) const noexcept {
      return valid && call.counts == nullptr && count == call.count && element_size == call.element_size &&
             root == call.root && op_properties == call.op_properties && in_place == call.in_place;
    }
  };
  struct DecisionKey {
    Collective collective;
    std::size_t bytes, element_size;
    int root, op_properties;
    friend bool operator==(const DecisionKey&, const DecisionKey&) = default;
  };
  struct DecisionHash {
    std::size_t operator()(const DecisionKey& key) const;
  };

  /// What lines call the previous implementation.
  const char* previous() const noexcept;
  bool would_serve(Collective collective, const colltopo_call& call);
  void first_call();
  void agree_on_settings();
  /// Who shares a node, and who a group; false when some rank could not find out, or ranks found different places.
  bool find_places();
  void fit_topology();
  const Decision& decide(Collective collective, const colltopo_call& call);
  Decision decided(Collective collective, const Request& request);
  /// The choice of a parameter or rule (`source`).
  Decision decided_by(const Forced& choice, const std::string& source, const Request& request);
  /// By a file out of the folders of the setting `schedules`; nothing when none serves the request.
  std::optional<Decision> decided_by_folder(const Request& request);
  ScheduleFiles::Wanted wanted_of(const Request& request, std::span<const Rank> rank_at) const;
  Decision decided_by_file(const std::string& path, const std::string& source, const Request& request);
  void cut(Decision& decision, const Request& request) const;
  const Rule* matching_rule(const Request& request) const;
  void load_rules(std::string* fault, long long* checksum);
  void decline_once(Collective collective, const std::string& line);
  void say_decision(const Request& request, const std::string& what, const std::string& source) const;
  Served* served(Collective collective, const colltopo_call& call, const Decision& decision);
  Program program_of(Collective collective, int root, const Decision& decision, bool& in_place_safe);
  bool on_lanes(const std::string& plan, const Program& program);
  int run_other(Collective collective, const colltopo_call& call);
  int run_bound(Collective collective, const colltopo_call& call, Served& served);
  void join_buffers(Collective collective, const colltopo_call& call, const Served& served, Call* bound);
  void say_call(Collective collective, const colltopo_call& call, const Served& served) const;
  void keep_for_ever(const Served& served);
  void bind(Served& served, const colltopo_call& call, const Decision& decision);
  void say_empty_chunks(Served& served, const colltopo_call& call) const;

  Rank rank_, ranks_;
  colltopo_callbacks callbacks_;
  CallbackTransport transport_;
  Settings settings_;
  bool ready_ = false;
  std::array<bool, k_collectives> declined_{};  // for ever
  std::array<bool, k_collectives> said_{};
  std::vector<int> node_of_;
  AlgorithmOptions options_;  // settings' options with groups found
  std::unique_ptr<Chooser> chooser_;
  std::array<Recent, k_collectives> recent_;
  std::unordered_map<DecisionKey, Decision, DecisionHash> decisions_;
  Agreement agreement_;
  CommLanes lanes_;
  std::unordered_map<std::string, std::unique_ptr<Served>> plans_;
  ScheduleFiles files_;
  FiledSchedules filed_;
  std::optional<Rules> rules_;
  std::vector<std::byte> copied_input_;
  Fallbacks fallbacks_;
};

}  // namespace colltopo
