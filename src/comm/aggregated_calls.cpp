#include "comm/aggregated_calls.h"

#include <algorithm>

#include "comm/call_sizes.h"

namespace colltopo {

namespace {

constexpr std::size_t k_most_plans = 16;

// Rounds and large blocks are matched apart: each by the tag of one of the two collectives. Calls follow each other in
// the same order on all ranks, so messages of the other collective's calls cannot meet them.
Collective collective_of_rounds(Collective collective) {
  return collective == Collective::alltoallv ? Collective::alltoallw : Collective::alltoallv;
}

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + Arena::k_alignment - 1) / Arena::k_alignment * Arena::k_alignment;
}

}  // namespace

bool aggregates(Collective collective, const Decision& decision) {
  return row(collective).sizes == Sizes::of_messages && decision.algorithm != nullptr && decision.algorithm->aggregates;
}

AggregatedCalls::AggregatedCalls(Rank rank, Rank ranks, const colltopo_callbacks& callbacks)
    : rank_(rank), ranks_(ranks), callbacks_(callbacks), rounds_(callbacks_), direct_(callbacks_) {}

AggregatedCalls::Made& AggregatedCalls::made_for(Collective collective, const Decision& decision, std::size_t limit) {
  PlanKey key{decision.algorithm, nullptr, decision.options, Collective::alltoall, rank_, ranks_, 0, false};
  if (collective == Collective::neighborhood) key.options.pairs = pairs_;
  if (const auto found = made_.find(key); found != made_.end()) return *found->second;
  if (made_.size() >= k_most_plans) made_.clear();
  const Shape shape{Collective::alltoall, ranks_, 1, 0};
  auto plan = std::make_shared<const Plan>(decision.algorithm->program(shape, rank_, key.options));
  auto made = std::make_unique<Made>(std::make_shared<const AggregationPlan>(std::move(plan), limit),
                                     static_cast<std::size_t>(decision.algorithm - algorithms().data()));
  return *(made_[key] = std::move(made));
}

std::shared_ptr<const Bound> AggregatedCalls::large_blocks(const UnevenShards& shards, std::size_t limit,
                                                           const Manner& manner) {
  const auto of = [&](const Blocks& blocks, std::vector<std::size_t>& bytes) {
    bytes.assign(blocks.bytes.begin(), blocks.bytes.end());
    for (std::size_t& size : bytes) size = size > limit ? size : 0;
    return std::ranges::any_of(bytes, [](std::size_t size) { return size > 0; });
  };
  const bool sends = of(shards.input, input_bytes_), receives = of(shards.output, output_bytes_);
  if (!sends && !receives) return nullptr;
  const Algorithm& linear = *algorithm_named("linear");
  const PlanKey key{&linear, nullptr, {}, Collective::alltoall, rank_, ranks_, 0, false};
  const auto plan = PlanCache::of_process().plan(key, [&] {
    const Shape shape{Collective::alltoall, ranks_, 1, 0};
    return std::make_shared<SharedPlan>(std::make_shared<const Program>(linear.program(shape, rank_, {})), false, true);
  });
  Binding binding;
  binding.shards = shards;
  binding.shards.input.bytes = input_bytes_;
  binding.shards.output.bytes = output_bytes_;
  binding.order = manner.order;
  binding.window = manner.window;
  binding.independent = true;
  return plan->bind(binding);
}

int AggregatedCalls::run_both(const Bound* large, Arena::Block& memory, const Call& call, const UnevenShards& shards,
                              Made& made) {
  const std::size_t rounds_bytes = aligned(made.plan->arena_bytes());
  if (large != nullptr) execution_.prepare(*large);
  aggregation_.start(*made.plan, rounds_, memory.data(), call.input, call.output, shards, callbacks_.truncation_error);
  if (large != nullptr) execution_.start(*large, direct_, memory.data() + rounds_bytes, call);
  bool rounds_done = false, large_done = large == nullptr;
  for (;;) {
    rounds_done = rounds_done || aggregation_.progress();
    large_done = large_done || execution_.progress();
    const int code = rounds_done && aggregation_.status() != 0 ? aggregation_.status()
                     : large != nullptr && large_done          ? execution_.status()
                                                               : 0;
    if (code != 0 || (rounds_done && large_done)) return code;
    rounds_.progress();
  }
}

int AggregatedCalls::run(Collective collective, const colltopo_call& call, const Decision& decision,
                         const Selector& selector, Arena& arena) {
  const UnevenShards shards = shards_of(collective, call, rank_, ranks_, selector.whole_below());
  Made& made = made_for(collective, decision, selector.aggregation_limit(decision));
  Request request;
  request.collective = collective;
  const auto large = large_blocks(shards, made.plan->limit(), selector.manner_of(decision, request));
  direct_.serve(collective);
  rounds_.serve(collective_of_rounds(collective));
  const std::size_t large_bytes = large == nullptr ? 0 : aligned(large->arena_bytes());
  Arena::Block memory = arena.lease(aligned(made.plan->arena_bytes()) + large_bytes);
  const Call bound{static_cast<const std::byte*>(call.input), static_cast<std::byte*>(call.output), nullptr, nullptr};
  const int code = run_both(large.get(), memory, bound, shards, made);
  if (code != 0) {
    aggregation_.fail(code);
    if (large != nullptr) execution_.give_up(code);
    Arena::keep_for_ever(std::move(memory));
  } else {
    arena.give_back(std::move(memory));
  }
  count(collective, call, large.get(), selector, made);
  made.tally.ran();
  return code;
}

void AggregatedCalls::count(Collective collective, const colltopo_call& call, const Bound* large,
                            const Selector& selector, Made& made) const {
  const std::vector<int>& node_of = selector.node_of();
  std::array<unsigned long long, k_fixed_counters> per_run{};
  const auto add = [&](Counter counter, unsigned long long by) { per_run[static_cast<std::size_t>(counter)] += by; };
  const auto sent = [&](Rank peer, std::size_t messages, std::size_t bytes) {
    add(Counter::messages, messages);
    add(Counter::bytes_sent, bytes);
    if (node_of[static_cast<std::size_t>(peer)] == node_of[static_cast<std::size_t>(rank_)]) return;
    add(Counter::messages_between_nodes, messages);
    add(Counter::bytes_between_nodes, bytes);
  };
  aggregation_.for_each_send([&](Rank peer, std::size_t bytes) { sent(peer, 1, bytes); });
  if (large != nullptr) large->for_each_send(sent);
  add(Counter::calls, 1);
  add(Counter::plan_hits, 1);
  add(Counter::bytes, counted_bytes(collective, call, ranks_));
  if (per_run == made.per_run) return;
  made.per_run = per_run;
  made.tally.bind(per_run);
}

std::size_t AggregatedCalls::memory_bytes() const {
  std::size_t bytes = execution_.memory_bytes();
  for (const auto& [key, made] : made_) bytes += sizeof(key) + sizeof(*made) + made->plan->memory_bytes();
  return bytes;
}

}  // namespace colltopo
