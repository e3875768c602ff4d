// Bruck's exchange with any radix, shared by TRA and TRA2 (Fan et al., III-A).
//
// `size` members stand on a circle; each has one bundle for every distance 1 .. size-1. Round (x, z) moves the bundles
// whose distance has digit x equal to z (in base r) by z r^x members, so after all rounds each bundle has travelled its
// distance. Bundles keep their distance as their name, so nothing is rotated: a bundle is read from where the user has
// it on its first hop, lies in scratch between hops, and lands where the user wants it on its last.
#pragma once

#include <string_view>
#include <vector>

#include "colltopo/algorithms.h"

namespace colltopo {

/// One round of an exchange among some members; K is the number of rounds, D the sum of the distances' numbers.
struct BruckRound {
  Rank hop = 0;                 // z r^x: members that a message passes
  Rank unit = 1;                // r^x: a bundle has travelled distance % unit before the round
  std::vector<Rank> distances;  // of the bundles that move, in the order in which they lie in the message

  /// Whether this is the bundle's last hop.
  bool arrives(Rank distance) const { return distance < hop + unit; }
};

/// The rounds that move anything, digit 0 first (Propositions 1 and 3). The order within a message makes what is
/// received contiguous: first the bundles that arrive, from far to near, then those that are in scratch for the first
/// or second time, then the rest.
std::vector<BruckRound> bruck_rounds(Rank size, int radix);

/// K and D of `size` members, without making the rounds.
struct BruckCount {
  double rounds = 0, bundles = 0;
};
BruckCount bruck_count(Rank size, int radix);

/// The least radix, 2 or more, with which so many digits number the members.
int least_radix(Rank size, int digits);
/// ceil(sqrt(size)), at least 2: few rounds without much data (Fan et al., III-B).
int balanced_radix(Rank size);

/// The radix that the options give, no larger than the members; without one `otherwise`, or the balanced one.
int fitted_radix(const OptionValues& values, std::string_view name, Rank size, int otherwise);
int fitted_radix(const OptionValues& values, std::string_view name, Rank size);
/// What `auto` tries: the value given, or radices from fewest rounds to least data.
std::vector<int> radices_to_try(const OptionValues& values, std::string_view name, Rank size);
Option radix_option(std::string_view name, std::string_view about, std::string_view otherwise);

}  // namespace colltopo
