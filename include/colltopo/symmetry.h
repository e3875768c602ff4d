// A group of permutations of a network's nodes that moves every host: what makes one rank's part of a schedule that of
// all ranks.
//
// The group acts freely on the hosts: only the identity leaves a host where it is. So a host is one representative of
// its orbit moved by one element, and there is nothing to choose. Generators a1, a2, ... stand in such an order that
// each normalizes the group of those behind it and that its power of its own order lies in there (a polycyclic
// sequence: Holt, Eick, O'Brien, Handbook of Computational Group Theory, 8.1). Every element is then
// a1^e1 a2^e2 ... with 0 <= ei < order i in exactly one way, and its number is that of the digits e1 e2 ..., the last
// varying fastest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace colltopo {

/// One generator.
struct Generator {
  std::int32_t order = 2;           // the least power that lies in the group of the generators behind it
  std::vector<std::int32_t> image;  // [node] where it goes; hosts come first

  friend bool operator==(const Generator&, const Generator&) = default;
};

class Symmetry {
 public:
  Symmetry() = default;
  /// `representatives`: one host of each orbit. Time and memory O(hosts * generators). Throws Error saying what is
  /// wrong when an image is no permutation that keeps hosts apart from switches, or when the elements do not take the
  /// representatives to every host exactly once. That they are a group is for fault() to prove.
  Symmetry(std::int32_t hosts, std::vector<Generator> generators, std::vector<std::int32_t> representatives);

  std::int32_t hosts() const { return hosts_; }
  const std::vector<Generator>& generators() const { return generators_; }
  /// Of the orbits, in the order in which they were given.
  const std::vector<std::int32_t>& representatives() const { return representatives_; }
  std::int32_t orbits() const { return static_cast<std::int32_t>(representatives_.size()); }
  std::int32_t elements() const { return elements_; }

  /// Where an element takes the representative of an orbit.
  std::int32_t host(std::int32_t element, std::int32_t orbit) const {
    return host_[static_cast<std::size_t>(orbit) * static_cast<std::size_t>(elements_) +
                 static_cast<std::size_t>(element)];
  }
  std::int32_t orbit_of(std::int32_t host) const { return place_of(host) / elements_; }
  std::int32_t element_of(std::int32_t host) const { return place_of(host) % elements_; }

  /// [node] where an element takes it.
  std::vector<std::int32_t> moved_by(std::int32_t element) const;
  /// [element m] the number of `element` m.
  std::vector<std::int32_t> products(std::int32_t element) const;
  /// [element] the number of its inverse.
  std::vector<std::int32_t> inverses() const;

  /// Empty when the elements are a group, on switches as on hosts; otherwise which relation of generators fails. Time
  /// O(nodes * generators^2 * log order).
  std::string fault() const;

  friend bool operator==(const Symmetry& a, const Symmetry& b) {
    return a.hosts_ == b.hosts_ && a.generators_ == b.generators_ && a.representatives_ == b.representatives_;
  }

 private:
  std::int32_t place_of(std::int32_t host) const { return place_[static_cast<std::size_t>(host)]; }
  /// How many elements the generators behind generator `number` make.
  std::int32_t behind(std::size_t number) const { return behind_[number]; }
  std::int32_t digit(std::int32_t element, std::size_t number) const {
    return element / behind(number) % generators_[number].order;
  }
  void lay_out();
  bool commute() const;

  std::int32_t hosts_ = 0, elements_ = 1;
  std::vector<Generator> generators_;
  std::vector<std::int32_t> representatives_;
  std::vector<std::int32_t> behind_;  // [generator]
  std::vector<std::int32_t> host_;    // [orbit][element]
  std::vector<std::int32_t> place_;   // [host] into host_
};

/// The generator that turns one digit of the hosts' numbers: blocks of `block` hosts, `order` of which follow each
/// other, go to the place of the next, the last to that of the first. `switches`: where each of them goes.
Generator turn(std::int32_t hosts, std::int32_t block, std::int32_t order, std::vector<std::int32_t> switches = {});
/// The block of a generator that is such a turn on the hosts; 0: it is none.
std::int32_t block_of_turn(std::int32_t hosts, const Generator& generator);

}  // namespace colltopo
