// A running communicator goes on with files that have changed: ranks look after the same call, agree, and decide anew
// by what all of them could read (docs/decisions/0014-live-replacement.md); and without lanes that stall (0028).

#include <fmt/format.h>

#include <new>
#include <optional>
#include <utility>

#include "colltopo/error.h"
#include "comm/comm.h"
#include "comm/machine_network.h"

namespace colltopo {

// From the first turn on blocking calls find nothing that is known, and so wait for all that are to come: what a look
// in one of them forgets is forgotten for every call after it, on every rank. Without a watch nobody looks.
void Comm::begin_turns() noexcept {
  if (!watch_.is_on() || watch_.is_aside()) return;
  watch_.set_aside();
  recent_.hide();
}

void Comm::end_turns() noexcept {
  if (watch_.is_aside()) {
    watch_.take_up();
    recent_.show();
  }
  if (std::exchange(replaced_in_turn_, false) && callbacks_.replaced != nullptr)
    callbacks_.replaced(callbacks_.context);
}

void Comm::take_turn(colltopo_turn& turn) {
  if (turns_.empty()) {
    end_turns();
    begin_turns();
  }
  try {
    turns_.add(turn);
  } catch (const std::bad_alloc&) {
    if (turns_.empty()) end_turns();
    throw;
  }
  turns_.move();
  if (turns_.empty()) end_turns();
}

// True: calls that are known could not be found until now.
bool Comm::await_turns() {
  if (!watch_.is_aside()) return false;
  const Alone alone(*this);
  return true;
}

bool Comm::look_alone() {
  const Alone alone(*this);
  return look_again();
}

// Only rank 0 asks the file system; it tells in the agreement that is due anyway, as all do of lanes.
bool Comm::look_again() {
  return together([&] { return look_together(); });
}

bool Comm::look_together() {
  const bool changed = rank_ == 0 && watch_.is_due() && watch_.saw(selector_.stamp());
  Findings findings;
  const std::size_t ticks = findings.smallest(watch_.proposal());
  const std::size_t any_changed = findings.largest(changed ? 1 : 0);
  lanes_.report(findings);
  // What this rank has sent by lanes may still be what another one waits for before it comes here.
  LaneTransport* const lanes = lanes_.transport();
  std::optional<TurnTransport::MovesAlso> moves;
  if (lanes != nullptr) moves.emplace(turn_transport_, [lanes] { lanes->move(); });
  const Agreement::Result agreed = agreement_.agree(findings);
  moves.reset();
  if (!agreed.good) {
    watch_.end();
    return false;
  }
  watch_.continues(agreed.value(ticks));
  CommLanes::Remark remark;
  if (lanes_.decide(agreed, &remark)) {
    forget_calls();
    lanes_.forget();
  }
  if (!remark.line.empty()) voice_.say(remark.level, remark.line);
  return agreed.largest(any_changed) == 1 && replace();
}

// Some file systems show a change to some hosts later than to others. Then what was known stays until the next look.
bool Comm::replace() {
  std::string stamp = rank_ == 0 ? selector_.stamp() : "";
  Settings settings;
  Selector selector(settings, rank_, ranks_, voice_, agreement_);
  std::string fault;
  selector_.forget_measured();  // or it would settle by it
  if (!settle_anew(settings, selector, &fault)) {
    if (!fault.empty() && !said_unusable_)
      voice_.say(0, fmt::format("files have changed: {}; going on with what was read before", fault));
    said_unusable_ = said_unusable_ || !fault.empty();
    return false;
  }
  selector_.replace_by(std::move(selector));
  settings_ = std::move(settings);
  guard_.reset();
  forget_plans();
  watch_.read(std::move(stamp));
  said_unusable_ = false;
  replaced_in_turn_ = true;
  if (!turn_transport_.in_turn()) end_turns();
  voice_.say_once(1,
                  fmt::format("files have changed: topology, schedules and rules were read again on {} ranks", ranks_));
  return true;
}

// Collective, whatever one rank cannot read.
bool Comm::settle_anew(Settings& settings, Selector& selector, std::string* fault) {
  for (const Given& given : given_) {
    try {
      settings.set(given.name, given.value);
    } catch (const std::exception& error) {
      if (!given.refused && fault->empty()) *fault = error.what();
      settings.canonical += fmt::format("{}={} (refused)\n", given.name, given.value);
      if (const auto collective = Settings::concerns(given.name)) selector.decline(*collective);
    }
  }
  bool leaves = false;
  return selector.settle(callbacks_, fault, &leaves);
}

// Operations that are under way keep theirs.
void Comm::forget_plans() {
  forget_calls();
  replanner_.reset();
  lanes_.forget();
}

void Comm::forget_calls() {
  recent_.forget();
  {
    const SpinLock lock(recent_operations_lock_);
    recent_operations_.forget();
  }
  turns_.forget();
  for (auto& plans : served_) plans.clear();
}

}  // namespace colltopo
