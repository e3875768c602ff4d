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
  const RecentCall* const entry = recent_operations_.find(collective, call);
  if (entry != nullptr) *found = entry->ready;
  return entry != nullptr;
}

// Where blocks have sizes of their own, calls differ that are decided alike: what is new in them is this rank's own
// business, and asks nobody.
bool Comm::was_decided(Collective collective, const colltopo_call& call) noexcept {
  if (call.blocks == nullptr) return false;
  const std::size_t bytes = decisive_bytes(collective, call, ranks_);
  const SpinLock lock(recent_operations_lock_);
  return std::ranges::any_of(recent_operations_.of(collective), [&](const RecentCall& entry) {
    return entry.valid && entry.decisive_bytes == bytes && entry.root == call.root && entry.in_place == call.in_place;
  });
}

void Comm::note_operation(Collective collective, const colltopo_call& call, const std::shared_ptr<Ready>& made) {
  const SpinLock lock(recent_operations_lock_);
  recent_operations_.note(collective, call, made);
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
  // Whoever waits for a turn may have to be declined before this call is, and counts before it.
  if (!may_communicate && !turns_.empty()) return COLLTOPO_UNKNOWN;
  const std::int32_t ticks = watch_.is_on() ? Watch::ticks_of(decisive_bytes(collective, call, ranks_)) : 0;
  if (may_communicate) {
    if (watch_.is_on() && watch_.counts_in_turn(ticks)) look_again();
  } else {
    end_turns();
    if (*watch_.left() <= ticks) return COLLTOPO_UNKNOWN;
  }
  const Form form = again ? Form::persistent : Form::operation;
  const bool has_own_plan = again && settings_.plan && row(collective).sizes == Sizes::of_messages;
  if (has_own_plan && !may_communicate) return COLLTOPO_UNKNOWN;
  std::shared_ptr<Ready> plan;
  const bool is_known = !has_own_plan && find_operation(collective, call, &plan);
  if (!is_known) {
    if (!may_communicate && !was_decided(collective, call)) {
      if (!is_left_unmet(collective, form)) return COLLTOPO_UNKNOWN;
      fallbacks_.increase();
      return COLLTOPO_DECLINED;
    }
    const Decision* decision = decide(collective, call, form);
    const bool by_rounds = decision != nullptr && aggregates(collective, *decision);
    if (by_rounds && collective == Collective::neighborhood && !knows_pairs_) {
      if (!may_communicate) return COLLTOPO_UNKNOWN;
      together([&] { find_pairs(); });
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
  if (!may_communicate) watch_.counts(ticks);
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

// A line for which there is no memory is not said.
void Comm::say_operation(const Operation& operation, const colltopo_call& call) const noexcept try {
  if (operation.ready().aggregated != nullptr) return;  // what it sends is known when it is over
  say_call(operation.ready().bound->plan().program().shape().collective, call, operation.ready());
} catch (const std::bad_alloc&) {
}

void Comm::take_back(std::unique_ptr<Operation> operation) noexcept {
  operation->end();
  operations_.keep(std::move(operation));
}

}  // namespace colltopo
