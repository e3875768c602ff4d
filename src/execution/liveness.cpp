#include "execution/liveness.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <queue>

namespace colltopo {

namespace {

/// Ranges of units that are free, joined where they meet.
class FreeUnits {
 public:
  /// The smallest range that is large enough; the end of memory where there is none.
  Chunk take(Chunk count) {
    auto best = ranges_.end();
    for (auto range = ranges_.begin(); range != ranges_.end(); ++range) {
      if (range->second >= count && (best == ranges_.end() || range->second < best->second)) best = range;
    }
    if (best == ranges_.end()) return grow(count);
    const auto [first, length] = *best;
    ranges_.erase(best);
    if (length > count) ranges_.emplace(first + count, length - count);
    return first;
  }
  void give(Chunk first, Chunk count) {
    auto next = ranges_.lower_bound(first);
    if (next != ranges_.end() && next->first == first + count) {
      count += next->second;
      next = ranges_.erase(next);
    }
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == first) {
        before->second += count;
        return;
      }
    }
    ranges_.emplace(first, count);
  }
  Chunk end() const { return end_; }

 private:
  // A free range at the end is grown, not left.
  Chunk grow(Chunk count) {
    Chunk first = end_;
    if (!ranges_.empty()) {
      const auto last = std::prev(ranges_.end());
      if (last->first + last->second == end_) {
        first = last->first;
        ranges_.erase(last);
      }
    }
    end_ = first + count;
    return first;
  }
  std::map<Chunk, Chunk> ranges_;  // first unit -> count
  Chunk end_ = 0;
};

}  // namespace

ScratchPlaces::ScratchPlaces(const Program& program)
    : classes_(program.shape().classes()), at_(static_cast<std::size_t>(program.scratch())) {
  find_items(program);
  give_places();
}

void ScratchPlaces::find_items(const Program& program) {
  std::vector<Value> values;
  constexpr std::uint32_t k_none = ~std::uint32_t{0};
  std::vector<std::uint32_t> current(static_cast<std::size_t>(program.scratch()), k_none);  // [slot] its value
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    const auto touch = [&](const Run& run, bool makes) {
      if (run.buffer != Buffer::scratch) return;
      for (Chunk slot = run.first; slot < run.first + run.count; ++slot) {
        std::uint32_t& value = current[static_cast<std::size_t>(slot)];
        if (makes || value == k_none) {
          value = static_cast<std::uint32_t>(values.size());
          values.push_back({slot, i, i});
        }
        values[value].end = i;
      }
    };
    for (const Run& run : op.source) touch(run, false);
    for (const Run& run : op.target) touch(run, op.action != Action::reduce);
  }
  std::ranges::sort(values, {}, [](const Value& v) { return std::pair(v.begin, v.slot); });
  for (const Value& value : values) {
    if (!items_.empty()) {
      Item& last = items_.back();
      // Not over the end of a period of size classes: offsets there begin again.
      if (last.begin == value.begin && last.end == value.end && last.first + last.count == value.slot &&
          value.slot % classes_ != 0) {
        ++last.count;
        at_[static_cast<std::size_t>(value.slot)].push_back(static_cast<std::uint32_t>(items_.size() - 1));
        continue;
      }
    }
    items_.push_back({value.slot, 1, value.begin, value.end, program.op(value.begin).step, program.op(value.end).step});
    at_[static_cast<std::size_t>(value.slot)].push_back(static_cast<std::uint32_t>(items_.size() - 1));
  }
}

void ScratchPlaces::give_places() {
  FreeUnits free;
  const auto ends_later = [&](std::uint32_t a, std::uint32_t b) { return items_[a].last_step > items_[b].last_step; };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(ends_later)> alive(ends_later);
  for (std::uint32_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    while (!alive.empty() && items_[alive.top()].last_step < item.first_step) {
      free.give(items_[alive.top()].unit, items_[alive.top()].count);
      alive.pop();
    }
    item.unit = free.take(item.count);
    alive.push(i);
  }
  units_ = free.end();
}

const ScratchPlaces::Item& ScratchPlaces::item_of(Chunk slot, std::uint32_t op) const {
  const std::vector<std::uint32_t>& items = at_[static_cast<std::size_t>(slot)];
  const auto after = std::ranges::upper_bound(items, op, {}, [&](std::uint32_t i) { return items_[i].begin; });
  assert(after != items.begin());
  return items_[*std::prev(after)];
}

void ScratchPlaces::append(std::uint32_t op, const Run& run, std::vector<PlacedRun>& stretches) const {
  for (Chunk slot = run.first; slot < run.first + run.count;) {
    const Item& item = item_of(slot, op);
    const Chunk count = std::min(item.first + item.count, run.first + run.count) - slot;
    stretches.push_back({Buffer::scratch, slot, count, item.unit, item.first});
    slot += count;
  }
}

}  // namespace colltopo
