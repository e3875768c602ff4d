// Operations of a communicator: those of late are known, and only what is new decides, binds and perhaps asks the other
// ranks, which is done in turns.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "comm/call_sizes.h"
#include "comm/comm.h"

namespace colltopo {

bool Comm::find_operation(Collective collective, const colltopo_call& call, std::shared_ptr<Ready>* found) noexcept {
  const SpinLock lock(recent_operations_lock_);
  for (const Recent& entry : recent_operations_[index_of(collective)]) {
    if (!entry.equals(*this, collective, call)) continue;
    *found = entry.ready;
    return true;
  }
  return false;
}

// Where blocks have sizes of their own, calls differ that are decided alike: what is new in them is this rank's own
// business, and asks nobody.
bool Comm::was_decided(Collective collective, const colltopo_call& call) noexcept {
  if (call.blocks == nullptr) return false;
  const std::size_t bytes = decisive_bytes(collective, call, ranks_);
  const SpinLock lock(recent_operations_lock_);
  return std::ranges::any_of(recent_operations_[index_of(collective)], [&](const Recent& entry) {
    return entry.valid && entry.decisive_bytes == bytes && entry.root == call.root && entry.in_place == call.in_place;
  });
}

void Comm::note_operation(Collective collective, const colltopo_call& call, const std::shared_ptr<Ready>& made) {
  Recent noted;
  noted.note(*this, collective, call);
  noted.ready = made;
  const SpinLock lock(recent_operations_lock_);
  auto& all = recent_operations_[index_of(collective)];
  std::swap(all[recent_operations_turn_++ % k_recent], noted);
}

// Of one operation alone: what it has counted differs from run to run.
std::shared_ptr<Ready> Comm::ready_by_rounds(Collective collective, const colltopo_call& call,
                                             const Decision& decision) {
  auto call_by_rounds =
      std::make_shared<const AggregatedCall>(aggregated_.call_for(collective, call, decision, selector_));
  auto made = std::make_shared<Ready>(nullptr, call_by_rounds->row);
  made->aggregated = std::move(call_by_rounds);
  return made;
}

int Comm::make(Collective collective, const colltopo_call& call, bool may_communicate, bool again,
               std::unique_ptr<Operation>* made) {
  const Form form = again ? Form::persistent : Form::operation;
  const bool has_own_plan = again && settings_.plan && row(collective).sizes == Sizes::of_messages;
  if (has_own_plan && !may_communicate) return COLLTOPO_UNKNOWN;
  std::shared_ptr<Ready> plan;
  // Whoever waits for a turn may have to be declined before this call is.
  const bool is_known = !has_own_plan && (may_communicate || turns_.empty()) && find_operation(collective, call, &plan);
  if (!is_known) {
    if (!may_communicate && !(turns_.empty() && was_decided(collective, call))) return COLLTOPO_UNKNOWN;
    const Decision* decision = decide(collective, call, form);
    const bool by_rounds = decision != nullptr && aggregates(collective, *decision);
    if (by_rounds && collective == Collective::neighborhood && !knows_pairs_) {
      if (!may_communicate) return COLLTOPO_UNKNOWN;
      find_pairs();
    }
    if (by_rounds)
      plan = ready_by_rounds(collective, call, *decision);
    else if (decision != nullptr)
      plan = ready(collective, call, has_own_plan ? planned(collective, call, *decision) : *decision, form);
    if (!std::exchange(leaves_first_, false) && !has_own_plan) note_operation(collective, call, plan);
  } else if (plan != nullptr && plan->aggregated != nullptr) {
    auto own = std::make_shared<Ready>(nullptr, plan->aggregated->row);
    own->aggregated = plan->aggregated;
    plan = std::move(own);
  }
  if (plan == nullptr) {
    fallbacks_.increase();
    return COLLTOPO_DECLINED;
  }
  std::unique_ptr<Operation> operation = operations_.take();
  if (operation == nullptr) operation = std::make_unique<Operation>(*this, callbacks_);
  operation->prepare(std::move(plan), again);
  *made = std::move(operation);
  return COLLTOPO_SUCCESS;
}

void Comm::say_operation(const Operation& operation, const colltopo_call& call) const {
  if (operation.ready().aggregated != nullptr) return;  // what it sends is known when it is over
  say_call(operation.ready().bound->plan().program().shape().collective, call, operation.ready());
}

void Comm::take_back(std::unique_ptr<Operation> operation) noexcept {
  operation->end();
  operations_.keep(std::move(operation));
}

}  // namespace colltopo
