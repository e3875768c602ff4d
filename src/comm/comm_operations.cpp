// Operations of a communicator: those of late are known, and only what is new decides, binds and perhaps asks the other
// ranks, which is done in turns.

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

void Comm::note_operation(Collective collective, const colltopo_call& call, const std::shared_ptr<Ready>& made) {
  Recent noted;
  noted.note(*this, collective, call);
  noted.kept = made;
  const SpinLock lock(recent_operations_lock_);
  auto& all = recent_operations_[index_of(collective)];
  std::swap(all[recent_operations_turn_++ % k_recent], noted);
}

int Comm::make(Collective collective, const colltopo_call& call, bool may_communicate,
               std::unique_ptr<Operation>* made) {
  std::shared_ptr<Ready> plan;
  // Whoever waits for a turn may have to be declined before this call is.
  const bool is_known = (may_communicate || turns_.empty()) && find_operation(collective, call, &plan);
  if (!is_known) {
    if (!may_communicate) return COLLTOPO_UNKNOWN;
    if (const Decision* const decision = decide(collective, call, Form::operation); decision != nullptr)
      plan = ready(collective, call, *decision, Form::operation);
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

void Comm::begin(Operation& operation, const colltopo_call& call, int tag) {
  if (voice_.heard(2)) [[unlikely]]
    say_call(operation.ready().bound->plan().program().shape().collective, call, operation.ready());
  operation.begin(call, tag);
}

void Comm::take_back(std::unique_ptr<Operation> operation) noexcept {
  operation->end();
  operations_.keep(std::move(operation));
}

}  // namespace colltopo
