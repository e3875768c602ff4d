#include "execution/liveness.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <map>
#include <queue>
#include <set>

namespace colltopo {

namespace {

/// Ranges of units that are free, joined where they meet.
class FreeRanges {
 public:
  /// The smallest range that is large enough, of such the first; the end of memory where there is none.
  Chunk take(Chunk count) {
    const auto best = by_length_.lower_bound({count, 0});
    if (best == by_length_.end()) return grow(count);
    const auto [length, first] = *best;
    forget(ranges_.find(first));
    if (length > count) note(first + count, length - count);
    return first;
  }
  void give(Chunk first, Chunk count) {
    const auto next = ranges_.lower_bound(first);
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == first) {
        first = before->first;
        count += before->second;
        forget(before);
      }
    }
    if (next != ranges_.end() && next->first == first + count) {
      count += next->second;
      forget(next);
    }
    note(first, count);
  }
  Chunk end() const { return end_; }

 private:
  struct Length {
    Chunk count, first;
    auto operator<=>(const Length&) const = default;
  };

  void note(Chunk first, Chunk count) {
    ranges_.emplace(first, count);
    by_length_.insert({count, first});
  }
  void forget(std::map<Chunk, Chunk>::iterator range) {
    by_length_.erase({range->second, range->first});
    ranges_.erase(range);
  }
  // A free range at the end is grown, not left.
  Chunk grow(Chunk count) {
    Chunk first = end_;
    if (!ranges_.empty()) {
      const auto last = std::prev(ranges_.end());
      if (last->first + last->second == end_) {
        first = last->first;
        forget(last);
      }
    }
    end_ = first + count;
    return first;
  }

  std::map<Chunk, Chunk> ranges_;  // first unit -> count
  std::set<Length> by_length_;
  Chunk end_ = 0;
};

/// The same where everything is one unit: the first one that is free.
class FreeUnits {
 public:
  Chunk take(Chunk) {
    while (first_ < groups_.size() && groups_[first_] == 0) ++first_;
    if (first_ == groups_.size()) return end_++;
    const std::size_t word = 64 * first_ + low(groups_[first_]);
    const std::size_t unit = 64 * word + low(words_[word]);
    words_[word] &= words_[word] - 1;
    if (words_[word] == 0) groups_[first_] &= groups_[first_] - 1;
    return static_cast<Chunk>(unit);
  }
  void give(Chunk first, Chunk) {
    const std::size_t unit = static_cast<std::size_t>(first), word = unit / 64, group = word / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    if (group >= groups_.size()) groups_.resize(group + 1);
    words_[word] |= std::uint64_t{1} << unit % 64;
    groups_[group] |= std::uint64_t{1} << word % 64;
    first_ = std::min(first_, group);
  }
  Chunk end() const { return end_; }

 private:
  static std::size_t low(std::uint64_t bits) { return static_cast<std::size_t>(std::countr_zero(bits)); }

  std::vector<std::uint64_t> words_, groups_;  // a bit per free unit, and per word that has one
  std::size_t first_ = 0;                      // no group before it has any
  Chunk end_ = 0;
};

}  // namespace

// A cell begins where some run begins or ends, and where a period of size classes does: offsets there begin again.
ScratchPlaces::ScratchPlaces(const Program& program) : classes_(program.shape().classes()) {
  const auto slots = static_cast<std::size_t>(program.scratch());
  begins_.assign(slots / 64 + 1, 0);
  const auto begin_at = [&](Chunk slot) {
    begins_[static_cast<std::size_t>(slot) / 64] |= std::uint64_t{1} << slot % 64;
  };
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    for (const auto runs : {op.source, op.target}) {
      for (const Run& run : runs) {
        if (run.buffer != Buffer::scratch) continue;
        begin_at(run.first);
        begin_at(run.first + run.count);
        for (Chunk next = (run.first / classes_ + 1) * classes_; next < run.first + run.count; next += classes_)
          begin_at(next);
      }
    }
  }
  std::uint32_t cells = 0;
  for (const std::uint64_t word : begins_) {
    cells_before_.push_back(cells);
    cells += static_cast<std::uint32_t>(std::popcount(word));
  }
  find_items(program, cells);
  classes_ == 1 ? give_places<FreeUnits>() : give_places<FreeRanges>();
}

std::uint32_t ScratchPlaces::cell_of(Chunk slot) const {
  const auto word = static_cast<std::size_t>(slot) / 64;
  const std::uint64_t up_to = ~std::uint64_t{0} >> (63 - slot % 64);
  return cells_before_[word] + static_cast<std::uint32_t>(std::popcount(begins_[word] & up_to)) - 1;
}

Chunk ScratchPlaces::end_of_cell(Chunk slot) const {
  const auto next = static_cast<std::size_t>(slot) + 1;
  std::size_t word = next / 64;
  std::uint64_t bits = begins_[word] & ~std::uint64_t{0} << next % 64;
  while (bits == 0) bits = begins_[++word];
  return static_cast<Chunk>(64 * word + static_cast<std::size_t>(std::countr_zero(bits)));
}

std::vector<ScratchPlaces::Value> ScratchPlaces::values_of(const Program& program, std::uint32_t cells) const {
  std::vector<Value> values;
  constexpr std::uint32_t k_none = ~std::uint32_t{0};
  std::vector<std::uint32_t> current(cells, k_none);  // [cell] its value
  const auto by_slot = [](const Value& a, const Value& b) { return a.slot < b.slot; };
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    const std::size_t before = values.size();
    const auto touch = [&](const Run& run, bool makes) {
      if (run.buffer != Buffer::scratch) return;
      std::uint32_t cell = cell_of(run.first);
      for (Chunk slot = run.first, end = 0; slot < run.first + run.count; slot = end, ++cell) {
        end = end_of_cell(slot);
        std::uint32_t& value = current[cell];
        if (makes || value == k_none) {
          value = static_cast<std::uint32_t>(values.size());
          values.push_back({slot, end - slot, i, i});
        }
        values[value].end = i;
      }
    };
    for (const Run& run : op.source) touch(run, false);
    for (const Run& run : op.target) touch(run, op.action != Action::reduce);
    const auto made = values.begin() + static_cast<std::ptrdiff_t>(before);
    if (std::is_sorted(made, values.end(), by_slot)) continue;
    std::stable_sort(made, values.end(), by_slot);
    for (std::size_t v = before; v < values.size(); ++v)
      current[cell_of(values[v].slot)] = static_cast<std::uint32_t>(v);
  }
  return values;
}

void ScratchPlaces::find_items(const Program& program, std::uint32_t cells) {
  const std::vector<Value> values = values_of(program, cells);
  std::vector<std::uint32_t> item_of_value;
  item_of_value.reserve(values.size());
  first_item_.assign(cells + 1, 0);
  for (const Value& value : values) {
    Item* const last = items_.empty() ? nullptr : &items_.back();
    if (last != nullptr && last->begin == value.begin && last->end == value.end &&
        last->first + last->count == value.slot && value.slot % classes_ != 0)
      last->count += value.count;
    else
      items_.push_back(
          {value.slot, value.count, value.begin, value.end, program.op(value.begin).step, program.op(value.end).step});
    item_of_value.push_back(static_cast<std::uint32_t>(items_.size() - 1));
    ++first_item_[cell_of(value.slot) + 1];
  }
  for (std::uint32_t cell = 0; cell < cells; ++cell) first_item_[cell + 1] += first_item_[cell];
  items_of_cells_.resize(values.size());
  std::vector<std::uint32_t> next(first_item_.begin(), first_item_.end() - 1);
  for (std::size_t v = 0; v < values.size(); ++v) items_of_cells_[next[cell_of(values[v].slot)]++] = item_of_value[v];
}

template <class Free>
void ScratchPlaces::give_places() {
  Free free;
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
  const std::uint32_t cell = cell_of(slot);
  const auto begin = items_of_cells_.begin() + first_item_[cell], end = items_of_cells_.begin() + first_item_[cell + 1];
  const auto after =
      std::upper_bound(begin, end, op, [&](std::uint32_t at, std::uint32_t i) { return at < items_[i].begin; });
  assert(after != begin);
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
