// Plans of one communicator, and the way of a call through them. The call after an equal one takes the short way:
// nothing is looked up, allocated or bound.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "comm/comm.h"

namespace colltopo {

namespace {

constexpr std::size_t k_most_plans = 64;

// The row of an algorithm in the table; the row after the last stands for files.
std::size_t row_of(const Algorithm* algorithm) {
  return algorithm == nullptr ? algorithms().size() : static_cast<std::size_t>(algorithm - algorithms().data());
}

}  // namespace

bool Comm::serves(Collective collective, const colltopo_call& call) {
  Recent& recent = recent_[index_of(collective)];
  if (recent.equals(call)) return recent.served != nullptr;
  const bool served = would_serve(collective, call);
  if (!served) {
    // Others may ask only, and not run what is declined.
    recent = {call.count,    call.element_size,      call.root, call.op_properties,
              call.in_place, call.counts == nullptr, nullptr};
  }
  return served;
}

bool Comm::would_serve(Collective collective, const colltopo_call& call) {
  if (!ready_) first_call();
  if (declined_[index_of(collective)]) return false;
  const Decision& decision = decide(collective, call);
  return decision.file != nullptr || decision.algorithm != nullptr;
}

int Comm::run(Collective collective, const colltopo_call& call) {
  const Recent& recent = recent_[index_of(collective)];
  if (recent.equals(call)) [[likely]] {
    if (recent.served != nullptr) [[likely]]
      return run_bound(collective, call, *recent.served);
    fallbacks_.add();
    return COLLTOPO_DECLINED;
  }
  return run_other(collective, call);
}

// A call unlike the one before it.
int Comm::run_other(Collective collective, const colltopo_call& call) {
  Recent& recent = recent_[index_of(collective)];
  recent.valid = false;
  if (!serves(collective, call)) {
    fallbacks_.add();
    return COLLTOPO_DECLINED;
  }
  const Decision& decision = decide(collective, call);
  Served* const plan = served(collective, call, decision);
  // An equal call that follows takes the short way only as long as nothing else has been bound to this plan.
  for (Recent& other : recent_) other.valid = other.valid && other.served != plan;
  bind(*plan, call, decision);
  const int code = run_bound(collective, call, *plan);
  if (code == 0 && call.counts == nullptr)
    recent = {call.count, call.element_size, call.root, call.op_properties, call.in_place, true, plan};
  return code;
}

Program Comm::program_of(Collective collective, int root, const Decision& decision, bool& in_place_safe) {
  if (decision.file != nullptr) {
    in_place_safe = decision.file->properties.in_place;
    return decision.file->program;
  }
  Shape shape{collective, ranks_, 1, rooted(collective) ? root : 0};
  shape.chunks = decision.algorithm->chunks(shape, decision.options);
  in_place_safe = decision.algorithm->properties && decision.algorithm->properties(shape, decision.options).in_place;
  return decision.algorithm->program(shape, rank_, decision.options);
}

Comm::Served* Comm::served(Collective collective, const colltopo_call& call, const Decision& decision) {
  const bool in_place = call.in_place != 0 && !row(collective).one_buffer;
  // Ranks may differ in in_place.
  const std::string same_on_all_ranks =
      fmt::format("{} {} {} {}", name(collective), decision.name, group_text(decision.options.group_of),
                  rooted(collective) ? call.root : 0);
  const std::string key = fmt::format("{} {}", same_on_all_ranks, in_place);
  if (const auto found = plans_.find(key); found != plans_.end()) {
    return found->second.get();
  }
  if (plans_.size() >= k_most_plans) {
    plans_.clear();
    recent_.fill({});
  }
  bool in_place_safe = false;
  Program program = program_of(collective, call.root, decision, in_place_safe);
  const bool copies_input = in_place && !in_place_safe;
  const bool by_lanes = settings_.own_lanes && on_lanes(same_on_all_ranks, program);
  Transport& transport = by_lanes ? static_cast<Transport&>(*lanes_.transport()) : transport_;
  auto made = std::make_unique<Served>(std::move(program), PlanOptions{in_place && in_place_safe}, transport,
                                       row_of(decision.algorithm));
  made->on_lanes = by_lanes;
  made->input_in_output = in_place || row(collective).one_buffer;
  made->copies_input = copies_input;
  made->stepped = decision.file == nullptr || decision.file->stepped;
  return plans_.emplace(key, std::move(made)).first->second.get();
}

// Collective when asked for a plan for the first time, which happens on all ranks at once; so does forgetting. A rank
// that takes the short way of an equal call has asked for that plan, as all others have.
bool Comm::on_lanes(const std::string& plan, const Program& program) {
  if (!lanes_.knows(plan) && lanes_.is_full()) {
    lanes_.forget();
    plans_.clear();
    recent_.fill({});
  }
  CommLanes::Remark remark;
  const bool by_lanes = lanes_.serve(settings_, plan, program, node_of_, &remark);
  if (!remark.line.empty()) say(remark.level, remark.line);
  return by_lanes;
}

void Comm::bind(Served& served, const colltopo_call& call, const Decision& decision) {
  const std::span<const std::size_t> counts = call.counts == nullptr
                                                  ? std::span<const std::size_t>{}
                                                  : std::span(call.counts, static_cast<std::size_t>(ranks_));
  const bool paced = settings_.pace == Pace::window ? decision.order == SegmentOrder::slot_by_slot : served.stepped;
  const Pace pace = paced ? settings_.pace : Pace::free;
  say_empty_chunks(served, call);
  const bool one_node = std::ranges::all_of(node_of_, [&](int node) { return node == node_of_.front(); });
  const std::size_t stretch = one_node ? k_no_stretch : k_stretch;
  if (!served.execution.bind(
          {call.count, call.element_size, counts, decision.segments, decision.order, pace, settings_.window, stretch}))
    return;
  unsigned long long messages_between_nodes = 0, bytes_between_nodes = 0;
  served.execution.for_each_message([&](Rank peer, std::size_t bytes) {
    if (node_of_[static_cast<std::size_t>(peer)] == node_of_[static_cast<std::size_t>(rank_)]) return;
    ++messages_between_nodes;
    bytes_between_nodes += bytes;
  });
  std::array<unsigned long long, k_fixed_counters> per_run{};
  const auto adds = [&](Counter counter, unsigned long long by) { per_run[static_cast<std::size_t>(counter)] = by; };
  adds(Counter::calls, 1);
  adds(Counter::plan_hits, 1);
  adds(Counter::bytes, largest_shard(call, ranks_) * call.element_size);
  adds(Counter::messages, served.execution.messages());
  adds(Counter::bytes_sent, served.execution.bytes_sent());
  adds(Counter::messages_between_nodes, messages_between_nodes);
  adds(Counter::bytes_between_nodes, bytes_between_nodes);
  if (served.on_lanes) adds(Counter::messages_on_lanes, served.execution.messages());
  served.tally.bind(per_run);
}

// Schedules of many chunks are made for large shards; whoever runs them on small ones should know. Said once per plan.
void Comm::say_empty_chunks(Served& served, const colltopo_call& call) const {
  const Shape& shape = served.plan.program().shape();
  const std::size_t elements = largest_shard(call, ranks_);
  const bool shards = row(shape.collective).counts_shards();
  const auto chunks = static_cast<std::size_t>(shape.parts());
  if (rank_ != 0 || settings_.verbose == 0 || served.said_empty_chunks || elements == 0 || elements >= chunks) return;
  served.said_empty_chunks = true;
  say(1,
      fmt::format("{}: {} chunks per {}, which has {} elements: at least {} chunks are empty, and messages of nothing "
                  "but these are not sent",
                  name(shape.collective), chunks, shards ? "shard" : "vector", elements, chunks - elements));
}

// The plan is bound to this call. Every call comes through here: what few need is out of line.
inline int Comm::run_bound(Collective collective, const colltopo_call& call, Served& served) {
  Call bound{static_cast<const std::byte*>(call.input), static_cast<std::byte*>(call.output), call.reduce,
             call.reduce_context};
  if (served.input_in_output) join_buffers(collective, call, served, &bound);
  transport_.serve(collective);
  if (served.on_lanes) [[unlikely]]
    lanes_.transport()->until_received(settings_.pace == Pace::window);
  const int code = served.execution.run(bound);
  if (served.on_lanes && code == 0) [[unlikely]]
    lanes_.transport()->settle();
  served.tally.ran();
  if (code != 0) [[unlikely]]
    keep_for_ever(served);
  if (settings_.verbose > 1) [[unlikely]]
    say_call(collective, call, served);
  return code;
}

// The caller gives one buffer. What of it the program must not find changed is in memory of its own.
void Comm::join_buffers(Collective collective, const colltopo_call& call, const Served& served, Call* bound) {
  if (row(collective).one_buffer) {
    bound->input = bound->output;
    return;
  }
  const Shape& shape = served.plan.program().shape();
  const std::size_t shard = call.count * call.element_size;
  const std::size_t own = static_cast<std::size_t>(std::abs(shape.in_place_offset(rank_) / shape.chunks)) * shard;
  if (shape.output_in_input()) {
    if (served.copies_input) copied_input_.resize(shard);
    bound->output = served.copies_input ? copied_input_.data() : const_cast<std::byte*>(bound->input) + own;
    return;
  }
  bound->input = bound->output + own;
  if (!served.copies_input || shape.input_chunks(rank_) == 0) return;
  const Layout layout = call.counts == nullptr
                            ? Layout(shape, call.count, call.element_size)
                            : Layout(shape, {call.counts, static_cast<std::size_t>(ranks_)}, call.element_size);
  copied_input_.resize(layout.input_bytes(rank_));
  std::memcpy(copied_input_.data(), bound->input, copied_input_.size());
  bound->input = copied_input_.data();
}

void Comm::say_call(Collective collective, const colltopo_call& call, const Served& served) const {
  if (rank_ != 0) return;
  say(2, fmt::format("{} of {} elements of {} bytes: {} messages, {} bytes sent", name(collective), call.count,
                     call.element_size, served.execution.messages(), served.execution.bytes_sent()));
}

// After an error, messages that were given up may still arrive in the plan's memory.
void Comm::keep_for_ever(const Served& served) {
  static auto* const mutex = new std::mutex;
  static auto* const kept = new std::vector<std::pair<std::unique_ptr<Served>, std::vector<std::byte>>>;
  for (Recent& recent : recent_) recent.valid = recent.valid && recent.served != &served;
  const auto found = std::ranges::find_if(plans_, [&](const auto& entry) { return entry.second.get() == &served; });
  if (found == plans_.end()) return;
  const std::lock_guard lock(*mutex);
  kept->emplace_back(std::move(found->second), std::move(copied_input_));
  plans_.erase(found);
  copied_input_ = {};
}

}  // namespace colltopo
