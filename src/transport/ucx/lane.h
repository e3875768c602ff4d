// One lane: a UCP context with a worker, and the endpoints of that worker.
//
// Whatever touches the worker runs under the lane's mutex: communicators of several threads share it.
#pragma once

#include <ucp/api/ucp.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "transport/lane_calls.h"

namespace colltopo {

namespace ucx {
class Lane;
}

struct LaneEndpoint {
  ucx::Lane* lane = nullptr;
  ucp_ep_h ep = nullptr;
  bool reports_errors = true;
  std::atomic<ucs_status_t> status{UCS_OK};
  std::chrono::steady_clock::time_point failed_at;  // written before status
};

namespace ucx {

using Settings = std::vector<std::pair<std::string, std::string>>;

class Lane {
 public:
  /// Null with *fault.
  static std::unique_ptr<Lane> open(const Settings& settings, std::string* fault);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  const void* address(std::size_t* bytes) const;
  LaneEndpoint* connect(const std::string& address, bool same_node, std::string* fault);

  int send(LaneEndpoint& endpoint, const void* data, std::size_t bytes, ucp_tag_t tag, void** request);
  int recv(void* data, std::size_t bytes, ucp_tag_t tag, const LaneEndpoint* from, void** request);
  int settle(void** request);
  void release(void* request);
  void cancel(void* request);
  void condemn(LaneEndpoint& endpoint);
  /// Does nothing while another thread does it.
  bool progress();
  /// Begins to close all endpoints without their peers.
  void close_endpoints(std::vector<void*>* requests);

 private:
  Lane() = default;
  void close_now(LaneEndpoint& endpoint, std::vector<void*>* requests);
  int started(ucs_status_ptr_t pointer, const LaneEndpoint* from, bool errors_matter, void** request);

  std::mutex mutex_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_address_t* address_ = nullptr;
  std::size_t address_bytes_ = 0;
  bool shares_memory_ = false;                                      // ranks of a node may meet in shared memory
  std::map<std::string, std::unique_ptr<LaneEndpoint>> endpoints_;  // [address]
};

/// What UCX leaves to its user at the end of each request.
struct Mark {
  Lane* lane;
  const LaneEndpoint* from;  // null, or what a receive depends on
  bool errors_matter;
};

}  // namespace ucx
}  // namespace colltopo
