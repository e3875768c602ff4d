// Of the way of a call what is done once for a plan or a size: the plan of what was decided, bound to the call's size,
// and how the call's buffers become the program's.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "comm/call_sizes.h"
#include "comm/comm.h"

namespace colltopo {

namespace {

// How long ranks that do not block may be away while endpoints are tried. What cannot be reached UCX tells earlier.
constexpr double k_most_away_s = 600;

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

Decision with_shares_in_force(const Decision& decision, const Replanner& replanner) {
  Decision other = decision;
  other.file = replanner.in_force();
  if (replanner.taken() > 0) other.name += fmt::format(", shares {}", replanner.taken());
  return other;
}

}  // namespace

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
  made.on_lanes = settings_.own_lanes && on_lanes(collective, call, decision, made.plan->program(), form);
  const bool filed = decision.file != nullptr && !decision.file->made;
  made.independent = filed ? decision.file->proof.independent : made.plan->is_independent();
  made.row = row_of(decision.algorithm);
  made.used = ++clock_;
  return all.insert_or_assign(key, std::move(made)).first->second;
}

void Comm::forget_oldest(Form form) {
  auto& all = served_[static_cast<std::size_t>(form)];
  const auto oldest = std::ranges::min_element(all, {}, [](const auto& entry) { return entry.second.used; });
  all.erase(oldest);
}

// Collective when asked for a plan for the first time, which happens on all ranks at once; so does forgetting. A rank
// that takes the short way of an equal call has asked for that plan, as all others have. Operations are remembered
// above the bound, until a blocking call that is new forgets.
bool Comm::on_lanes(Collective collective, const colltopo_call& call, const Decision& decision, const Program& program,
                    Form form) {
  const std::string plan = fmt::format("{} {} {}", name(collective), decision.name, rooted(collective) ? call.root : 0);
  if (form == Form::blocking && !lanes_.knows(plan) && lanes_.is_full()) {
    lanes_.forget();
    forget_calls();
  }
  const double patience_s = form == Form::operation ? k_most_away_s : settings_.connect_timeout_s;
  CommLanes::Remark remark;
  const bool by_lanes =
      together([&] { return lanes_.serve(settings_, plan, program, selector_.node_of(), patience_s, &remark); });
  if (!remark.line.empty()) voice_.say(remark.level, remark.line);
  return by_lanes;
}

std::shared_ptr<Ready> Comm::ready(Collective collective, const colltopo_call& call, const Decision& decision,
                                   Form form) {
  const bool has_traffic = follows_traffic(collective, decision, form);
  Served& plan = has_traffic ? served(collective, call, with_shares_in_force(decision, *replanner_), form)
                             : served(collective, call, decision, form);
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
  if (plan.ready.size() >= k_most_sizes) plan.ready.pop_back();
  auto made = std::make_shared<Ready>(plan.plan->bind(binding), plan.row);
  made->one_buffer = plan.in_place || row(collective).one_buffer;
  made->on_lanes = plan.on_lanes;
  if (made->on_lanes) made->lanes_given_up = lanes_.transport()->given_up();
  made->independent = plan.independent;
  made->ticks = Watch::ticks_of(request.bytes);
  if (made->one_buffer) join_buffers(plan, call, *made);
  count(collective, *made, call, form);
  made->has_traffic = has_traffic;
  made->is_small =
      made->bound->arena_bytes() <= k_small && made->copied_bytes == 0 && !made->on_lanes && !made->has_traffic;
  plan.ready.insert(plan.ready.begin(), std::move(made));
  return plan.ready.front();
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
  if (form != Form::blocking) adds(Counter::operations, 1);
  ready.tally.bind(per_run);
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

}  // namespace colltopo
