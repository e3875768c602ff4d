// libcolltopo_ucx.so: the sets of lanes of this process, behind LaneCalls.

#include <fmt/format.h>

#include <cstdio>
#include <thread>

#include "transport/ucx/lane.h"
#include "transport/ucx/log.h"

namespace colltopo {

struct LaneSet {
  std::string name;
  int users = 0;
  std::vector<std::unique_ptr<ucx::Lane>> lanes;
};

namespace {

using ucx::Lane;
using ucx::Mark;
using Clock = std::chrono::steady_clock;

// Never destroyed: a set that could not be flushed lives on, and UCX may be gone before this library is.
struct Sets {
  std::mutex mutex;
  std::vector<std::unique_ptr<LaneSet>> all;
};
Sets& sets() {
  static auto* const sets = new Sets;
  return *sets;
}

void put(LaneFault* fault, const std::string& text) {
  std::snprintf(fault->text, sizeof fault->text, "%s", text.c_str());
}

// The value of `body`; `otherwise` with *fault when it throws, which only a lack of memory makes it do.
template <class Result, class Body>
Result guard(Result otherwise, LaneFault* fault, const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    if (fault != nullptr) std::snprintf(fault->text, sizeof fault->text, "%s", error.what());
    return otherwise;
  }
}

ucx::Settings settings_of(const char* const* names_and_values) {
  ucx::Settings settings;
  for (; *names_and_values != nullptr; names_and_values += 2)
    settings.emplace_back(names_and_values[0], names_and_values[1]);
  return settings;
}

LaneSet* open(const char* name, const char* const* const* settings, std::int32_t lanes, LaneFault* fault) {
  return guard<LaneSet*>(nullptr, fault, [&]() -> LaneSet* {
    const std::lock_guard lock(sets().mutex);
    for (auto& set : sets().all) {
      if (set->name != name) continue;
      ++set->users;
      return set.get();
    }
    auto made = std::make_unique<LaneSet>();
    made->name = name;
    made->users = 1;
    for (std::int32_t lane = 0; lane < lanes; ++lane) {
      std::string why;
      made->lanes.push_back(Lane::open(settings_of(settings[lane]), &why));
      if (made->lanes.back() != nullptr) continue;
      put(fault, fmt::format("lane {}: {}", lane, why));
      made->lanes.pop_back();
      return nullptr;
    }
    return sets().all.emplace_back(std::move(made)).get();
  });
}

constexpr std::chrono::seconds k_patience{2};  // for what a peer had sent before its endpoint failed

int test(void** request) {
  const ucs_status_t status = ucp_request_check_status(*request);
  if (status == UCS_INPROGRESS) {
    const Mark& mark = *static_cast<const Mark*>(*request);
    const ucs_status_t of_sender = mark.from == nullptr ? UCS_OK : mark.from->status.load(std::memory_order_acquire);
    if (of_sender == UCS_OK || Clock::now() < mark.from->failed_at + k_patience) return 0;
    mark.lane->cancel(*request);
    *request = nullptr;
    return of_sender;
  }
  // Another thread's progress may have completed it.
  std::atomic_thread_fence(std::memory_order_acquire);
  const Mark mark = *static_cast<const Mark*>(*request);
  mark.lane->release(*request);
  *request = nullptr;
  return !mark.errors_matter ? 0 : status == UCS_ERR_MESSAGE_TRUNCATED ? k_lane_truncated : status;
}

// True when all completed in time.
bool complete(LaneSet& set, std::vector<void*>& requests, Clock::time_point deadline) {
  for (;;) {
    bool all = true;
    for (void*& request : requests) {
      if (request != nullptr) test(&request);
      all = all && request == nullptr;
    }
    if (all) return true;
    bool moved = false;
    for (auto& lane : set.lanes) moved = lane->progress() || moved;
    if (moved) continue;
    if (Clock::now() > deadline) return false;
    std::this_thread::yield();
  }
}

void close(LaneSet* set, double patience_s) {
  guard(0, nullptr, [&] {
    const std::lock_guard lock(sets().mutex);
    if (--set->users > 0) return 0;
    const auto deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(patience_s));
    std::vector<void*> requests;
    for (auto& lane : set->lanes) lane->settle(&requests.emplace_back());
    if (!complete(*set, requests, deadline)) {
      for (void*& request : requests)
        if (request != nullptr) static_cast<Mark*>(request)->lane->cancel(request);
      return 0;
    }
    // Peers that still have endpoints to here see them end, which is no news to them; UCX would print it.
    ucx::listen_begin();
    requests.clear();
    for (auto& lane : set->lanes) lane->close_endpoints(&requests);
    complete(*set, requests, deadline);
    std::erase_if(sets().all, [&](const auto& other) { return other.get() == set; });
    ucx::listen_end();
    return 0;
  });
}

const void* address(LaneSet* set, std::int32_t lane, std::size_t* bytes) {
  return set->lanes[static_cast<std::size_t>(lane)]->address(bytes);
}

LaneEndpoint* connect(LaneSet* set, std::int32_t lane, const void* peer, std::size_t bytes, int same_node,
                      LaneFault* fault) {
  return guard<LaneEndpoint*>(nullptr, fault, [&] {
    std::string why;
    LaneEndpoint* const endpoint = set->lanes[static_cast<std::size_t>(lane)]->connect(
        std::string(static_cast<const char*>(peer), bytes), same_node != 0, &why);
    if (endpoint == nullptr) put(fault, why);
    return endpoint;
  });
}

int send(LaneEndpoint* endpoint, const void* data, std::size_t bytes, std::uint64_t tag, void** request) {
  return endpoint->lane->send(*endpoint, data, bytes, tag, request);
}

int recv(LaneSet* set, std::int32_t lane, void* data, std::size_t bytes, std::uint64_t tag, LaneEndpoint* from,
         void** request) {
  return set->lanes[static_cast<std::size_t>(lane)]->recv(data, bytes, tag, from, request);
}

void abandon(void** request) {
  static_cast<Mark*>(*request)->lane->cancel(*request);
  *request = nullptr;
}

int progress(LaneSet* set, std::int32_t lane) { return set->lanes[static_cast<std::size_t>(lane)]->progress() ? 1 : 0; }

int settle(LaneSet* set, std::int32_t lane, void** request) {
  return set->lanes[static_cast<std::size_t>(lane)]->settle(request);
}

int has_failed(LaneEndpoint* endpoint, LaneFault* fault) {
  const ucs_status_t status = endpoint->status.load(std::memory_order_acquire);
  if (status == UCS_OK) return 0;
  const bool is_condemned = status == UCS_ERR_CANCELED;  // by another communicator's trial
  std::snprintf(fault->text, sizeof fault->text, "%s",
                is_condemned ? "no connection in time" : ucs_status_string(status));
  return 1;
}

void condemn(LaneEndpoint* endpoint) { endpoint->lane->condemn(*endpoint); }

void listen_begin() {
  guard(0, nullptr, [] { return ucx::listen_begin(), 0; });
}

void listen_end(LaneFault* heard) {
  guard(0, heard, [&] { return put(heard, ucx::listen_end()), 0; });
}

constexpr LaneCalls k_lane_calls = {
    k_lane_calls_version, open,    close,        address,   connect, send, recv, test, abandon, progress, settle,
    has_failed,           condemn, listen_begin, listen_end};

}  // namespace
}  // namespace colltopo

extern "C" __attribute__((visibility("default"))) const colltopo::LaneCalls* colltopo_lane_calls() {
  return &colltopo::k_lane_calls;
}
