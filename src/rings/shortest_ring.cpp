// The ring with the shortest longest path (Faraj et al., Algorithm 3).
//
// As in the paper, arrays of subtrees are built from the leaves up, told apart by the heights of their first and last
// machine. Other than there, the longest path is fixed before and only what is possible with it is kept: then lower
// ends are better ends, few pairs of heights are worth keeping, and how subtrees are joined is a matter of counting
// (chain.h). The least length that works is found by doubling and halving.
#include <algorithm>
#include <optional>

#include "base/index.h"
#include "colltopo/rings.h"
#include "rings/chain.h"
#include "rings/sequences.h"

namespace colltopo {

namespace {

/// Arrays of all subtrees, if every path may have up to `length` switches.
class Arrays {
 public:
  Arrays(const SpanningTree& tree, int length) : tree_(tree), reach_(length - 1), ends_(tree.switches.size()) {
    // Children have higher numbers than their parents.
    for (std::size_t at = tree.switches.size(); at-- > 1;) {
      for (const Ends& ends : chain(at).ends())
        // Everything but the whole is joined to something, so nothing may be higher than a path is long.
        if (std::max(ends.first, ends.last) < reach_) ends_[at].push_back({ends.first + 1, ends.last + 1});
      if (ends_[at].empty()) return;
    }
    exists_ = chain(0).closes();
  }

  bool ring_exists() const { return exists_; }

  Sequences sequences() const {
    Sequences result(tree_.switches.size());
    std::vector<std::optional<Ends>> wanted(tree_.switches.size());
    for (std::size_t at = 0; at < tree_.switches.size(); ++at) {
      const TreeSwitch& own = tree_.switches[at];
      auto machine = own.machines.begin();
      for (const Chain::Link& link : chain(at).sequence(wanted[at])) {
        if (link.array < 0) {
          result[at].push_back({.machine = *machine++});
          continue;
        }
        const std::int32_t child = own.children[index(link.array)];
        wanted[index(child)] = Ends{link.ends.first - 1, link.ends.last - 1};
        result[at].push_back({.subtree = child});
      }
    }
    return result;
  }

 private:
  Chain chain(std::size_t at) const {
    const TreeSwitch& own = tree_.switches[at];
    Chain result{reach_, static_cast<int>(own.machines.size()), {}};
    for (const std::int32_t child : own.children) result.arrays.push_back(ends_[index(child)]);
    return result;
  }

  const SpanningTree& tree_;
  int reach_;
  std::vector<EndsChoice> ends_;  // [switch] seen from its parent
  bool exists_ = false;
};

}  // namespace

std::vector<Rank> lr3_order(const Topology& topology, const SpanningTree& tree) {
  std::vector<Rank> walk = lr1_order(topology, tree);
  int possible = facts_of(tree, walk).longest_path;
  if (possible <= 1) return walk;
  int impossible = 0;
  for (int length = 1; length < possible; length = length < 4 ? length + 1 : 2 * length) {
    if (Arrays(tree, length).ring_exists()) {
      possible = length;
      break;
    }
    impossible = length;
  }
  while (possible - impossible > 1) {
    const int length = impossible + (possible - impossible) / 2;
    (Arrays(tree, length).ring_exists() ? possible : impossible) = length;
  }
  return ring_of(tree, Arrays(tree, possible).sequences());
}

}  // namespace colltopo
