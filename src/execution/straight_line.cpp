#include "execution/straight_line.h"

#include <cstring>

namespace colltopo {

void StraightLine::add_put_off() {
  entries_.insert(entries_.end(), put_off_.begin(), put_off_.end());
  put_off_.clear();
}

void StraightLine::await(std::span<const std::uint32_t> messages) {
  for (const std::uint32_t message : messages) {
    if (awaited_[message]) continue;
    add_put_off();
    awaited_[message] = true;
    entries_.push_back({Kind::wait, 0, 0, 0, 0, message, 0, 0, 0});
  }
}

void StraightLine::add_message(Action action, Rank peer, Lane lane, Place place, std::size_t bytes,
                               const Before& before) {
  await(before.receives);
  if (before.moves) add_put_off();
  const auto buffer = static_cast<std::uint8_t>(place.buffer);
  const auto message = static_cast<std::uint32_t>(requests_.size());
  const Kind kind = action == Action::send ? Kind::send : Kind::recv;
  if (bytes > 0) entries_.push_back({kind, buffer, buffer, lane, peer, message, place.offset, place.offset, bytes});
  requests_.push_back(nullptr);
  awaited_.push_back(bytes == 0);  // both ends leave it out
}

void StraightLine::add_move(Action action, Place source, Place target, std::size_t bytes, std::size_t elements,
                            const Before& before) {
  await(before.receives);
  if (bytes == 0) return;
  const bool copies = action == Action::copy;
  put_off_.push_back({copies ? Kind::copy : Kind::reduce, static_cast<std::uint8_t>(source.buffer),
                      static_cast<std::uint8_t>(target.buffer), 0, 0, 0, source.offset, target.offset,
                      copies ? bytes : elements});
}

void StraightLine::finish() { add_put_off(); }

int StraightLine::run(Transport& transport, std::byte* scratch, const Call& call) noexcept {
  // By Buffer. Input is only read.
  std::byte* const bases[] = {const_cast<std::byte*>(call.input), call.output, scratch};
  for (const Entry& entry : entries_) {
    int code = 0;
    std::byte* const source = bases[entry.source] + entry.source_offset;
    switch (entry.kind) {
      case Kind::send:
        code = transport.send(source, entry.size, entry.peer, entry.lane, &requests_[entry.message]);
        break;
      case Kind::recv:
        code = transport.recv(source, entry.size, entry.peer, entry.lane, &requests_[entry.message]);
        break;
      case Kind::copy:
        if (std::byte* const target = bases[entry.target] + entry.target_offset; target != source) {
          std::memcpy(target, source, entry.size);
        }
        continue;
      case Kind::reduce:
        code = call.reduce(call.reduce_context, source, bases[entry.target] + entry.target_offset, entry.size);
        break;
      default:  // Kind::wait
        if (requests_[entry.message] == nullptr) continue;
        code = transport.wait(&requests_[entry.message]);
        break;
    }
    if (code != 0) [[unlikely]]
      return abandon(transport, code);
  }
  for (Transport::Request& request : requests_) {
    if (request == nullptr) continue;
    if (const int code = transport.wait(&request); code != 0) return abandon(transport, code);
  }
  return 0;
}

int StraightLine::abandon(Transport& transport, int code) noexcept {
  for (Transport::Request& request : requests_) {
    if (request != nullptr) transport.abandon(&request);
    request = nullptr;
  }
  return code;
}

}  // namespace colltopo
