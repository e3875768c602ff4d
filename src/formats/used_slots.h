// The slots of scratch that a program uses, without gaps: others' formats count what they name.
#pragma once

#include <algorithm>
#include <vector>

#include "colltopo/program.h"

namespace colltopo {

class UsedSlots {
 public:
  explicit UsedSlots(const Program& program) : used_before_(static_cast<std::size_t>(program.scratch()) + 1, 0) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      for (const auto runs : {op.source, op.target}) {
        for (const Run& run : runs) {
          if (run.buffer == Buffer::scratch) std::fill_n(used_before_.begin() + run.first + 1, run.count, 1);
        }
      }
    }
    for (std::size_t slot = 1; slot < used_before_.size(); ++slot) used_before_[slot] += used_before_[slot - 1];
  }

  Chunk count() const { return used_before_.back(); }
  /// The place of a used slot among them.
  Chunk index(Chunk slot) const { return used_before_[static_cast<std::size_t>(slot)]; }

 private:
  std::vector<Chunk> used_before_;  // [slot] used ones before it, and all
};

}  // namespace colltopo
