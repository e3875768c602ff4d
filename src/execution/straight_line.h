// A small plan as one line of moves, messages and waits: what the executor's queues would find out in every call is
// found out once.
//
// Ops can be started one after the other, each once the receives that it needs are complete, if no op waits for a send:
// a rank then blocks only where its program itself does, run with buffered sends, and that ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "colltopo/execution.h"

namespace colltopo {

class StraightLine {
 public:
  /// Contiguous bytes of a buffer.
  struct Place {
    Buffer buffer = Buffer::input;
    std::size_t offset = 0;
  };

  /// All that `add_` takes is one piece. `awaited`: receives (by number of message, from 0) that must be complete
  /// before.
  void add_message(Action action, Rank peer, Lane lane, Place place, std::size_t bytes,
                   std::span<const std::uint32_t> awaited);
  /// `needed`: an op further on waits for it. A move that is not is put off until there is something to wait for.
  void add_move(Action action, Place source, Place target, std::size_t bytes, std::size_t elements,
                std::span<const std::uint32_t> awaited, bool needed);
  /// Waits for every message that nothing has waited for.
  void finish();

  /// `bases`: the memory of each Buffer. 0 or the first error code.
  int run(Transport& transport, std::byte* const* bases, const Call& call) noexcept;

 private:
  enum class Kind : std::uint8_t { send, recv, copy, reduce, wait };
  struct Entry {
    Kind kind;
    std::uint8_t source, target;  // Buffer
    Lane lane;
    Rank peer;
    std::uint32_t message;
    std::size_t source_offset, target_offset;
    std::size_t size;  // bytes; elements for reduce
  };
  void await(std::span<const std::uint32_t> messages);
  void add_put_off();

  std::vector<Entry> entries_, put_off_;
  std::vector<Transport::Request> requests_;  // [message]
  std::vector<bool> awaited_;                 // [message]
};

}  // namespace colltopo
