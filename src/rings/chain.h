// Joining arrays below one switch into one, with no junction longer than allowed: what replaces the enumeration of all
// sequences in Algorithm 3 (Faraj et al., 4.2.2).
//
// A junction joins the last machine of one array, at height k below the switch, to the first of the next, at height l;
// its path has k + l + 1 switches. Let `reach` = (longest path allowed) - 1, so k + l <= reach. Draw a level for every
// height 0..reach and every array as an arc from level (reach - first height) to level (last height): an array may
// follow whatever ended at its tail level or below. So a sequence of all arrays is a closed trail over all arcs that
// may climb a level whenever it wants, and such a trail exists if and only if
//   - between every two adjacent levels at least as many arcs go down as go up (the trail climbs the difference), and
//   - arcs and climbs hang together (Euler).
// Both are conditions on sums over arcs, so which ends each array should have is a dynamic programme over those sums;
// no order is ever enumerated. An array that must begin and end at given heights is a closed trail with one arc more.
#pragma once

#include <optional>
#include <vector>

namespace colltopo {

/// Heights of the first and the last machine of an array; of a machine alone, 0 and 0.
struct Ends {
  int first = 0;
  int last = 0;

  friend bool operator==(const Ends&, const Ends&) = default;
};

/// What an array can be, none of which is better than another at both ends; sorted by first.
using EndsChoice = std::vector<Ends>;

struct Chain {
  int reach = 0;
  int machines = 0;
  std::vector<EndsChoice> arrays;  // each not empty; heights up to `reach`

  /// The ends that all machines and arrays together can have; empty: there is no sequence.
  EndsChoice ends() const;
  /// Whether they can be put into a circle.
  bool closes() const;

  struct Link {
    int array = -1;  // -1: a machine
    Ends ends;
  };
  /// A sequence whose ends are at most as high as `outer`; without it, a circle. There must be one.
  std::vector<Link> sequence(const std::optional<Ends>& outer) const;
};

}  // namespace colltopo
