// Several workers, each with memory of its own, that make one thing together: the processes of an mpirun, say.
//
// All members run the same program on the same input and decide alike, because everything that they decide by is equal
// on all of them to the last bit. What is theirs alone, clocks for one, they agree on first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace colltopo {

class Team {
 public:
  virtual ~Team() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  /// Replaces each value by the sum of those that the members have in its place, with the same bits on all. Collective:
  /// all members call it, with equally many values.
  virtual void sum(std::span<double> values) = 0;
  /// What every member gives, by rank, on rank 0; nothing on the others. Collective.
  virtual std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes) = 0;
  /// No member calls any other one after this: those that wait would only take processors from those that go on.
  /// Collective.
  virtual void leave() {}

 protected:
  Team() = default;
  Team(const Team&) = default;
  Team& operator=(const Team&) = default;
};

/// Whether it is true of any member; nullptr is a team of one.
inline bool any_member(Team* team, bool mine) {
  if (team == nullptr) return mine;
  double count = mine ? 1 : 0;
  team->sum({&count, 1});
  return count > 0;
}

/// The sum over all members.
inline double sum_over(Team* team, double mine) {
  if (team != nullptr) team->sum({&mine, 1});
  return mine;
}

/// [member] what each has.
inline std::vector<std::uint64_t> counts_by_member(Team* team, std::uint64_t mine) {
  if (team == nullptr) return {mine};
  std::vector<double> counts(static_cast<std::size_t>(team->ranks()), 0);
  counts[static_cast<std::size_t>(team->rank())] = static_cast<double>(mine);
  team->sum(counts);
  return {counts.begin(), counts.end()};
}

}  // namespace colltopo
