// The chunks of all buffers of a rank, numbered so that chunks that are the same memory have the same number.
#pragma once

#include <algorithm>
#include <cstddef>

#include "colltopo/program.h"

namespace colltopo {

class Cells {
 public:
  /// `in_place`: input lies in output at Shape::in_place_offset (and may reach beyond it), or output in input.
  Cells(const Shape& shape, Rank rank, Chunk scratch, bool in_place) {
    const Chunk inputs = shape.input_chunks(rank), outputs = shape.output_chunks(rank);
    const Chunk offset = shape.in_place_offset(rank);
    input_ = in_place ? std::max(offset, 0) : outputs;
    output_ = in_place ? std::max(-offset, 0) : 0;
    scratch_ = in_place ? std::max(output_ + outputs, input_ + inputs) : inputs + outputs;
    size_ = static_cast<std::size_t>(scratch_) + static_cast<std::size_t>(scratch);
  }

  std::size_t size() const { return size_; }
  std::size_t at(Buffer buffer, Chunk chunk) const {
    const Chunk base = buffer == Buffer::input ? input_ : buffer == Buffer::output ? output_ : scratch_;
    return static_cast<std::size_t>(base) + static_cast<std::size_t>(chunk);
  }

 private:
  Chunk input_ = 0, output_ = 0, scratch_ = 0;
  std::size_t size_ = 0;
};

}  // namespace colltopo
