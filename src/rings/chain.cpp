// The dynamic programme over sums of arcs, and the trail that realizes its result.
#include "rings/chain.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <span>
#include <utility>

#include "base/index.h"

namespace colltopo {

namespace {

struct Arc {
  int tail = 0;
  int head = 0;
};

Arc arc_of(Ends ends, int reach) { return {reach - ends.first, ends.last}; }
/// From where the array must end to where it must begin.
Arc arc_around(Ends outer, int reach) { return {outer.last, reach - outer.first}; }

/// [level] the least level that hangs together with it; -1: no arc ends here.
using Joined = std::vector<int>;

void join(Joined& joined, int a, int b) {
  for (const int level : {a, b})
    if (joined[index(level)] < 0) joined[index(level)] = level;
  const int kept = std::min(joined[index(a)], joined[index(b)]), gone = std::max(joined[index(a)], joined[index(b)]);
  if (kept == gone) return;
  for (int& level : joined)
    if (level == gone) level = kept;
}

/// Arcs down less arcs up between level t and t + 1.
using Climbs = std::vector<int>;

void add(Climbs& climbs, const Arc& arc) {
  for (int t = arc.head; t < arc.tail; ++t) ++climbs[index(t)];
  for (int t = arc.tail; t < arc.head; ++t) --climbs[index(t)];
}

/// A choice of ends for the arrays so far.
struct State {
  Climbs climbs;
  std::size_t before = 0;  // of the layer before
  int choice = 0;
};

bool at_least(const Climbs& a, const Climbs& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](int x, int y) { return x >= y; });
}

/// All states after some arrays, none with fewer climbs everywhere than another that hangs together alike.
class Layer {
 public:
  void insert(const Joined& joined, State state) {
    std::vector<std::size_t>& alike = by_joined_[joined];
    for (const std::size_t other : alike)
      if (at_least(states_[other].climbs, state.climbs)) return;
    std::erase_if(alike, [&](std::size_t other) { return at_least(state.climbs, states_[other].climbs); });
    alike.push_back(states_.size());
    states_.push_back(std::move(state));
  }

  template <typename Visit>  // (joined, index of the state); true: enough
  bool any(const Visit& visit) const {
    for (const auto& [joined, alike] : by_joined_)
      for (const std::size_t i : alike)
        if (visit(joined, i)) return true;
    return false;
  }
  const State& operator[](std::size_t i) const { return states_[i]; }

 private:
  std::vector<State> states_;  // those that were beaten stay, unused
  std::map<Joined, std::vector<std::size_t>> by_joined_;
};

/// [array] and the end: the most that the arrays from it on can add to each climb.
std::vector<Climbs> most_of_rest(const Chain& chain) {
  std::vector<Climbs> rest(chain.arrays.size() + 1, Climbs(index(chain.reach), 0));
  for (std::size_t i = chain.arrays.size(); i-- > 0;) {
    Climbs most(index(chain.reach), -1);
    for (const Ends& ends : chain.arrays[i]) {
      Climbs own(index(chain.reach), 0);
      add(own, arc_of(ends, chain.reach));
      for (std::size_t t = 0; t < most.size(); ++t) most[t] = std::max(most[t], own[t]);
    }
    for (std::size_t t = 0; t < most.size(); ++t) rest[i][t] = rest[i + 1][t] + most[t];
  }
  return rest;
}

/// [array] and the end: all choices worth keeping before it.
std::vector<Layer> layers_of(const Chain& chain) {
  const std::vector<Climbs> rest = most_of_rest(chain);
  std::vector<Layer> layers(chain.arrays.size() + 1);
  Joined joined(index(chain.reach) + 1, -1);
  if (chain.machines > 0) join(joined, 0, chain.reach);
  layers[0].insert(joined, {Climbs(index(chain.reach), chain.machines), 0, 0});
  for (std::size_t i = 0; i < chain.arrays.size(); ++i) {
    // More than all arrays to come and the one around can take away is the same as this much.
    const int enough = static_cast<int>(chain.arrays.size() - i - 1) + 2;
    layers[i].any([&](const Joined& joined_before, std::size_t before) {
      for (std::size_t choice = 0; choice < chain.arrays[i].size(); ++choice) {
        const Arc arc = arc_of(chain.arrays[i][choice], chain.reach);
        State next{layers[i][before].climbs, before, static_cast<int>(choice)};
        add(next.climbs, arc);
        bool hopeless = false;
        for (std::size_t t = 0; t < next.climbs.size(); ++t) {
          next.climbs[t] = std::min(next.climbs[t], enough);
          hopeless = hopeless || next.climbs[t] + rest[i + 1][t] + 1 < 0;
        }
        if (hopeless) continue;
        Joined joined_after = joined_before;
        join(joined_after, arc.tail, arc.head);
        layers[i + 1].insert(joined_after, std::move(next));
      }
      return false;
    });
  }
  return layers;
}

/// Whether arcs, with one around (for an array) or none (for a circle), are a closed trail.
bool is_trail(Joined joined, Climbs climbs, std::span<const Arc> around) {
  for (const Arc& arc : around) {
    join(joined, arc.tail, arc.head);
    add(climbs, arc);
  }
  for (std::size_t t = 0; t < climbs.size(); ++t) {
    if (climbs[t] < 0) return false;
    if (climbs[t] > 0) join(joined, static_cast<int>(t), static_cast<int>(t) + 1);
  }
  const auto lowest = std::find_if(joined.begin(), joined.end(), [](int level) { return level >= 0; });
  return std::all_of(joined.begin(), joined.end(), [&](int level) { return level < 0 || level == *lowest; });
}

/// Sorted, without those that are not better than another at any end.
EndsChoice best_of(EndsChoice choice) {
  std::sort(choice.begin(), choice.end(),
            [](const Ends& a, const Ends& b) { return std::pair(a.first, a.last) < std::pair(b.first, b.last); });
  EndsChoice best;
  for (const Ends& ends : choice)
    if (best.empty() || ends.last < best.back().last) best.push_back(ends);
  return best;
}

/// Levels and arcs to be walked.
class Trail {
 public:
  explicit Trail(int levels) : leaving_(index(levels)) {}

  void add_arc(const Arc& arc, int label) {
    leaving_[index(arc.tail)].push_back(static_cast<int>(arcs_.size()));
    arcs_.push_back({arc, label});
  }

  /// Labels of all arcs along a closed trail that begins with the first (Hierholzer).
  std::vector<int> walk() {
    constexpr int k_start = -1;
    std::vector<int> labels;
    std::vector<int> stack{k_start};
    while (!stack.empty()) {
      const int level = stack.back() == k_start ? arcs_.front().arc.tail : arcs_[index(stack.back())].arc.head;
      if (leaving_[index(level)].empty()) {
        if (stack.back() != k_start) labels.push_back(arcs_[index(stack.back())].label);
        stack.pop_back();
      } else {
        stack.push_back(leaving_[index(level)].back());
        leaving_[index(level)].pop_back();
      }
    }
    assert(labels.size() == arcs_.size());
    std::reverse(labels.begin(), labels.end());
    std::rotate(labels.begin(), std::find(labels.begin(), labels.end(), arcs_.front().label), labels.end());
    return labels;
  }

 private:
  struct Labelled {
    Arc arc;
    int label = 0;
  };
  std::vector<Labelled> arcs_;
  std::vector<std::vector<int>> leaving_;  // [level] arcs
};

/// A choice per array that makes a closed trail.
std::vector<Ends> chosen_ends(const Chain& chain, std::span<const Arc> around) {
  const std::vector<Layer> layers = layers_of(chain);
  std::size_t state = 0;
  [[maybe_unused]] const bool found = layers.back().any([&](const Joined& joined, std::size_t i) {
    state = i;
    return is_trail(joined, layers.back()[i].climbs, around);
  });
  assert(found);
  std::vector<Ends> ends(chain.arrays.size());
  for (std::size_t i = chain.arrays.size(); i-- > 0;) {
    ends[i] = chain.arrays[i][index(layers[i + 1][state].choice)];
    state = layers[i + 1][state].before;
  }
  return ends;
}

}  // namespace

EndsChoice Chain::ends() const {
  std::vector<int> firsts, lasts;
  if (machines > 0) firsts.push_back(0), lasts.push_back(0);
  for (const EndsChoice& choice : arrays)
    for (const Ends& ends : choice) firsts.push_back(ends.first), lasts.push_back(ends.last);
  for (std::vector<int>* heights : {&firsts, &lasts}) {
    std::sort(heights->begin(), heights->end());
    heights->erase(std::unique(heights->begin(), heights->end()), heights->end());
  }
  const std::vector<Layer> layers = layers_of(*this);
  EndsChoice found;
  int lowest_last = reach + 1;  // so far; a higher one is no gain for a higher first
  for (const int first : firsts)
    for (const int last : lasts) {
      if (last >= lowest_last) break;
      const Arc around[] = {arc_around({first, last}, reach)};
      if (!layers.back().any(
              [&](const Joined& joined, std::size_t i) { return is_trail(joined, layers.back()[i].climbs, around); }))
        continue;
      found.push_back({first, last});
      lowest_last = last;
    }
  return best_of(std::move(found));
}

bool Chain::closes() const {
  const std::vector<Layer> layers = layers_of(*this);
  return layers.back().any(
      [&](const Joined& joined, std::size_t i) { return is_trail(joined, layers.back()[i].climbs, {}); });
}

std::vector<Chain::Link> Chain::sequence(const std::optional<Ends>& outer) const {
  constexpr int k_around = -1, k_climb = -2, k_machine = -3;  // others are arrays
  std::vector<Arc> around;
  if (outer) around.push_back(arc_around(*outer, reach));
  const std::vector<Ends> ends = chosen_ends(*this, around);
  Climbs climbs(index(reach), machines);
  Trail trail(reach + 1);
  for (const Arc& arc : around) {
    trail.add_arc(arc, k_around);
    add(climbs, arc);
  }
  for (int machine = 0; machine < machines; ++machine) trail.add_arc({reach, 0}, k_machine);
  for (int array = 0; array < static_cast<int>(arrays.size()); ++array) {
    const Arc arc = arc_of(ends[index(array)], reach);
    trail.add_arc(arc, array);
    add(climbs, arc);
  }
  for (int level = 0; level < reach; ++level)
    for (int climb = 0; climb < climbs[index(level)]; ++climb) trail.add_arc({level, level + 1}, k_climb);

  std::vector<Link> links;
  for (const int label : trail.walk()) {
    if (label == k_machine) links.push_back({});
    if (label >= 0) links.push_back({label, ends[index(label)]});
  }
  return links;
}

}  // namespace colltopo
