#include "transport/ucx/lane.h"

#include <fmt/format.h>

#include "transport/ucx/context.h"
#include "transport/ucx/log.h"

namespace colltopo::ucx {

namespace {

ucp_request_param_t plain() {
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  return parameters;
}

// Called while the worker moves on, under the lane's mutex.
void on_error(void* argument, ucp_ep_h, ucs_status_t status) {
  auto* const endpoint = static_cast<LaneEndpoint*>(argument);
  endpoint->failed_at = std::chrono::steady_clock::now();
  endpoint->status.store(status, std::memory_order_release);
}

}  // namespace

std::unique_ptr<Lane> Lane::open(const Settings& settings, std::string* fault) {
  std::unique_ptr<Lane> lane(new Lane);
  const Context made = make_context(settings, fault);
  lane->context_ = made.context;
  lane->shares_memory_ = made.shares_memory;
  if (made.context == nullptr) return nullptr;
  ucp_worker_params_t parameters{};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucs_status_t status = ucp_worker_create(lane->context_, &parameters, &lane->worker_);
  if (status == UCS_OK) status = ucp_worker_get_address(lane->worker_, &lane->address_, &lane->address_bytes_);
  if (status == UCS_OK) return lane;
  *fault = ucs_status_string(status);
  if (const std::string words = heard(); !words.empty()) *fault += fmt::format(" (UCX: {})", words);
  return nullptr;
}

// An endpoint that is not closed goes with its worker.
Lane::~Lane() {
  if (address_ != nullptr) ucp_worker_release_address(worker_, address_);
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  if (context_ != nullptr) ucp_cleanup(context_);
}

const void* Lane::address(std::size_t* bytes) const {
  *bytes = address_bytes_;
  return address_;
}

LaneEndpoint* Lane::connect(const std::string& address, bool same_node, std::string* fault) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<LaneEndpoint>& endpoint = endpoints_[address];
  if (endpoint != nullptr) return endpoint.get();
  auto made = std::make_unique<LaneEndpoint>();
  made->lane = this;
  // UCX does not use shared memory on endpoints that report errors.
  made->reports_errors = !(same_node && shares_memory_);
  ucp_ep_params_t parameters{};
  parameters.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  parameters.address = reinterpret_cast<const ucp_address_t*>(address.data());
  parameters.err_mode = made->reports_errors ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  parameters.err_handler = {on_error, made.get()};
  if (const ucs_status_t status = ucp_ep_create(worker_, &parameters, &made->ep); status != UCS_OK) {
    *fault = fmt::format("{}, with {} endpoints on this lane", ucs_status_string(status), endpoints_.size() - 1);
    if (const std::string words = heard(); !words.empty()) *fault += fmt::format(" (UCX: {})", words);
    endpoints_.erase(address);
    return nullptr;
  }
  endpoint = std::move(made);
  return endpoint.get();
}

int Lane::started(ucs_status_ptr_t pointer, const LaneEndpoint* from, bool errors_matter, void** request) {
  *request = nullptr;
  if (UCS_PTR_IS_ERR(pointer)) {
    const ucs_status_t status = UCS_PTR_STATUS(pointer);
    return !errors_matter ? 0 : status == UCS_ERR_MESSAGE_TRUNCATED ? k_lane_truncated : status;
  }
  if (pointer == nullptr) return 0;
  *static_cast<Mark*>(pointer) = {this, from, errors_matter};
  *request = pointer;
  return 0;
}

int Lane::send(LaneEndpoint& endpoint, const void* data, std::size_t bytes, ucp_tag_t tag, void** request) {
  const ucp_request_param_t parameters = plain();
  const std::lock_guard lock(mutex_);
  if (const ucs_status_t status = endpoint.status.load(std::memory_order_relaxed); status != UCS_OK) return status;
  return started(ucp_tag_send_nbx(endpoint.ep, data, bytes, tag, &parameters), nullptr, true, request);
}

int Lane::recv(void* data, std::size_t bytes, ucp_tag_t tag, const LaneEndpoint* from, void** request) {
  const ucp_request_param_t parameters = plain();
  const std::lock_guard lock(mutex_);
  return started(ucp_tag_recv_nbx(worker_, data, bytes, tag, ~ucp_tag_t{0}, &parameters), from, true, request);
}

// An endpoint that has failed has nothing more to send. Of the whole worker, although others' messages go with it: UCX
// flushes a single endpoint by asking its peer (seen with TCP and UCX 1.13), who may be waiting in MPI for this rank.
int Lane::settle(void** request) {
  const ucp_request_param_t parameters{};
  const std::lock_guard lock(mutex_);
  return started(ucp_worker_flush_nbx(worker_, &parameters), nullptr, false, request);
}

void Lane::release(void* request) {
  const std::lock_guard lock(mutex_);
  ucp_request_free(request);
}

void Lane::cancel(void* request) {
  const std::lock_guard lock(mutex_);
  ucp_request_cancel(worker_, request);
  ucp_request_free(request);
}

void Lane::condemn(LaneEndpoint& endpoint) {
  const std::lock_guard lock(mutex_);
  endpoint.failed_at = std::chrono::steady_clock::now();
  ucs_status_t fine = UCS_OK;  // what UCX said of it stays
  endpoint.status.compare_exchange_strong(fine, UCS_ERR_CANCELED, std::memory_order_acq_rel);
  close_now(endpoint, nullptr);
}

// Force is for endpoints that report errors; others go with their worker.
void Lane::close_now(LaneEndpoint& endpoint, std::vector<void*>* requests) {
  if (!endpoint.reports_errors || endpoint.ep == nullptr) return;
  ucp_request_param_t forced{};
  forced.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  forced.flags = UCP_EP_CLOSE_FLAG_FORCE;
  void* request = nullptr;
  started(ucp_ep_close_nbx(endpoint.ep, &forced), nullptr, false, &request);
  endpoint.ep = nullptr;
  if (request == nullptr) return;
  if (requests == nullptr) {
    ucp_request_free(request);
  } else {
    requests->push_back(request);
  }
}

bool Lane::progress() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && ucp_worker_progress(worker_) != 0;
}

void Lane::close_endpoints(std::vector<void*>* requests) {
  const std::lock_guard lock(mutex_);
  for (auto& [address, endpoint] : endpoints_) close_now(*endpoint, requests);
}

}  // namespace colltopo::ucx
