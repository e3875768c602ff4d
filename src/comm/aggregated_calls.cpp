#include "comm/aggregated_calls.h"

#include <algorithm>

#include "comm/call_sizes.h"

namespace colltopo {

namespace {

constexpr std::size_t k_most_plans = 16;

}  // namespace

bool aggregates(Collective collective, const Decision& decision) {
  return row(collective).sizes == Sizes::of_messages && decision.algorithm != nullptr && decision.algorithm->aggregates;
}

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

// Null: this rank has none.
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

AggregatedCall AggregatedCalls::call_of(Collective collective, const colltopo_call& call, const Made& made,
                                        const Decision& decision, const Selector& selector) {
  Request request;
  request.collective = collective;
  const UnevenShards shards = shards_of(collective, call, rank_, ranks_, selector.whole_below());
  return {collective, made.plan, large_blocks(shards, made.plan->limit(), selector.manner_of(decision, request)),
          static_cast<std::size_t>(decision.algorithm - algorithms().data()), counted_bytes(collective, call, ranks_)};
}

AggregatedCall AggregatedCalls::call_for(Collective collective, const colltopo_call& call, const Decision& decision,
                                         const Selector& selector) {
  return call_of(collective, call, made_for(collective, decision, selector.aggregation_limit(decision)), decision,
                 selector);
}

int AggregatedCalls::run(Collective collective, const colltopo_call& call, const Decision& decision,
                         const Selector& selector, Arena& arena) {
  Made& made = made_for(collective, decision, selector.aggregation_limit(decision));
  const AggregatedCall ready = call_of(collective, call, made, decision, selector);
  Arena::Block memory = arena.lease(ready.memory_bytes());
  run_.serve(collective);
  run_.start(ready, memory.data(), call);
  while (!run_.progress()) run_.wait_a_little();
  if (run_.gave_up())
    Arena::keep_for_ever(std::move(memory));
  else
    arena.give_back(std::move(memory));
  if (const auto per_run = run_.counted(selector.node_of()); per_run != made.per_run) {
    made.per_run = per_run;
    made.tally.bind(per_run);
  }
  made.tally.ran();
  return run_.status();
}

std::size_t AggregatedCalls::memory_bytes() const {
  std::size_t bytes = run_.memory_bytes();
  for (const auto& [key, made] : made_) bytes += sizeof(key) + sizeof(*made) + made->plan->memory_bytes();
  return bytes;
}

}  // namespace colltopo
