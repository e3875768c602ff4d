// One rank's side of a communicator: joins what decides (Selector), what is made (PlanCache) and what runs (Execution).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "colltopo/arena.h"
#include "colltopo/colltopo.h"
#include "colltopo/error.h"
#include "colltopo/execution.h"
#include "comm/aggregated_calls.h"
#include "comm/comm_lanes.h"
#include "comm/counters.h"
#include "comm/guard.h"
#include "comm/operation.h"
#include "comm/plan_cache.h"
#include "comm/recent_calls.h"
#include "comm/replanner.h"
#include "comm/selector.h"
#include "comm/settings.h"
#include "comm/turns.h"
#include "comm/voice.h"
#include "comm/watch.h"
#include "transport/callbacks.h"

namespace colltopo {

class Comm {
 public:
  Comm(Rank rank, Rank ranks, const colltopo_callbacks& callbacks);
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  /// Throws Error after having marked what the setting is about as declined for ever.
  void set(std::string_view name, std::string_view value);
  /// To whom this rank may have blocks in neighbourhood calls.
  void set_neighbors(std::span<const int> destinations) {
    destinations_.emplace(destinations.begin(), destinations.end());
  }
  /// COLLTOPO_SUCCESS, COLLTOPO_DECLINED or an error code of a callback.
  int run(Collective collective, const colltopo_call& call);
  bool serves(Collective collective, const colltopo_call& call);
  enum class Leaving : std::uint8_t { blocks, at_once, in_turn };
  /// Of a call that this rank leaves to the previous implementation: agrees with the others unless that is done, and
  /// makes them leave the call that they agree in. COLLTOPO_DECLINED: nothing is ever served; COLLTOPO_UNKNOWN: not at
  /// once.
  int leave(Collective collective, Leaving how, bool again);
  /// How many calls were left to the previous implementation: callers that remember what was declined add to it.
  unsigned long long* passed_on() noexcept { return fallbacks_.number(); }
  long long* until_look() noexcept { return watch_.left(); }
  Rank rank() const noexcept { return rank_; }
  Rank ranks() const noexcept { return ranks_; }
  /// [rank]
  const std::vector<int>& node_of() const noexcept { return selector_.node_of(); }

  /// An operation for such calls: COLLTOPO_SUCCESS, COLLTOPO_DECLINED or, unless it may communicate, COLLTOPO_UNKNOWN
  /// for a call unlike those of late. In a turn, or alone. `again`: it is to begin again and again, and its ranks wait
  /// for it to be made.
  int make(Collective collective, const colltopo_call& call, bool may_communicate, bool again,
           std::unique_ptr<Operation>* made);
  bool begin(Operation& operation, const colltopo_call& call, int tag) {
    if (voice_.heard(2)) [[unlikely]]
      say_operation(operation, call);
    return operation.begin(call, tag);
  }
  void take_back(std::unique_ptr<Operation> operation) noexcept;
  /// Once a plan has gone by lanes.
  LaneTransport* lanes() noexcept { return lanes_.transport(); }
  Turns& turns() noexcept { return turns_; }
  /// By the thread that makes the call. Throws std::bad_alloc.
  void take_turn(colltopo_turn& turn);
  /// Collective, in a turn or by blocking.
  int least(long long& value);
  int gather(int* values);
  const unsigned* left() const noexcept { return guard_.left(); }
  void previous_done(Collective collective) { guard_.done(collective); }
  std::size_t memory_bytes() const;

 private:
  /// Who a plan is made ready for: a call that blocks, one that does not, or one that begins again and again.
  enum class Form : std::uint8_t { blocking, operation, persistent };
  /// A plan, and the sizes that it was used at last.
  struct Served {
    std::shared_ptr<SharedPlan> plan;
    std::vector<std::shared_ptr<Ready>> ready;  // last used first
    bool in_place = false, copies_input = false, on_lanes = false, independent = false;
    bool said_empty_chunks = false;
    std::size_t row = 0;
    unsigned long long used = 0;  // when
  };
  /// Alone: no turn is to come, and none begins.
  class Alone {
   public:
    explicit Alone(Comm& comm) : alone_(comm.turns_) { comm.end_turns(); }

   private:
    Turns::Exclusive alone_;
  };
  static constexpr std::size_t k_most_plans = 64;
  static constexpr std::size_t k_small = 4096;  // bytes
  static constexpr std::size_t k_most_sizes = 8;

  void begin_turns() noexcept;
  void end_turns() noexcept;
  bool await_turns();
  /// What ranks do together. Where it throws the others wait for this rank, which from then on serves nothing that has
  /// to be decided, nor leaves it to the previous implementation: the others would take that for the call that failed.
  template <typename Body>
  auto together(const Body& body) {
    if (failed_together_) throw Error("the ranks have not agreed on an earlier call of this communicator");
    try {
      return body();
    } catch (...) {
      failed_together_ = true;
      throw;
    }
  }
  void settle(bool leaves);
  /// Whether the call is left because the ranks have not met and need not for it.
  bool is_left_unmet(Collective collective, Form form);
  void say_who_is_missing() const;
  Request request_of(Collective collective, const colltopo_call& call, Form form) const;
  /// The decision if the call is to be served.
  const Decision* decide(Collective collective, const colltopo_call& call, Form form);
  const Decision* decide_together(Collective collective, const colltopo_call& call, Form form);
  bool copies_too_much(Collective collective, const colltopo_call& call, const Decision& decision) const;
  Served& served(Collective collective, const colltopo_call& call, const Decision& decision, Form form);
  void join_buffers(const Served& plan, const colltopo_call& call, Ready& ready) const;
  void join_blocks(const Served& plan, const colltopo_call& call, Ready& ready) const;
  std::shared_ptr<Ready> ready(Collective collective, const colltopo_call& call, const Decision& decision, Form form);
  /// Collective, alone or in a turn. True: what decides was read anew.
  bool look_again();
  bool look_alone();
  bool look_together();
  bool replace();
  int decline(Collective collective, const colltopo_call& call);
  bool settle_anew(Settings& settings, Selector& selector, std::string* fault);
  void forget_plans();
  /// Not in a turn that a blocking call might not wait for: ranks would meet it on different sides of that call, whose
  /// plan all of them must know then.
  void forget_calls();
  void make_room(Ready& ready);
  void forget_oldest(Form form);
  bool on_lanes(Collective collective, const colltopo_call& call, const Decision& decision, const Program& program,
                Form form);
  std::shared_ptr<Ready> ready_by_rounds(Collective collective, const colltopo_call& call, const Decision& decision);
  bool was_decided(Collective collective, const colltopo_call& call) noexcept;
  bool find_operation(Collective collective, const colltopo_call& call, std::shared_ptr<Ready>* found) noexcept;
  void note_operation(Collective collective, const colltopo_call& call, const std::shared_ptr<Ready>& made);
  int run_other(Collective collective, const colltopo_call& call);
  /// What is to run a call unlike those of late; neither: declined.
  struct Known {
    std::shared_ptr<Ready> ready;
    const Decision* aggregated = nullptr;
    bool in_trial = false;
  };
  Known make_known(Collective collective, const colltopo_call& call);
  void follow_mean(Collective collective, const colltopo_call& call);
  void find_pairs();
  int run_in_trial(Collective collective, const colltopo_call& call, Ready* made);
  int run_ready(Collective collective, const colltopo_call& call, Ready& ready);
  void replace_small();
  int run_with_memory(Transport& transport, Collective collective, const colltopo_call& call, Ready& ready);
  bool may_have_shares(Collective collective, const Decision& decision) const;
  std::unique_ptr<SharePlanner> share_planner(const Decision& decision) const;
  bool follows_traffic(Collective collective, const Decision& decision, Form form);
  void follow_traffic(Collective collective, const colltopo_call& call);
  Decision planned(Collective collective, const colltopo_call& call, const Decision& decision);
  void count(Collective collective, Ready& ready, const colltopo_call& call, Form form) const;
  void say_call(Collective collective, const colltopo_call& call, const Ready& ready) const;
  void say_operation(const Operation& operation, const colltopo_call& call) const noexcept;
  void say_empty_chunks(Served& served, const colltopo_call& call) const;

  Rank rank_, ranks_;
  colltopo_callbacks callbacks_;
  Voice voice_;
  CallbackTransport transport_;
  TurnTransport turn_transport_;  // for what ranks agree on
  Turns turns_;
  /// A setting as it was given.
  struct Given {
    std::string name, value;
    bool refused = false;
  };
  std::vector<Given> given_;
  Settings settings_;
  Agreement agreement_;
  Selector selector_;
  Guard guard_;
  CommLanes lanes_;
  AggregatedCalls aggregated_;
  std::unique_ptr<Replanner> replanner_;          // of the first file that has traffic to follow
  int planned_ = 0;                               // operations that got shares of their own
  std::optional<std::vector<int>> destinations_;  // none: all ranks
  bool knows_pairs_ = false;
  Watch watch_;
  bool said_unusable_ = false;  // what changed
  bool settled_ = false;
  bool failed_together_ = false;
  bool said_missing_ = false;
  bool leaves_first_ = false;      // the call in which the ranks have settled
  bool replaced_in_turn_ = false;  // and the caller is to be told
  RecentCalls recent_;
  std::array<std::unordered_map<PlanKey, Served, PlanKeyHash>, 3> served_;  // [Form]
  unsigned long long clock_ = 0;
  Arena arena_;
  Arena::Block small_;   // for calls that need no more, which lease nothing
  Execution execution_;  // of blocking calls, which come one after the other
  OwnCount fallbacks_{Counter::fallbacks};
  OperationStore operations_;
  std::atomic_flag recent_operations_lock_ = ATOMIC_FLAG_INIT;
  RecentCalls recent_operations_;
};

}  // namespace colltopo
