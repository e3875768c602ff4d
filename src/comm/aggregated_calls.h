// Alltoallv, alltoallw and neighbourhood calls by way of other ranks: small blocks by a program of tra or tra2
// (colltopo/aggregation.h), large ones straight to their owners at the same time. Both ends of a block know which way
// it goes.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "colltopo/arena.h"
#include "colltopo/colltopo.h"
#include "comm/aggregated_run.h"
#include "comm/counters.h"
#include "comm/plan_cache.h"
#include "comm/selector.h"

namespace colltopo {

/// Whether the decision is to serve the call so.
bool aggregates(Collective collective, const Decision& decision);

class AggregatedCalls {
 public:
  AggregatedCalls(Rank rank, Rank ranks, const colltopo_callbacks& callbacks)
      : rank_(rank), ranks_(ranks), run_(rank, ranks, callbacks) {}

  /// Who may have blocks for whom in neighbourhood calls.
  void set_pairs(std::shared_ptr<const Pairs> pairs) { pairs_ = std::move(pairs); }
  /// COLLTOPO_SUCCESS or an error code of a callback.
  int run(Collective collective, const colltopo_call& call, const Decision& decision, const Selector& selector,
          Arena& arena);
  /// What runs calls of these sizes.
  AggregatedCall call_for(Collective collective, const colltopo_call& call, const Decision& decision,
                          const Selector& selector);
  std::size_t memory_bytes() const;

 private:
  struct Made {
    Made(std::shared_ptr<const AggregationPlan> of, std::size_t row) : plan(std::move(of)), tally(row) {}
    std::shared_ptr<const AggregationPlan> plan;
    Tally tally;
    std::array<unsigned long long, k_fixed_counters> per_run{};
  };
  Made& made_for(Collective collective, const Decision& decision, std::size_t limit);
  AggregatedCall call_of(Collective collective, const colltopo_call& call, const Made& made, const Decision& decision,
                         const Selector& selector);
  std::shared_ptr<const Bound> large_blocks(const UnevenShards& shards, std::size_t limit, const Manner& manner);

  Rank rank_, ranks_;
  std::shared_ptr<const Pairs> pairs_;
  std::unordered_map<PlanKey, std::unique_ptr<Made>, PlanKeyHash> made_;
  std::vector<std::size_t> input_bytes_, output_bytes_;  // of the blocks above the limit
  AggregatedRun run_;
};

}  // namespace colltopo
