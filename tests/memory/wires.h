// Ranks as processes with sockets between them, for the C API.
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <vector>

#include "colltopo/colltopo.h"

namespace colltopo::memory {

inline constexpr int k_left_alone = 71;  // a callback's error: the victim has given up

enum Status { ended = 0, ended_early = 1, wrong_data = 2, fails_alone = 3, cannot_go_on = 4, wrong_after = 5 };

struct Header {
  int phase, tag, lane;
  bool gives_up;
};
struct Message {
  Header header{};
  std::vector<std::byte> bytes;
};
struct Wanted {
  int peer = 0, tag = 0, lane = 0;
  void* data = nullptr;
  std::size_t bytes = 0;
  bool done = false;
};
/// One rank's sockets to the others, and its messages of one phase: a communicator's.
class Wires {
 public:
  Wires(int rank, std::vector<int> sockets) : rank_(rank), sockets_(std::move(sockets)), arrived_(sockets_.size()) {}

  colltopo_callbacks callbacks();
  void begin_phase(int phase) {
    phase_ = phase;
    left_alone_ = false;
    wanted_.clear();
    for (auto& of_peer : arrived_)
      of_peer.remove_if([&](const Message& message) { return message.header.phase < phase; });
    for (const auto& of_peer : arrived_)
      for (const Message& message : of_peer) left_alone_ = left_alone_ || message.header.gives_up;
  }
  void give_up() {
    for (std::size_t peer = 0; peer < sockets_.size(); ++peer)
      if (sockets_[peer] >= 0) put(peer, {phase_, 0, 0, true}, nullptr, 0);
  }

 private:
  static Wires& of(void* context) { return *static_cast<Wires*>(context); }
  void put(std::size_t peer, const Header& header, const void* data, std::size_t bytes);
  void take();
  void wait_a_moment() const;

  int rank_, phase_ = 0;
  bool left_alone_ = false;
  std::vector<int> sockets_;  // [peer]; -1: itself
  std::vector<std::list<Message>> arrived_;
  std::list<Wanted> wanted_;
};

}  // namespace colltopo::memory
