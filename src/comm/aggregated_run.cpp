#include "comm/aggregated_run.h"

#include "colltopo/arena.h"
#include "comm/call_sizes.h"

namespace colltopo {

namespace {

// Calls that block follow each other in the same order on all ranks, so messages of the other collective's calls cannot
// meet them.
Collective collective_of_rounds(Collective collective) {
  return collective == Collective::alltoallv ? Collective::alltoallw : Collective::alltoallv;
}

// Tags count down from zero, one for each call that does not block. Without others, this is that of a call four million
// away, which stays among the tags that keep their sign in 24 bits, and clear of those of calls that block.
int tag_of_rounds(int tag, int other_tags) {
  if (other_tags != 0) return other_tags - tag;
  constexpr int k_far = 1 << 22, k_clear = -1024;
  const int other = tag ^ k_far;
  return tag < 0 && other > k_clear ? tag ^ (k_far >> 1) : other;
}

}  // namespace

std::size_t AggregatedCall::memory_bytes() const {
  return Arena::aligned(rounds->arena_bytes()) + (large == nullptr ? 0 : Arena::aligned(large->arena_bytes()));
}

void AggregatedRun::serve(Collective collective) {
  direct_.serve(collective);
  rounds_.serve(collective_of_rounds(collective));
}

void AggregatedRun::serve_tag(int tag) {
  direct_.serve_tag(tag);
  rounds_.serve_tag(tag_of_rounds(tag, other_tags_));
}

void AggregatedRun::start(const AggregatedCall& call, std::byte* memory, const colltopo_call& sizes) {
  call_ = &call;
  status_ = 0;
  rounds_done_ = false;
  large_done_ = call.large == nullptr;
  const Call buffers{static_cast<const std::byte*>(sizes.input), static_cast<std::byte*>(sizes.output), nullptr,
                     nullptr};
  if (!large_done_) execution_.prepare(*call.large);
  aggregation_.start(*call.rounds, rounds_, memory, buffers.input, buffers.output,
                     shards_of(call.collective, sizes, rank_, ranks_, 0), mismatch_);
  if (!large_done_)
    execution_.start(*call.large, direct_, memory + Arena::aligned(call.rounds->arena_bytes()), buffers);
}

bool AggregatedRun::progress() noexcept {
  if (status_ != 0) return true;
  const bool has_large = call_->large != nullptr;
  rounds_done_ = rounds_done_ || aggregation_.progress();
  large_done_ = large_done_ || execution_.progress();
  if (rounds_done_) status_ = aggregation_.status();
  if (status_ == 0 && has_large && large_done_) status_ = execution_.status();
  if (status_ == 0) return rounds_done_ && large_done_;
  aggregation_.fail(status_);
  if (has_large) execution_.give_up(status_);
  return true;
}

std::array<unsigned long long, k_fixed_counters> AggregatedRun::counted(const std::vector<int>& node_of) const {
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
  if (call_->large != nullptr) call_->large->for_each_send(sent);
  add(Counter::calls, 1);
  add(Counter::plan_hits, 1);
  add(Counter::bytes, call_->counted_bytes);
  return per_run;
}

}  // namespace colltopo
