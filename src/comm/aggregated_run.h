// One run of a call that goes by way of other ranks: its rounds, and beside them its large blocks straight to their
// owners. The two are matched apart, by tags of their own.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "colltopo/aggregation.h"
#include "colltopo/colltopo.h"
#include "colltopo/execution.h"
#include "comm/counters.h"
#include "transport/callbacks.h"

namespace colltopo {

/// What such a call of given sizes is run by. Const once made.
struct AggregatedCall {
  Collective collective = Collective::alltoallv;
  std::shared_ptr<const AggregationPlan> rounds;
  std::shared_ptr<const Bound> large;  // blocks above the rounds' limit; null: this rank has none
  std::size_t row = 0;                 // of the algorithm table
  std::size_t counted_bytes = 0;       // for counters

  std::size_t memory_bytes() const;
};

class AggregatedRun {
 public:
  AggregatedRun(Rank rank, Rank ranks, const colltopo_callbacks& callbacks)
      : rank_(rank),
        ranks_(ranks),
        rounds_(callbacks),
        direct_(callbacks),
        mismatch_(callbacks.truncation_error),
        other_tags_(callbacks.other_tags) {}

  /// The tags of a call that blocks, and of one that brings its own.
  void serve(Collective collective);
  void serve_tag(int tag);
  /// `memory`: of call.memory_bytes(). All must live until the run is over; of `sizes` all that it points to. Throws
  /// std::bad_alloc, before anything is sent.
  void start(const AggregatedCall& call, std::byte* memory, const colltopo_call& sizes);
  /// True when all is done or an error has ended the run, after which nothing is under way. Never blocks.
  bool progress() noexcept;
  /// Moves communication on.
  void wait_a_little() noexcept { rounds_.progress(); }
  /// 0, or the first error code.
  int status() const noexcept { return status_; }
  /// Whether messages were given up, which may still arrive in the memory.
  bool gave_up() const noexcept { return status_ != 0; }
  /// What it has added to the counters; `node_of`: [rank].
  std::array<unsigned long long, k_fixed_counters> counted(const std::vector<int>& node_of) const;
  std::size_t memory_bytes() const { return execution_.memory_bytes(); }

 private:
  Rank rank_, ranks_;
  CallbackTransport rounds_, direct_;
  int mismatch_, other_tags_;
  const AggregatedCall* call_ = nullptr;
  Aggregation aggregation_;
  Execution execution_;
  bool rounds_done_ = false, large_done_ = false;
  int status_ = 0;
};

}  // namespace colltopo
