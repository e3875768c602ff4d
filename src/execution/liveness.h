// Where the values of scratch lie when memory is reused: a slot holds a value from the write that makes it to the last
// op that touches it, and the values that are alive in one step lie apart.
//
// Memory is given to another value in a later step only. Reuse makes an op wait for ops of earlier steps, and where no
// rank's steps decrease such waits close no cycle: a message has one step at both ends, and every other edge of the
// deadlock graph (colltopo/verify.h) leads to the same step or a later one, so a cycle has one step throughout and none
// of these edges.
#pragma once

#include <cstdint>
#include <vector>

#include "colltopo/plan.h"

namespace colltopo {

class ScratchPlaces {
 public:
  /// The program's steps must not decrease. Time in proportion to its runs, with a logarithm for the values that begin,
  /// and a bit per slot.
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
  /// Of a cell: slots that all ops touch together.
  struct Value {
    Chunk slot, count;
    std::uint32_t begin, end;
  };

  /// The cell of a slot that some run has.
  std::uint32_t cell_of(Chunk slot) const;
  Chunk end_of_cell(Chunk slot) const;
  /// In order of begin, then of slots.
  std::vector<Value> values_of(const Program& program, std::uint32_t cells) const;
  void find_items(const Program& program, std::uint32_t cells);
  template <class Free>
  void give_places();
  const Item& item_of(Chunk slot, std::uint32_t op) const;

  Chunk classes_;
  std::vector<std::uint64_t> begins_;          // a bit per slot: a cell begins there
  std::vector<std::uint32_t> cells_before_;    // [word of begins_]
  std::vector<Item> items_;                    // in order of begin
  std::vector<std::uint32_t> first_item_;      // [cell] index into items_of_cells_
  std::vector<std::uint32_t> items_of_cells_;  // in order of begin
  Chunk units_ = 0;
};

}  // namespace colltopo
