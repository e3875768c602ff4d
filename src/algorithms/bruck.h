// Bruck's exchange with any radix, shared by TRA and TRA2 (Fan et al., III-A).
//
// `size` members stand on a circle; each has one bundle for every distance 1 .. size-1. Round (x, z) moves the bundles
// whose distance has digit x equal to z (in base r) by z r^x members, so after all rounds each bundle has travelled its
// distance. Bundles keep their distance as their name, so nothing is rotated: a bundle is read from where the user has
// it on its first hop, lies in scratch between hops, and lands where the user wants it on its last.
#pragma once

#include <vector>

#include "colltopo/program.h"

namespace colltopo {

/// Round (x, z) of an exchange among some members; K is the number of rounds, D the sum of the distances' numbers.
struct BruckRound {
  Rank hop = 0;                 // z r^x: members that a message passes
  Rank unit = 1;                // r^x: a bundle has travelled distance % unit before the round
  std::vector<Rank> distances;  // of the bundles that move, in the order in which they lie in the message
};

/// The rounds that move anything, digit 0 first (Propositions 1 and 3). The order within a message makes what is
/// received contiguous: first the bundles that arrive, from far to near, then those that are in scratch for the first
/// or second time, then the rest.
std::vector<BruckRound> bruck_rounds(Rank size, int radix);

/// ceil(sqrt(size)), at least 2: few rounds without much data (Fan et al., III-B).
int balanced_radix(Rank size);

/// What the bundles hold, as one member sees it. A bundle is cut into parcels, which may take different ways through
/// groups of unequal sizes; all ranks list the parcels of a bundle in the same order.
class BruckTraffic {
 public:
  struct Parcel {
    Rank column = 0;   // which way the parcel takes; orders the parcels of a bundle
    Chunk chunks = 0;  // of the parcel
  };

  virtual ~BruckTraffic() = default;

  /// The parcels of the bundle `distance` that are at this rank after the bundle has travelled `travelled`.
  virtual void parcels(Rank distance, Rank travelled, std::vector<Parcel>& found) const = 0;
  /// The rank that holds parcels of this column `offset` members further along the circle; -size < offset < size.
  virtual Rank rank_at(Rank offset, Rank column) const = 0;
  /// Appends where a parcel lies before its first hop, and where it belongs after its last.
  virtual void source(Rank distance, Rank column, Runs& runs) const = 0;
  virtual void target(Rank distance, Rank column, Runs& runs) const = 0;
};

/// Appends this member's part of the rounds as steps before+1, before+2, ...; parcels in transit take scratch from slot
/// `scratch` on.
void add_bruck_rounds(ProgramBuilder& program, Rank size, const std::vector<BruckRound>& rounds,
                      const BruckTraffic& traffic, Step before, Chunk scratch);

}  // namespace colltopo
