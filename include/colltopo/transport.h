// How bytes get from rank to rank. Nonblocking, ordered per peer.
#pragma once

#include <cstddef>

#include "colltopo/shape.h"

namespace colltopo {

/// Messages from one rank to another are matched in the order in which they are sent and received, over all lanes.
/// Return values: 0, or the transport's own error code (an MPI error class under Open MPI), which ends the collective.
class Transport {
 public:
  using Request = void*;  // owned by the transport; null once complete

  virtual ~Transport() = default;

  /// `data` must stay as it is until the request completes. A request that is null on return is complete already.
  virtual int send(const std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept = 0;
  virtual int recv(std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept = 0;
  /// Sets *request to null when it has completed.
  virtual int test(Request* request) noexcept = 0;
  /// Returns when the request, which is not null, has completed, and sets it to null. All others move on meanwhile.
  virtual int wait(Request* request) noexcept {
    for (;;) {
      if (const int code = test(request); code != 0 || *request == nullptr) return code;
      progress();
    }
  }
  /// Gives a request up after an error.
  virtual void abandon(Request* request) noexcept = 0;
  /// Moves communication on while a rank has nothing to do.
  virtual void progress() noexcept = 0;
};

}  // namespace colltopo
