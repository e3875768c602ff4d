#include "made_up_rank.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace colltopo::bench {

namespace {

constexpr int k_most_looks = 64;

MadeUpRank& self(void* context) { return *static_cast<MadeUpRank*>(context); }

// Releases of the C API before ranks agreed by messages of their own have a callback for it; all ranks say what this
// one says.
template <class Callbacks>
void set_agree(Callbacks& callbacks) {
  if constexpr (requires { callbacks.agree; }) callbacks.agree = [](void*, long long*) { return 0; };
}

}  // namespace

MadeUpRank::MadeUpRank(const Place& place) : place_(place), said_(std::make_unique<std::array<Said, k_lengths>>()) {}

colltopo_callbacks MadeUpRank::callbacks() {
  colltopo_callbacks callbacks{};
  callbacks.context = this;
  callbacks.send = [](void* context, const void* data, std::size_t bytes, int, int, int, void** request) {
    return self(context).send(data, bytes, request);
  };
  callbacks.recv = [](void* context, void* data, std::size_t bytes, int, int, int, void** request) {
    return self(context).recv(data, bytes, request);
  };
  callbacks.test = [](void* context, void** request) { return self(context).test(request); };
  callbacks.abandon = [](void*, void** request) { *request = nullptr; };
  callbacks.progress = [](void* context) { self(context).progress(); };
  set_agree(callbacks);
  callbacks.locality = [](void* context, int, int* group_of) {
    const Place& place = self(context).place_;
    for (int rank = 0; rank < place.ranks; ++rank) group_of[rank] = rank / place.ranks_per_node;
    return 0;
  };
  callbacks.host_names = [](void* context, std::size_t size, char* names) {
    const Place& place = self(context).place_;
    for (int rank = 0; rank < place.ranks; ++rank)
      std::snprintf(names + static_cast<std::size_t>(rank) * size, size, "node%d", rank / place.ranks_per_node);
    return 0;
  };
  callbacks.say = [](void* context, int level, const char* line) {
    if (level == 0) self(context).warning_ = line;
  };
  callbacks.transport_error = callbacks.truncation_error = 1;
  return callbacks;
}

bool MadeUpRank::is_lent(const void* address) const {
  return std::ranges::any_of(lent_,
                             [&](const LazyBuffer* buffer) { return buffer != nullptr && buffer->has(address); });
}

void MadeUpRank::hear(void* target, std::size_t bytes) {
  if (bytes > k_longest_said && !write_received_) return;
  if (is_lent(target)) return;
  // What comes before anything was said is larger than all that ranks agree on.
  if (bytes <= k_longest_said && said(bytes).bytes != bytes) std::memset(target, 0x7f, bytes);
  if (bytes <= k_longest_said && said(bytes).bytes == bytes) std::memcpy(target, said(bytes).text.data(), bytes);
  if (!write_received_) return;
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* const begin = static_cast<volatile std::byte*>(target);
  for (std::size_t at = 0; at < bytes; at += page) begin[at] = begin[at];
  if (bytes > 0) begin[bytes - 1] = begin[bytes - 1];
}

void* MadeUpRank::under_way(void* target, std::size_t bytes) {
  if (free_.empty()) free_.push_back(&messages_.emplace_back());
  Message* const message = free_.back();
  free_.pop_back();
  *message = {target, bytes, false};
  waiting_.push_back(message);
  return message;
}

int MadeUpRank::send(const void* data, std::size_t bytes, void** request) {
  ++counts_.sends;
  if (bytes <= k_longest_said && !is_lent(data)) {
    Said& last = said(bytes);
    last.bytes = bytes;
    std::memcpy(last.text.data(), data, bytes);
  }
  *request = completion_ == Completion::at_once ? nullptr : under_way(nullptr, 0);
  return 0;
}

int MadeUpRank::recv(void* data, std::size_t bytes, void** request) {
  ++counts_.receives;
  // A short receive that comes before what it is to be told: ranks that agree post some first.
  const bool untold = bytes <= k_longest_said && said(bytes).bytes != bytes && !is_lent(data);
  if (completion_ == Completion::at_once && !untold) {
    hear(data, bytes);
    *request = nullptr;
  } else {
    *request = under_way(data, bytes);
  }
  return 0;
}

int MadeUpRank::test(void** request) {
  ++counts_.tests;
  auto* const message = static_cast<Message*>(*request);
  if (message == nullptr) return 0;
  if (completion_ == Completion::at_once && !message->done) {
    // Told by now, or of a length that this rank never sends.
    if (said(message->bytes).bytes != message->bytes && ++message->looks < k_most_looks) return 0;
    hear(message->target, message->bytes);
    std::erase(waiting_, message);
    message->done = true;
  }
  if (!message->done) return 0;
  free_.push_back(message);
  *request = nullptr;
  return 0;
}

void MadeUpRank::progress() {
  ++counts_.turns;
  if (waiting_.empty()) return;
  Message* const first = waiting_.front();
  waiting_.pop_front();
  if (first->target != nullptr) hear(first->target, first->bytes);
  first->done = true;
}

}  // namespace colltopo::bench
