// The calls of late of a communicator, for the common case of many equal ones: what is known of each need not be looked
// up, decided or made again.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "colltopo/colltopo.h"
#include "comm/operation.h"
#include "comm/selector.h"

namespace colltopo {

/// A call by all that decides, and what runs it.
struct RecentCall {
  std::size_t count = 0, element_size = 0;
  int root = 0, op_properties = 0, in_place = 0;
  bool valid = false;
  bool previous_is_wrong = false;
  std::vector<std::size_t> sizes;  // as keep_sizes() has them
  std::size_t decisive_bytes = 0;  // of a call that has blocks of sizes of their own
  std::shared_ptr<Ready> ready;    // null: declined
};

/// Of one form of calls. A few of each collective are known, in memory that is made when the first of them is.
class RecentCalls {
 public:
  static constexpr std::size_t k_most = 8;  // of a collective

  RecentCalls(Rank rank, Rank ranks) noexcept : rank_(rank), ranks_(ranks) { hide(); }
  RecentCalls(const RecentCalls&) = delete;
  RecentCalls& operator=(const RecentCalls&) = delete;

  /// Null: not among those.
  const RecentCall* find(Collective collective, const colltopo_call& call) const noexcept {
    const Block& all = *seen_[index_of(collective)];
    const std::size_t first = place_of(call);
    if (is_like(all[first], collective, call)) [[likely]]
      return &all[first];
    return find_elsewhere(all, first, collective, call);
  }
  /// All that are known of a collective.
  std::span<const RecentCall> of(Collective collective) const noexcept { return *seen_[index_of(collective)]; }
  /// Takes the place of one that is not known any more, or of the one whose turn it is. Throws std::bad_alloc.
  void note(Collective collective, const colltopo_call& call, std::shared_ptr<Ready> ready);
  void forget() noexcept;
  void forget(Collective collective) noexcept;
  /// Nothing is found until show().
  void hide() noexcept { seen_.fill(&k_none); }
  void show() noexcept;
  std::size_t memory_bytes() const noexcept;

 private:
  using Block = std::array<RecentCall, k_most>;
  static const Block k_none;

  // Where the search for a call begins.
  static std::size_t place_of(const colltopo_call& call) noexcept {
    const std::size_t mixed =
        (call.count * call.element_size + static_cast<std::size_t>(call.root)) * 0x9E3779B97F4A7C15u;
    return mixed >> 61;
  }
  bool is_like(const RecentCall& entry, Collective collective, const colltopo_call& call) const noexcept {
    if (!entry.valid || entry.element_size != call.element_size || entry.root != call.root ||
        entry.op_properties != call.op_properties || entry.in_place != call.in_place ||
        entry.previous_is_wrong != (call.previous_is_wrong != 0) || entry.count != call.count)
      return false;
    if (call.counts == nullptr && call.blocks == nullptr) [[likely]]
      return entry.sizes.empty();
    return has_sizes_of(entry, collective, call);
  }
  const RecentCall* find_elsewhere(const Block& all, std::size_t first, Collective collective,
                                   const colltopo_call& call) const noexcept;
  bool has_sizes_of(const RecentCall& entry, Collective collective, const colltopo_call& call) const noexcept;

  Rank rank_, ranks_;
  std::array<const Block*, k_calls> seen_;  // k_none, or as in `known_`
  std::array<std::unique_ptr<Block>, k_calls> known_;
  std::size_t turn_ = 0;
};

}  // namespace colltopo
