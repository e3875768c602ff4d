#include "wires.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "failing.h"

namespace colltopo::memory {

namespace {
constexpr std::size_t k_most_message = 1 << 16;
}  // namespace

void Wires::put(std::size_t peer, const Header& header, const void* data, std::size_t bytes) {
  iovec parts[] = {{const_cast<Header*>(&header), sizeof header}, {const_cast<void*>(data), bytes}};
  msghdr whole{};
  whole.msg_iov = parts;
  whole.msg_iovlen = bytes == 0 ? 1 : 2;
  if (sendmsg(sockets_[peer], &whole, MSG_NOSIGNAL) < 0 && errno != EPIPE) _exit(cannot_go_on);
}

void Wires::take() {
  static std::array<std::byte, sizeof(Header) + k_most_message> buffer;
  for (std::size_t peer = 0; peer < sockets_.size(); ++peer) {
    ssize_t bytes = 0;
    while (sockets_[peer] >= 0 && (bytes = recv(sockets_[peer], buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0) {
      Message message;
      std::memcpy(&message.header, buffer.data(), sizeof message.header);
      message.bytes.assign(buffer.begin() + sizeof(Header), buffer.begin() + bytes);
      if (message.header.phase == phase_ && message.header.gives_up) left_alone_ = true;
      if (message.header.phase >= phase_) arrived_[peer].push_back(std::move(message));
    }
  }
  for (Wanted& wanted : wanted_) {
    if (wanted.done) continue;
    auto& of_peer = arrived_[static_cast<std::size_t>(wanted.peer)];
    const auto found = std::find_if(of_peer.begin(), of_peer.end(), [&](const Message& message) {
      const Header& header = message.header;
      return header.phase == phase_ && !header.gives_up && header.tag == wanted.tag && header.lane == wanted.lane;
    });
    if (found == of_peer.end()) continue;
    std::memcpy(wanted.data, found->bytes.data(), std::min(wanted.bytes, found->bytes.size()));
    wanted.done = true;
    of_peer.erase(found);
  }
}

void Wires::wait_a_moment() const {
  std::vector<pollfd> polled;
  for (const int socket : sockets_)
    if (socket >= 0) polled.push_back({socket, POLLIN, 0});
  poll(polled.data(), polled.size(), 1);
}

colltopo_callbacks Wires::callbacks() {
  colltopo_callbacks c{};
  c.context = this;
  c.transport_error = c.truncation_error = 72;
  c.send = [](void* context, const void* data, size_t bytes, int peer, int lane, int tag, void** request) {
    const Apart apart;
    Wires& wires = of(context);
    *request = nullptr;
    if (peer == wires.rank_) _exit(cannot_go_on);
    wires.put(static_cast<std::size_t>(peer), {wires.phase_, tag, lane, false}, data, bytes);
    return 0;
  };
  c.recv = [](void* context, void* data, size_t bytes, int peer, int lane, int tag, void** request) {
    const Apart apart;
    *request = &of(context).wanted_.emplace_back(Wanted{peer, tag, lane, data, bytes, false});
    return 0;
  };
  c.test = [](void* context, void** request) {
    const Apart apart;
    Wires& wires = of(context);
    if (!static_cast<Wanted*>(*request)->done) wires.take();
    if (!static_cast<Wanted*>(*request)->done) return wires.left_alone_ ? k_left_alone : 0;
    wires.wanted_.remove_if([&](const Wanted& wanted) { return &wanted == *request; });
    *request = nullptr;
    return 0;
  };
  c.abandon = [](void* context, void** request) {
    const Apart apart;
    of(context).wanted_.remove_if([&](const Wanted& wanted) { return &wanted == *request; });
    *request = nullptr;
  };
  c.progress = [](void* context) {
    const Apart apart;
    of(context).wait_a_moment();
  };
  c.locality = [](void*, int, int*) { return 0; };  // all on one
  c.say = [](void*, int, const char*) {};
  return c;
}

}  // namespace colltopo::memory
