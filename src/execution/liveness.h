// Where the values of scratch lie when memory is reused: a slot holds a value from the write that makes it to the last
// op that touches it, and the values that are alive in one step lie apart.
//
// Memory is given to another value in a later step only. Reuse makes an op wait for ops of earlier steps, and where no
// rank's steps decrease such waits close no cycle: a message has one step at both ends, and every other edge of the
// deadlock graph (colltopo/verify.h) leads to the same step or a later one, so a cycle has one step throughout and none
// of these edges.
#pragma once

#include <vector>

#include "colltopo/plan.h"

namespace colltopo {

class ScratchPlaces {
 public:
  /// The program's steps must not decrease. Time O(slots touched, with a logarithm for the values that begin).
  explicit ScratchPlaces(const Program& program);

  /// Units of memory in all, each of the largest chunk.
  Chunk units() const { return units_; }
  /// Appends where a run of scratch slots lies when `op` touches it. To be asked once per op and run, in program order,
  /// sources before targets.
  void append(std::uint32_t op, const Run& run, std::vector<PlacedRun>& stretches) const;

 private:
  /// Consecutive slots whose values begin and end with the same ops: they stay together.
  struct Item {
    Chunk first, count;
    std::uint32_t begin, end;  // ops
    Step first_step, last_step;
    Chunk unit = 0;
  };
  struct Value {
    Chunk slot;
    std::uint32_t begin, end;
  };

  void find_items(const Program& program);
  void give_places();
  const Item& item_of(Chunk slot, std::uint32_t op) const;

  Chunk classes_;
  std::vector<Item> items_;                     // in order of begin
  std::vector<std::vector<std::uint32_t>> at_;  // [slot] its items, in order of begin
  Chunk units_ = 0;
};

}  // namespace colltopo
