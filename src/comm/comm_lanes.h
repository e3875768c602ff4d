// The lanes of a communicator (transport ucx): opened and wired by all ranks together, or by none.
//
// Everything here is collective. The first plan opens the lanes: every rank its contexts, then a number for tags, then
// the addresses. Each plan tries the endpoints that are new in it. Whatever one rank cannot do nobody does, and the
// plan goes by the lent messages. In a turn a rank may leave at any wait, and come back when its user next calls MPI.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "colltopo/colltopo.h"
#include "comm/agreement.h"
#include "comm/lane_care.h"
#include "comm/settings.h"
#include "comm/turns.h"
#include "transport/callbacks.h"
#include "transport/lane_transport.h"

namespace colltopo {

class CommLanes {
 public:
  /// What is to be said; an empty line: nothing, on this rank.
  struct Remark {
    int level = 0;
    std::string line;
  };

  CommLanes(Rank rank, Rank ranks, const colltopo_callbacks& callbacks, const Agreement& agreement, Transport& lent,
            TurnTransport& turn)
      : rank_(rank), ranks_(ranks), callbacks_(callbacks), agreement_(agreement), lent_(lent), turn_(turn) {}
  ~CommLanes();
  CommLanes(const CommLanes&) = delete;
  CommLanes& operator=(const CommLanes&) = delete;

  /// Whether the plan goes by lanes. Remembers that, by a name of the plan that is the same on all ranks. `patience_s`:
  /// with ranks that do not answer.
  bool serve(const Settings& settings, const std::string& plan, const Program& program, const std::vector<int>& node_of,
             double patience_s, Remark* remark);
  bool knows(const std::string& plan) const { return plans_.contains(plan); }
  /// Has more plans than are worth remembering; forget() makes room.
  bool is_full() const { return plans_.size() >= k_most_plans; }
  void forget() { plans_.clear(); }

  /// Of a look at all of them, after the same call on all ranks: what this one has seen, and what the ranks made of it.
  /// True: lanes were given up or taken back, and all plans are to be wired anew.
  void report(Findings& findings);
  bool decide(const Agreement::Result& agreed, Remark* remark);

  /// Once a plan has gone by lanes.
  LaneTransport* transport() { return transport_.get(); }

 private:
  static constexpr std::size_t k_most_plans = 1024;

  void open(const Settings& settings, const std::vector<int>& node_of, Remark* remark);
  LaneSet* open_set(const LaneCalls& calls, const LaneSetting& setting, std::string* fault);
  void exchange_addresses();
  bool wire(const Settings& settings, const std::string& plan, const Program& program, double patience_s,
            Remark* remark);
  bool try_endpoints(const Program& program, double patience_s, Remark* remark);
  /// Ends the making of connections: a rank that leaves while a peer's end of one is not done leaves it so.
  void settle();
  /// Agrees that no rank has a fault; else says it on the rank that has.
  bool all_good(std::string fault, Remark* remark);

  Rank rank_, ranks_;
  const colltopo_callbacks& callbacks_;
  const Agreement& agreement_;
  Transport& lent_;      // of runs
  TurnTransport& turn_;  // of what is done together
  bool tried_ = false;
  bool broken_ = false;  // for ever
  std::int32_t number_ = -1;
  std::unique_ptr<LaneTransport> transport_;
  LaneCare care_;
  std::unordered_map<std::string, bool> plans_;
};

}  // namespace colltopo
