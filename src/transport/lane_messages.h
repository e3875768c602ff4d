// The messages of one operation over the lanes of its communicator, beside those of calls that block and of any number
// of other operations.
#pragma once

#include "transport/lane_transport.h"

namespace colltopo {

/// Messages of one tag and lane arrive in the order in which they are sent, so a tag names the operation and no more.
class LaneMessages final : public Transport {
 public:
  explicit LaneMessages(LaneTransport& lanes) : lanes_(lanes) {}

  /// The tag of the operation, as it has one among MPI's messages; `again`: of one that begins again and again.
  /// `given_up`: lanes that were, when its plan was wired.
  void serve_tag(int tag, bool again, LaneMask given_up) noexcept {
    tag_ = tag;
    again_ = again;
    given_up_ = given_up;
  }

  int send(const std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept override {
    return lanes_.send_as(lanes_.tag_of_operation(lanes_.rank(), tag_, again_), data, bytes, peer,
                          lanes_.lane_to(peer, lane, given_up_), request);
  }
  int recv(std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept override {
    return lanes_.recv_as(lanes_.tag_of_operation(peer, tag_, again_), data, bytes, peer,
                          lanes_.lane_to(peer, lane, given_up_), request);
  }
  int test(Request* request) noexcept override { return lanes_.test_as(request); }
  void abandon(Request* request) noexcept override { lanes_.abandon_as(request); }
  void progress() noexcept override { lanes_.move(); }

 private:
  LaneTransport& lanes_;
  int tag_ = 0;
  bool again_ = false;
  LaneMask given_up_ = 0;
};

}  // namespace colltopo
