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

  /// What an op waits for.
  struct Before {
    std::span<const std::uint32_t> receives;  // by number of message, from 0
    bool moves = false;                       // some move
  };

  /// All that `add_` takes is one piece.
  void add_message(Action action, Rank peer, Lane lane, Place place, std::size_t bytes, const Before& before);
  /// A move is put off until a message needs it or there is something to wait for.
  void add_move(Action action, Place source, Place target, std::size_t bytes, std::size_t elements,
                const Before& before);
  /// After all `add_`. Messages that nothing has waited for are waited for at the end of every run.
  void finish();

  /// `scratch`: the memory of Buffer::scratch. 0 or the first error code.
  int run(Transport& transport, std::byte* scratch, const Call& call) noexcept;

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
  int abandon(Transport& transport, int code) noexcept;
  void await(std::span<const std::uint32_t> messages);
  void add_put_off();

  std::vector<Entry> entries_, put_off_;
  std::vector<Transport::Request> requests_;  // [message]
  std::vector<bool> awaited_;                 // [message]
};

}  // namespace colltopo
