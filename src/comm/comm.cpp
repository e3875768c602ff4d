// The way of a call. One that was made before takes the short way: nothing is looked up, allocated or bound.

#include "comm/comm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "colltopo/error.h"
#include "comm/call_sizes.h"
#include "comm/present_transport.h"

namespace colltopo {

Comm::Comm(Rank rank, Rank ranks, const colltopo_callbacks& callbacks)
    : rank_(rank),
      ranks_(ranks),
      callbacks_(callbacks),
      voice_(rank, callbacks_),
      transport_(callbacks_),
      turn_transport_(callbacks_),
      turns_(turn_transport_, callbacks_),
      agreement_(rank, ranks, turn_transport_),
      selector_(settings_, rank, ranks, voice_, agreement_),
      guard_(settings_, selector_, agreement_, voice_, ranks),
      lanes_(rank, ranks, callbacks_, agreement_, transport_, turn_transport_),
      aggregated_(rank, ranks, callbacks_),
      recent_(rank, ranks),
      recent_operations_(rank, ranks) {}

// Decisions outlive the communicator.
Comm::~Comm() { selector_.write_decisions(); }

void Comm::set(std::string_view name, std::string_view value) {
  given_.push_back({std::string(name), std::string(value)});
  try {
    settings_.set(name, value);
    voice_.set_verbose(settings_.verbose);
  } catch (const Error& error) {
    // Ranks compare their settings at the first call, so a fault that not all of them have is seen there.
    given_.back().refused = true;
    settings_.canonical += fmt::format("{}={} (refused)\n", name, value);
    const std::string line = fmt::format("{}; using {}", error.what(), voice_.previous());
    if (const auto collective = Settings::concerns(name))
      selector_.decline(*collective);
    else
      selector_.decline_all();
    throw Error(line);
  }
}

bool Comm::serves(Collective collective, const colltopo_call& call) {
  bool is_left_by_trial = false;
  if (const RecentCall* const entry = recent_.find(collective, call)) {
    if (entry->ready != nullptr) return true;
  } else if (await_turns()) {
    return serves(collective, call);
  } else {
    const Alone alone(*this);
    guard_.forget();
    if (decide(collective, call, Form::blocking) != nullptr) {
      guard_.begins();
      return true;
    }
    leaves_first_ = false;
    is_left_by_trial = guard_.has_call();
    guard_.leave();
  }
  return watch_.counts(1) && !is_left_by_trial && look_alone() && serves(collective, call);
}

int Comm::run(Collective collective, const colltopo_call& call) {
  const RecentCall* const entry = recent_.find(collective, call);
  if (entry == nullptr) [[unlikely]]
    return run_other(collective, call);
  if (entry->ready != nullptr) [[likely]]
    return run_ready(collective, call, *entry->ready);
  return decline(collective, call);
}

// By files that have changed the same call may be served.
int Comm::decline(Collective collective, const colltopo_call& call) {
  if (watch_.counts(1) && look_alone()) return run(collective, call);
  fallbacks_.increase();
  return COLLTOPO_DECLINED;
}

// A call unlike those of late.
int Comm::run_other(Collective collective, const colltopo_call& call) {
  if (await_turns()) return run(collective, call);
  Known known = make_known(collective, call);
  if (known.aggregated != nullptr) {
    if (known.in_trial) guard_.begins();
    const int code = aggregated_.run(collective, call, *known.aggregated, selector_, arena_);
    if (known.in_trial)
      guard_.ran();
    else if (code == 0)
      follow_mean(collective, call);
    if (watch_.counts(1) && code == 0) look_alone();
    return code;
  }
  Ready* const made = known.ready.get();
  if (known.in_trial) return run_in_trial(collective, call, made);
  if (made != nullptr) return run_ready(collective, call, *made);
  return decline(collective, call);
}

// Rounds cost their latency even where blocks have become large, or none.
void Comm::follow_mean(Collective collective, const colltopo_call& call) {
  if (!guard_.follows(collective, counted_bytes(collective, call, ranks_))) return;
  const Alone alone(*this);
  together([&] { guard_.look_at_mean(collective); });
}

Comm::Known Comm::make_known(Collective collective, const colltopo_call& call) {
  const Alone alone(*this);
  transport_.serve(collective);
  Known known;
  const Decision* const decision = decide(collective, call, Form::blocking);
  if (std::exchange(leaves_first_, false)) return known;
  known.in_trial = guard_.has_call();
  if (decision != nullptr && aggregates(collective, *decision)) {
    known.aggregated = decision;
    if (collective == Collective::neighborhood) together([&] { find_pairs(); });
    return known;
  }
  if (decision != nullptr) known.ready = ready(collective, call, *decision, Form::blocking);
  if (known.ready != nullptr) make_room(*known.ready);
  // What serves a call in a trial changes from one to the next, so nothing of it is remembered.
  if (known.in_trial) return known;
  recent_.note(collective, call, known.ready);
  return known;
}

// The graph as all ranks see it, looked for once. One that is too dense for that is taken as complete.
void Comm::find_pairs() {
  if (std::exchange(knows_pairs_, true)) return;
  constexpr std::size_t k_most_numbers = std::size_t{1} << 22;
  std::vector<int> own(destinations_ ? *destinations_ : std::vector<int>(static_cast<std::size_t>(ranks_)));
  if (!destinations_) std::iota(own.begin(), own.end(), 0);
  auto all = agreement_.gather_lists(own, k_most_numbers / static_cast<std::size_t>(ranks_));
  if (all) aggregated_.set_pairs(std::make_shared<const Pairs>(*std::move(all)));
}

int Comm::run_in_trial(Collective collective, const colltopo_call& call, Ready* made) {
  if (made == nullptr) {
    guard_.leave();
    watch_.counts(1);  // a later call looks: this one has been given away
    fallbacks_.increase();
    return COLLTOPO_DECLINED;
  }
  guard_.begins();
  const int code = run_ready(collective, call, *made);
  guard_.ran();
  return code;
}

int Comm::leave(Collective collective, Leaving how, bool again) {
  const Form form = again ? Form::persistent : Form::operation;
  if (how == Leaving::at_once && !(turns_.empty() && (settled_ || is_left_unmet(collective, form))))
    return COLLTOPO_UNKNOWN;
  std::optional<Alone> alone;
  if (how == Leaving::blocks) alone.emplace(*this);
  together([&] {
    if (settled_ || is_left_unmet(collective, form)) return;
    settle(true);
    if (how == Leaving::blocks) watch_.counts(1);  // as on ranks that decline the call
  });
  leaves_first_ = false;
  return selector_.declines_all() ? COLLTOPO_DECLINED : COLLTOPO_SUCCESS;
}

// Called while ranks settle, too: for where they are.
int Comm::least(long long& value) {
  return together([&]() -> int {
    if (!settled_) settle(false);
    if (selector_.declines_all() || std::exchange(leaves_first_, false)) return COLLTOPO_DECLINED;
    return agreement_.least(&value);
  });
}

int Comm::gather(int* values) {
  return together([&]() -> int {
    if (!settled_) settle(false);
    if (selector_.declines_all() || std::exchange(leaves_first_, false)) return COLLTOPO_DECLINED;
    return agreement_.gather({values, static_cast<std::size_t>(ranks_)});
  });
}

// The root of a small broadcast goes on before others have come to it, and programs rely on that. So ranks meet in the
// first call in which each waits for all others, and leave calls with a root until then; not where the user has said
// what is to serve calls. Which of both it is rank 0's settings say, which all ranks know without a message.
bool Comm::is_left_unmet(Collective collective, Form form) {
  if (settled_ || !rooted(collective) || form == Form::persistent) return false;
  if (callbacks_.peer == nullptr || callbacks_.has_settings != 0) return false;
  colltopo_peer first{};
  if (callbacks_.peer(callbacks_.context, 0, &first) != 0) throw std::bad_alloc();
  if (first.has_settings != 0) return false;
  if (!std::exchange(said_missing_, true)) say_who_is_missing();
  return true;
}

void Comm::say_who_is_missing() const {
  const std::string fault = fault_of_missing(callbacks_, rank_, ranks_, std::nullopt);
  if (!fault.empty()) voice_.say(0, fmt::format("{}; using {}", fault, voice_.previous()));
}

void Comm::settle(bool leaves) {
  settled_ = true;
  turns_.forget();
  const bool on_disk = !settings_.topology.empty() || !settings_.schedules.empty() || !settings_.rules.empty();
  std::string fault;
  std::string stamp = on_disk && rank_ == 0 ? selector_.stamp() : "";
  if (selector_.settle(callbacks_, &fault, &leaves)) {
    leaves_first_ = leaves;
    const bool may_lose_lanes = settings_.own_lanes && settings_.lanes.lanes() > 1 && settings_.lane_patience_s > 0;
    if ((on_disk || may_lose_lanes) && settings_.watch_s > 0) watch_.begin(settings_.watch_s, std::move(stamp));
    return;
  }
  selector_.decline_all();
  if (!fault.empty()) voice_.say(0, fmt::format("{}; using {}", fault, voice_.previous()));
}

Request Comm::request_of(Collective collective, const colltopo_call& call, Form form) const {
  Request request;
  request.collective = collective;
  request.root = rooted(collective) ? call.root : 0;
  request.bytes = decisive_bytes(collective, call, ranks_);
  if (form == Form::blocking && learns_size(collective)) request.bytes = guard_.mean_bytes(collective);
  request.commutative = (call.op_properties & COLLTOPO_OP_COMMUTATIVE) != 0;
  request.associative_bits = (call.op_properties & COLLTOPO_OP_ASSOCIATIVE_BITS) != 0;
  request.fallback_allowed = call.previous_is_wrong == 0;
  request.in_place = call.in_place != 0 && !rooted(collective);
  if (form != Form::blocking && callbacks_.previous_of_operations != nullptr) {
    request.previous = callbacks_.previous_of_operations;
  } else if (callbacks_.previous_component != nullptr) {
    const char* const previous = callbacks_.previous_component(callbacks_.context, static_cast<int>(collective));
    request.previous = previous == nullptr ? "" : previous;
  }
  return request;
}

const Decision* Comm::decide(Collective collective, const colltopo_call& call, Form form) {
  return together([&] { return decide_together(collective, call, form); });
}

const Decision* Comm::decide_together(Collective collective, const colltopo_call& call, Form form) {
  if (is_left_unmet(collective, form))
    leaves_first_ = true;
  else if (!settled_)
    settle(false);
  if (leaves_first_) {
    if (form == Form::blocking) guard_.leave_once(collective);
    return nullptr;
  }
  const bool tried = form == Form::blocking;  // the guard measures nothing else
  const auto none = [&]() -> const Decision* {
    if (tried) guard_.forget();
    return nullptr;
  };
  if (selector_.declines(collective)) return none();
  const Request request = request_of(collective, call, form);
  const Decision* decision = &selector_.decide(request);
  if (selector_.declines(collective)) return none();
  if (tried && decision->open)
    decision = guard_.look(request, *decision, is_sized(request) ? 0 : counted_bytes(collective, call, ranks_));
  else if (tried)
    guard_.forget();
  if (!decision->serves() || copies_too_much(collective, call, *decision)) return nullptr;
  return decision;
}

// For runs that block.
void Comm::make_room(Ready& ready) {
  execution_.prepare(*ready.bound);
  if (ready.is_small && small_.data() == nullptr) small_ = Arena::Block(k_small);
}

// Every call comes through here: what few need is out of line.
inline int Comm::run_ready(Collective collective, const colltopo_call& call, Ready& ready) {
  const Call bound = ready.buffers_of(call);
  transport_.serve(collective);
  Transport& transport = ready.on_lanes ? static_cast<Transport&>(*lanes_.transport()) : transport_;
  const int code = ready.is_small ? execution_.run(*ready.bound, transport, small_.data(), bound)
                                  : run_with_memory(transport, collective, call, ready);
  if (code != 0 && ready.is_small) [[unlikely]]
    replace_small();
  ready.tally.ran();
  if (voice_.heard(2)) [[unlikely]]
    say_call(collective, call, ready);
  if (watch_.counts(ready.ticks) && code == 0) [[unlikely]]
    look_alone();
  return code;
}

void Comm::replace_small() {
  if (!execution_.gave_up()) return;
  Arena::keep_for_ever(std::move(small_));
  small_ = Arena::Block(k_small);
}

int Comm::run_with_memory(Transport& transport, Collective collective, const colltopo_call& call, Ready& ready) {
  Arena::Block memory = arena_.lease(ready.memory_bytes());
  Call bound = ready.buffers_of(call);
  if (ready.copied_bytes > 0) ready.set_aside(bound, memory.data());
  LaneTransport* const lanes = ready.on_lanes ? lanes_.transport() : nullptr;
  if (lanes != nullptr) lanes->begin_run(ready.independent);
  const int code = execution_.run(*ready.bound, transport, memory.data(), bound);
  if (lanes != nullptr) lanes->end_run();
  if (code != 0 && execution_.gave_up())
    Arena::keep_for_ever(std::move(memory));
  else
    arena_.give_back(std::move(memory));
  if (lanes != nullptr && code == 0) lanes->settle();
  if (ready.has_traffic && code == 0) follow_traffic(collective, call);
  return code;
}

void Comm::say_call(Collective collective, const colltopo_call& call, const Ready& ready) const {
  const std::string of = call.blocks != nullptr ? fmt::format("{} of blocks of {} bytes on average", name(collective),
                                                              counted_bytes(collective, call, ranks_))
                                                : fmt::format("{} of {} elements of {} bytes", name(collective),
                                                              call.count, call.element_size);
  voice_.say(2, fmt::format("{}: {} messages, {} bytes sent", of, ready.bound->messages(), ready.bound->bytes_sent()));
}

std::size_t Comm::memory_bytes() const {
  std::size_t bytes = aggregated_.memory_bytes() + sizeof(*this) + selector_.memory_bytes() + arena_.idle_bytes() +
                      small_.bytes() + execution_.memory_bytes() + operations_.memory_bytes() + recent_.memory_bytes() +
                      recent_operations_.memory_bytes();
  for (const auto& all : served_)
    for (const auto& [key, served] : all)
      bytes += sizeof(key) + sizeof(served) + served.plan->memory_bytes() + served.ready.size() * sizeof(Ready);
  return bytes;
}

}  // namespace colltopo
