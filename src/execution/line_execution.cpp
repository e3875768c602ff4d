// Runs a line (line.cpp): what every small call does, so all of it is in one place for the compiler to see.

#include <algorithm>
#include <cstring>

#include "colltopo/execution.h"

namespace colltopo {

namespace {

/// Of a few small calls' sizes, for which a call of memcpy would show.
inline void copy_bytes(std::byte* target, const std::byte* source, std::size_t bytes) {
  if (bytes == 8)
    std::memcpy(target, source, 8);
  else if (bytes == 4)
    std::memcpy(target, source, 4);
  else
    std::memcpy(target, source, bytes);
}

}  // namespace

// True at the end of the run.
template <bool blocking>
inline bool Execution::advance_line() noexcept {
  const Bound& bound = *bound_;
  const std::size_t end = bound.line_.size();
  for (; line_at_ < end; ++line_at_) {
    using Kind = Bound::Entry::Kind;
    const Bound::Entry& entry = bound.line_[line_at_];
    Transport::Request& request = line_requests_[entry.message];
    std::byte* const source = bases_[entry.source] + entry.source_offset;
    int code = 0;
    switch (entry.kind) {
      case Kind::send:
        code = transport_->send(source, entry.size, entry.peer, entry.lane, &request);
        break;
      case Kind::recv:
        code = transport_->recv(source, entry.size, entry.peer, entry.lane, &request);
        break;
      case Kind::copy:
        if (std::byte* const target = bases_[entry.target] + entry.target_offset; target != source)
          copy_bytes(target, source, entry.size);
        continue;
      case Kind::reduce:
        code = call_.reduce(call_.reduce_context, source, bases_[entry.target] + entry.target_offset, entry.size);
        break;
      default:  // Kind::wait
        if (request == nullptr) continue;
        code = blocking ? transport_->wait(&request) : transport_->test(&request);
        if (!blocking && code == 0 && request != nullptr) {
          awaited_ = request;
          return false;
        }
        break;
    }
    if (code != 0) [[unlikely]] {
      fail_line(code);
      return true;
    }
  }
  return finish_line<blocking>();
}

template <bool blocking>
inline bool Execution::finish_line() noexcept {
  bool all_done = true;
  for (std::uint32_t m = 0; m < bound_->line_messages_; ++m) {
    Transport::Request& request = line_requests_[m];
    if (request == nullptr) continue;
    const int code = blocking ? transport_->wait(&request) : transport_->test(&request);
    if (code != 0) [[unlikely]] {
      fail_line(code);
      return true;
    }
    if (!blocking && request != nullptr) {
      awaited_ = request;
      all_done = false;
    }
  }
  return all_done;
}

void Execution::fail_line(int code) noexcept {
  status_ = code;
  gave_up_ = false;
  line_at_ = bound_->line_.size();
  for (std::uint32_t m = 0; m < bound_->line_messages_; ++m) {
    Transport::Request& request = line_requests_[m];
    if (request == nullptr) continue;
    transport_->abandon(&request);
    request = nullptr;
    gave_up_ = true;
  }
}

bool Execution::progress_line() noexcept { return advance_line<false>(); }

bool Execution::begin(const Bound& bound, Transport& transport, std::byte* arena, const Call& call) noexcept {
  if (bound.is_line_) [[likely]] {
    set_bases(bound, transport, arena, call);
    gave_up_ = false;
    return advance_line<false>();
  }
  start(bound, transport, arena, call);
  return progress_queues();
}

int Execution::run(const Bound& bound, Transport& transport, std::byte* arena, const Call& call) noexcept {
  if (bound.is_line_) [[likely]] {
    set_bases(bound, transport, arena, call);
    advance_line<true>();
    return status_;
  }
  start(bound, transport, arena, call);
  while (!progress()) transport_->progress();
  return status_;
}

}  // namespace colltopo
