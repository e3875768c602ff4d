// Messages by the callbacks of whoever uses the C API: the PML in the component, PMPI in the shim.
#pragma once

#include "colltopo/colltopo.h"
#include "colltopo/transport.h"

namespace colltopo {

class CallbackTransport final : public Transport {
 public:
  explicit CallbackTransport(const colltopo_callbacks& callbacks) : callbacks_(callbacks) {}

  /// Which collective the messages belong to from now on.
  void serve(Collective collective) { collective_ = static_cast<int>(collective); }
  /// The same for a call with a tag of its own.
  void serve_tag(int tag) { collective_ = tag; }

  int send(const std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept override {
    return callbacks_.send(callbacks_.context, data, bytes, peer, lane, collective_, request);
  }
  int recv(std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept override {
    return callbacks_.recv(callbacks_.context, data, bytes, peer, lane, collective_, request);
  }
  int test(Request* request) noexcept override { return callbacks_.test(callbacks_.context, request); }
  int wait(Request* request) noexcept override {
    return callbacks_.wait == nullptr ? Transport::wait(request) : callbacks_.wait(callbacks_.context, request);
  }
  void abandon(Request* request) noexcept override { callbacks_.abandon(callbacks_.context, request); }
  void progress() noexcept override { callbacks_.progress(callbacks_.context); }

 private:
  colltopo_callbacks callbacks_;
  int collective_ = 0;
};

}  // namespace colltopo
