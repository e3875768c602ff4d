// The way of a call. One that was made before takes the short way: nothing is looked up, allocated or bound.

#include "comm/comm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "colltopo/error.h"
#include "comm/call_sizes.h"

namespace colltopo {

namespace {

// Under MPI_IN_PLACE, of input that would have to be copied first: people use it to save just that memory.
constexpr std::size_t k_most_copied_bytes = std::size_t{1} << 20;

// The row of an algorithm in the table; the row after the last stands for files.
std::size_t row_of(const Algorithm* algorithm) {
  return algorithm == nullptr ? algorithms().size() : static_cast<std::size_t>(algorithm - algorithms().data());
}

Layout layout_of(const Shape& shape, const colltopo_call& call) {
  return call.counts == nullptr ? Layout(shape, call.count, call.element_size)
                                : Layout(shape, counts_of(call, shape.ranks), call.element_size);
}

}  // namespace

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
      lanes_(rank, ranks, callbacks_, agreement_, transport_),
      aggregated_(rank, ranks, callbacks_) {}

// Decisions outlive the communicator.
Comm::~Comm() { selector_.write_decisions(); }

void Comm::set(std::string_view name, std::string_view value) {
  try {
    settings_.set(name, value);
    voice_.set_verbose(settings_.verbose);
  } catch (const Error& error) {
    // Ranks compare their settings at the first call, so a fault that not all of them have is seen there.
    settings_.canonical += fmt::format("{}={} (refused)\n", name, value);
    const std::string line = fmt::format("{}; using {}", error.what(), voice_.previous());
    if (const auto collective = Settings::concerns(name))
      selector_.decline(*collective);
    else
      selector_.decline_all();
    throw Error(line);
  }
}

bool Comm::Recent::equals(const Comm& comm, Collective collective, const colltopo_call& call) const noexcept {
  if (!valid || element_size != call.element_size || root != call.root || op_properties != call.op_properties ||
      in_place != call.in_place || previous_is_wrong != (call.previous_is_wrong != 0))
    return false;
  if (call.counts == nullptr && call.blocks == nullptr) [[likely]]
    return count == call.count && sizes.empty();
  return count == call.count && same_sizes(collective, call, comm.rank_, comm.ranks_, sizes);
}

void Comm::Recent::note(const Comm& comm, Collective collective, const colltopo_call& call) {
  valid = false;
  count = call.count;
  element_size = call.element_size;
  root = call.root;
  op_properties = call.op_properties;
  in_place = call.in_place;
  previous_is_wrong = call.previous_is_wrong != 0;
  keep_sizes(collective, call, comm.rank_, comm.ranks_, sizes);
  valid = true;
}

// Where the search for a call begins.
inline std::size_t Comm::recent_place(const colltopo_call& call) noexcept {
  const std::size_t mixed =
      (call.count * call.element_size + static_cast<std::size_t>(call.root)) * 0x9E3779B97F4A7C15u;
  return mixed >> 61;
}

inline const Comm::Recent* Comm::recent(Collective collective, const colltopo_call& call) const noexcept {
  const auto& all = recent_[index_of(collective)];
  const std::size_t first = recent_place(call);
  if (all[first].equals(*this, collective, call)) [[likely]]
    return &all[first];
  return recent_elsewhere(collective, first, call);
}

// Sizes whose search begins in one place share the others.
const Comm::Recent* Comm::recent_elsewhere(Collective collective, std::size_t first,
                                           const colltopo_call& call) const noexcept {
  const auto& all = recent_[index_of(collective)];
  for (std::size_t i = 1; i < k_recent; ++i) {
    const Recent& entry = all[(first + i) % k_recent];
    if (entry.equals(*this, collective, call)) return &entry;
  }
  return nullptr;
}

// An empty place, if there is one, or that of each in turn.
Comm::Recent& Comm::place_for(Collective collective, const colltopo_call& call) noexcept {
  auto& all = recent_[index_of(collective)];
  const std::size_t first = recent_place(call);
  for (std::size_t i = 0; i < k_recent; ++i) {
    if (Recent& entry = all[(first + i) % k_recent]; !entry.valid) return entry;
  }
  return all[++recent_turn_ % k_recent];
}

bool Comm::serves(Collective collective, const colltopo_call& call) {
  if (const Recent* const entry = recent(collective, call)) return entry->ready != nullptr;
  const Turns::Exclusive alone(turns_);
  turn_transport_.serve(collective);
  guard_.forget();
  if (decide(collective, call, Form::blocking) != nullptr) {
    guard_.begins();
    return true;
  }
  guard_.leave();
  return false;
}

int Comm::run(Collective collective, const colltopo_call& call) {
  const Recent* const entry = recent(collective, call);
  if (entry == nullptr) [[unlikely]]
    return run_other(collective, call);
  if (entry->ready != nullptr) [[likely]]
    return run_ready(collective, call, *entry->ready);
  fallbacks_.increase();
  return COLLTOPO_DECLINED;
}

// A call unlike those of late.
int Comm::run_other(Collective collective, const colltopo_call& call) {
  Known known = make_known(collective, call);
  if (known.aggregated != nullptr) return aggregated_.run(collective, call, *known.aggregated, selector_, arena_);
  Ready* const made = known.ready;
  if (known.in_trial) return run_in_trial(collective, call, made);
  if (made != nullptr) return run_ready(collective, call, *made);
  fallbacks_.increase();
  return COLLTOPO_DECLINED;
}

Comm::Known Comm::make_known(Collective collective, const colltopo_call& call) {
  const Turns::Exclusive alone(turns_);
  transport_.serve(collective);
  turn_transport_.serve(collective);
  Known known;
  const Decision* const decision = decide(collective, call, Form::blocking);
  if (decision != nullptr && aggregates(collective, *decision)) {
    known.aggregated = decision;
    return known;
  }
  known.in_trial = guard_.has_call();
  if (decision != nullptr) known.ready = ready(collective, call, *decision, Form::blocking).get();
  if (known.ready != nullptr) make_room(*known.ready);
  // What serves a call in a trial changes from one to the next, so nothing of it is remembered.
  if (known.in_trial) return known;
  Recent& entry = place_for(collective, call);
  entry.note(*this, collective, call);
  entry.ready = known.ready;
  return known;
}

int Comm::run_in_trial(Collective collective, const colltopo_call& call, Ready* made) {
  if (made == nullptr) {
    guard_.leave();
    fallbacks_.increase();
    return COLLTOPO_DECLINED;
  }
  guard_.begins();
  const int code = run_ready(collective, call, *made);
  guard_.ran();
  return code;
}

// Until all ranks have agreed nothing is served, whatever is thrown meanwhile.
void Comm::settle() {
  settled_ = true;
  try {
    if (selector_.settle(callbacks_)) return;
  } catch (...) {
    selector_.decline_all();
    throw;
  }
  selector_.decline_all();
}

Request Comm::request_of(Collective collective, const colltopo_call& call, Form form) const {
  Request request;
  request.collective = collective;
  request.root = rooted(collective) ? call.root : 0;
  request.bytes = decisive_bytes(collective, call, ranks_);
  request.commutative = (call.op_properties & COLLTOPO_OP_COMMUTATIVE) != 0;
  request.associative_bits = (call.op_properties & COLLTOPO_OP_ASSOCIATIVE_BITS) != 0;
  request.fallback_allowed = call.previous_is_wrong == 0;
  if (form == Form::operation && callbacks_.previous_of_operations != nullptr) {
    request.previous = callbacks_.previous_of_operations;
  } else if (callbacks_.previous_component != nullptr) {
    const char* const previous = callbacks_.previous_component(callbacks_.context, static_cast<int>(collective));
    request.previous = previous == nullptr ? "" : previous;
  }
  return request;
}

const Decision* Comm::decide(Collective collective, const colltopo_call& call, Form form) {
  if (!settled_) settle();
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
    decision = guard_.look(request, *decision);
  else if (tried)
    guard_.forget();
  if (!decision->serves() || copies_too_much(collective, call, *decision)) return nullptr;
  return decision;
}

bool Comm::copies_too_much(Collective collective, const colltopo_call& call, const Decision& decision) const {
  // Of a rooted collective only the root may be in place, which the others do not know.
  if (call.in_place == 0 || rooted(collective) || call.previous_is_wrong != 0) return false;
  Shape shape{scheduled(collective), ranks_, 1, 0};
  const auto equal_shards = [&] { return layout_of(shape, call).input_bytes(rank_); };
  const std::size_t most = call.blocks != nullptr ? decisive_bytes(collective, call, ranks_)
                           : call.counts == nullptr
                               ? equal_shards()
                               : largest_shard(call, ranks_) * call.element_size * static_cast<std::size_t>(ranks_);
  if (most <= k_most_copied_bytes) return false;
  if (decision.file != nullptr) return !decision.file->proof.in_place;
  shape.chunks = decision.algorithm->chunks(shape, decision.options);
  return !decision.algorithm->properties || !decision.algorithm->properties(shape, decision.options).in_place;
}

// Ranks may differ in in_place.
Comm::Served& Comm::served(Collective collective, const colltopo_call& call, const Decision& decision, Form form) {
  auto& all = served_[static_cast<std::size_t>(form)];
  const bool in_place = call.in_place != 0 && !row(collective).one_buffer;
  const PlanKey key{decision.algorithm,
                    decision.file,
                    decision.options,
                    scheduled(collective),
                    rank_,
                    ranks_,
                    rooted(collective) ? call.root : 0,
                    in_place};
  if (const auto found = all.find(key); found != all.end()) {
    found->second.used = ++clock_;
    return found->second;
  }
  if (all.size() >= k_most_plans) forget_oldest(form);
  Shape shape{scheduled(collective), ranks_, 1, key.root};
  bool in_place_safe = decision.file != nullptr && decision.file->proof.in_place;
  if (decision.file == nullptr) {
    shape.chunks = decision.algorithm->chunks(shape, decision.options);
    in_place_safe = decision.algorithm->properties && decision.algorithm->properties(shape, decision.options).in_place;
  }
  Served made;
  made.plan = PlanCache::of_process().plan(key, [&] {
    auto program = decision.file != nullptr
                       ? decision.file->program
                       : std::make_shared<const Program>(decision.algorithm->program(shape, rank_, decision.options));
    const bool in_order = decision.file == nullptr || decision.file->pattern.in_order;
    return std::make_shared<SharedPlan>(std::move(program), in_place && in_place_safe, in_order);
  });
  made.in_place = in_place;
  made.copies_input = in_place && !in_place_safe;
  made.on_lanes =
      settings_.own_lanes && form == Form::blocking && on_lanes(collective, call, decision, made.plan->program());
  made.independent = decision.file != nullptr ? decision.file->proof.independent : made.plan->is_independent();
  made.row = row_of(decision.algorithm);
  made.used = ++clock_;
  return all.insert_or_assign(key, std::move(made)).first->second;
}

void Comm::forget_oldest(Form form) {
  auto& all = served_[static_cast<std::size_t>(form)];
  const auto oldest = std::ranges::min_element(all, {}, [](const auto& entry) { return entry.second.used; });
  for (const auto& ready : oldest->second.ready)
    for (auto& of_collective : recent_)
      for (Recent& entry : of_collective) entry.valid = entry.valid && entry.ready != ready.get();
  all.erase(oldest);
}

// Collective when asked for a plan for the first time, which happens on all ranks at once; so does forgetting. A rank
// that takes the short way of an equal call has asked for that plan, as all others have.
bool Comm::on_lanes(Collective collective, const colltopo_call& call, const Decision& decision,
                    const Program& program) {
  const std::string plan = fmt::format("{} {} {}", name(collective), decision.name, rooted(collective) ? call.root : 0);
  if (!lanes_.knows(plan) && lanes_.is_full()) {
    lanes_.forget();
    while (!served_[static_cast<std::size_t>(Form::blocking)].empty()) forget_oldest(Form::blocking);
  }
  CommLanes::Remark remark;
  const bool by_lanes = lanes_.serve(settings_, plan, program, selector_.node_of(), &remark);
  if (!remark.line.empty()) voice_.say(remark.level, remark.line);
  return by_lanes;
}

std::shared_ptr<Ready> Comm::ready(Collective collective, const colltopo_call& call, const Decision& decision,
                                   Form form) {
  Served& plan = served(collective, call, decision, form);
  const Request request = request_of(collective, call, form);
  const Manner manner = selector_.manner_of(decision, request);
  Binding binding;
  binding.count = call.count;
  binding.element_size = call.element_size;
  binding.counts = counts_of(call, ranks_);
  if (call.blocks != nullptr) {
    binding.count = 0;
    binding.shards = shards_of(collective, call, rank_, ranks_, selector_.whole_below());
  }
  binding.segments = manner.segments;
  binding.order = manner.order;
  binding.pace = manner.pace;
  binding.window = manner.window;
  binding.independent = plan.independent;
  binding.stretch = selector_.nodes() == 1 ? k_no_stretch : k_stretch;
  const auto known = std::ranges::find_if(plan.ready, [&](const auto& ready) { return ready->bound->is_for(binding); });
  if (known != plan.ready.end()) {
    std::rotate(plan.ready.begin(), known, known + 1);
    return plan.ready.front();
  }
  if (manner.segments > 1 && voice_.heard(1))
    voice_.say(1, fmt::format("{} of {} bytes: {} segments", name(collective), request.bytes, manner.segments));
  say_empty_chunks(plan, call);
  if (plan.ready.size() >= k_most_sizes) {
    for (auto& of_collective : recent_)
      for (Recent& entry : of_collective) entry.valid = entry.valid && entry.ready != plan.ready.back().get();
    plan.ready.pop_back();
  }
  auto made = std::make_shared<Ready>(plan.plan->bind(binding), plan.row);
  made->one_buffer = plan.in_place || row(collective).one_buffer;
  made->on_lanes = plan.on_lanes;
  if (made->one_buffer) join_buffers(plan, call, *made);
  count(collective, *made, call, form);
  made->is_small = made->bound->arena_bytes() <= k_small && made->copied_bytes == 0 && !made->on_lanes;
  plan.ready.insert(plan.ready.begin(), std::move(made));
  return plan.ready.front();
}

// For runs that block.
void Comm::make_room(Ready& ready) {
  execution_.prepare(*ready.bound);
  if (ready.is_small && small_.data() == nullptr) small_ = Arena::Block(k_small);
}

// The caller gives one buffer, and the other lies in it. What of it the program must not find changed is in memory of
// its own.
void Comm::join_buffers(const Served& plan, const colltopo_call& call, Ready& ready) const {
  const Shape& shape = plan.plan->program().shape();
  if (row(shape.collective).one_buffer) return;
  ready.output_in_input = shape.output_in_input();
  if (call.blocks != nullptr) return join_blocks(plan, call, ready);
  const std::size_t shard = call.count * call.element_size;
  ready.offset = static_cast<std::size_t>(std::abs(shape.in_place_offset(rank_) / shape.chunks)) * shard;
  if (!plan.copies_input) return;
  if (ready.output_in_input)
    ready.copied_bytes = shard;
  else if (shape.input_chunks(rank_) > 0)
    ready.copied_bytes = layout_of(shape, call).input_bytes(rank_);
}

// Of an allgatherv, a gatherv or a scatterv: the rank's own block lies among all blocks.
void Comm::join_blocks(const Served& plan, const colltopo_call& call, Ready& ready) const {
  const Shape& shape = plan.plan->program().shape();
  const bool others_have_none = (shape.output_in_input() ? shape.input_chunks(rank_) : shape.output_chunks(rank_)) == 0;
  if (others_have_none) return;
  const auto own = static_cast<std::size_t>(rank_);
  const colltopo_blocks& blocks = *call.blocks;
  ready.offset = (ready.output_in_input ? blocks.input_at : blocks.output_at)[own];
  if (plan.copies_input) ready.copied_bytes = (ready.output_in_input ? blocks.input_bytes : blocks.output_bytes)[own];
}

// What a run adds to the counters.
void Comm::count(Collective collective, Ready& ready, const colltopo_call& call, Form form) const {
  const std::vector<int>& node_of = selector_.node_of();
  unsigned long long messages_between_nodes = 0, bytes_between_nodes = 0;
  ready.bound->for_each_send([&](Rank peer, std::size_t messages, std::size_t bytes) {
    if (node_of[static_cast<std::size_t>(peer)] == node_of[static_cast<std::size_t>(rank_)]) return;
    messages_between_nodes += messages;
    bytes_between_nodes += bytes;
  });
  std::array<unsigned long long, k_fixed_counters> per_run{};
  const auto adds = [&](Counter counter, unsigned long long by) { per_run[static_cast<std::size_t>(counter)] = by; };
  adds(Counter::calls, 1);
  adds(Counter::plan_hits, 1);
  adds(Counter::bytes, counted_bytes(collective, call, ranks_));
  adds(Counter::messages, ready.bound->messages());
  adds(Counter::bytes_sent, ready.bound->bytes_sent());
  adds(Counter::messages_between_nodes, messages_between_nodes);
  adds(Counter::bytes_between_nodes, bytes_between_nodes);
  if (ready.on_lanes) adds(Counter::messages_on_lanes, ready.bound->messages());
  if (form == Form::operation) adds(Counter::operations, 1);
  ready.tally.bind(per_run);
}

// Every call comes through here: what few need is out of line.
inline int Comm::run_ready(Collective collective, const colltopo_call& call, Ready& ready) {
  const Call bound = ready.buffers_of(call);
  transport_.serve(collective);
  Transport& transport = ready.on_lanes ? static_cast<Transport&>(*lanes_.transport()) : transport_;
  const int code = ready.is_small ? execution_.run(*ready.bound, transport, small_.data(), bound)
                                  : run_with_memory(transport, bound, ready);
  if (code != 0 && ready.is_small) [[unlikely]]
    replace_small();
  ready.tally.ran();
  if (voice_.heard(2)) [[unlikely]]
    say_call(collective, call, ready);
  return code;
}

void Comm::replace_small() {
  if (!execution_.gave_up()) return;
  Arena::keep_for_ever(std::move(small_));
  small_ = Arena::Block(k_small);
}

int Comm::run_with_memory(Transport& transport, const Call& call, Ready& ready) {
  Arena::Block memory = arena_.lease(ready.memory_bytes());
  Call bound = call;
  if (ready.copied_bytes > 0) ready.set_aside(bound, memory.data());
  const int code = execution_.run(*ready.bound, transport, memory.data(), bound);
  if (code != 0 && execution_.gave_up())
    Arena::keep_for_ever(std::move(memory));
  else
    arena_.give_back(std::move(memory));
  if (ready.on_lanes && code == 0) lanes_.transport()->settle();
  return code;
}

// Schedules of many chunks are made for large shards; whoever runs them on small ones should know. Said once per plan.
void Comm::say_empty_chunks(Served& served, const colltopo_call& call) const {
  const Shape& shape = served.plan->program().shape();
  if (call.blocks != nullptr) return;
  const std::size_t elements = largest_shard(call, ranks_);
  const bool shards = row(shape.collective).counts_shards();
  const auto chunks = static_cast<std::size_t>(shape.parts());
  if (!voice_.heard(1) || served.said_empty_chunks || elements == 0 || elements >= chunks) return;
  served.said_empty_chunks = true;
  voice_.say(1,
             fmt::format("{}: {} chunks per {}, which has {} elements: at least {} chunks are empty, and messages of "
                         "nothing but these are not sent",
                         name(shape.collective), chunks, shards ? "shard" : "vector", elements, chunks - elements));
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
                      small_.bytes() + execution_.memory_bytes() + operations_.memory_bytes();
  for (const auto& all : served_)
    for (const auto& [key, served] : all)
      bytes += sizeof(key) + sizeof(served) + served.plan->memory_bytes() + served.ready.size() * sizeof(Ready);
  return bytes;
}

}  // namespace colltopo
