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
    *found = entry.kept;
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
  noted.kept = made;
  const SpinLock lock(recent_operations_lock_);
  auto& all = recent_operations_[index_of(collective)];
  std::swap(all[recent_operations_turn_++ % k_recent], noted);
}

void Comm::say_no_rounds(Collective collective, const Decision& decision) {
  if (std::exchange(said_no_rounds_, true)) return;
  voice_.say(1, fmt::format("{}: {} serves calls that block; others use {}", name(collective), decision.name,
                            voice_.previous()));
}

int Comm::make(Collective collective, const colltopo_call& call, bool may_communicate,
               std::unique_ptr<Operation>* made) {
  std::shared_ptr<Ready> plan;
  // Whoever waits for a turn may have to be declined before this call is.
  const bool is_known = (may_communicate || turns_.empty()) && find_operation(collective, call, &plan);
  if (!is_known) {
    if (!may_communicate && !(turns_.empty() && was_decided(collective, call))) return COLLTOPO_UNKNOWN;
    const Decision* decision = decide(collective, call, Form::operation);
    const Decision straight = Selector::straight();
    if (decision != nullptr && aggregates(collective, *decision)) {
      say_no_rounds(collective, *decision);
      decision = call.previous_is_wrong != 0 ? &straight : nullptr;
    }
    if (decision != nullptr) plan = ready(collective, call, *decision, Form::operation);
    note_operation(collective, call, plan);
  }
  if (plan == nullptr) {
    fallbacks_.increase();
    return COLLTOPO_DECLINED;
  }
  std::unique_ptr<Operation> operation = operations_.take();
  if (operation == nullptr) operation = std::make_unique<Operation>(*this, callbacks_);
  operation->prepare(std::move(plan));
  *made = std::move(operation);
  return COLLTOPO_SUCCESS;
}

void Comm::say_operation(const Operation& operation, const colltopo_call& call) const {
  say_call(operation.ready().bound->plan().program().shape().collective, call, operation.ready());
}

void Comm::take_back(std::unique_ptr<Operation> operation) noexcept {
  operation->end();
  operations_.keep(std::move(operation));
}

}  // namespace colltopo
