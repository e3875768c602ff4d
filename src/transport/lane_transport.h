// The messages of one communicator over lanes of its own: an endpoint per (peer, lane), made when a plan first needs
// it.
//
// Lanes keep no order among each other, so tags count the messages of a pair (message_tag.h). Lanes move on only while
// somebody waits here; settle() sees to it that a rank that has left owes nobody a message.
#pragma once

#include <string>
#include <vector>

#include "colltopo/program.h"
#include "colltopo/transport.h"
#include "transport/lane_calls.h"
#include "transport/lane_setting.h"

namespace colltopo {

class LaneTransport final : public Transport {
 public:
  struct Place {
    Rank rank = 0, ranks = 1;
    std::int32_t number = 0;                    // of the communicator, for tags
    int error_code = 1;                         // what failures are returned as
    int truncation_code = 1;                    // the same for messages that are too long
    const std::vector<int>* node_of = nullptr;  // [rank]
  };
  /// `lent` moves MPI on. Takes one use of `set`.
  LaneTransport(const LaneCalls& calls, LaneSet* set, LaneSetting setting, Place place, Transport& lent);
  ~LaneTransport() override;
  LaneTransport(const LaneTransport&) = delete;
  LaneTransport& operator=(const LaneTransport&) = delete;

  /// The communicator's number for tags, before any message.
  void number(std::int32_t number) { place_.number = number; }
  /// What ranks tell each other: the addresses of all lanes, in one block of equal size for every rank.
  std::size_t address_bytes() const;
  std::vector<std::byte> addresses(std::size_t block) const;
  /// `blocks`: of all ranks, `block` bytes each.
  void know(std::vector<std::byte> blocks, std::size_t block);

  /// A lane of the program that no lane of ours serves; -1: none.
  Lane unserved(const Program& program) const;
  /// Makes the endpoints of a program that are not there yet, and sends a message over each; the receiving ends wait
  /// for theirs. All ranks come in at the same time. Empty, or what is wrong after `time_limit_s` at most.
  std::string wire(const Program& program, double time_limit_s);
  std::size_t endpoints() const { return endpoints_made_; }

  /// Whether nothing is under way between this rank's lanes and others any more, within `time_s`; `whole`: not to
  /// return before that, for the sake of the others. A connection in the making needs both ends to move on.
  bool is_settled(double time_s, bool whole) noexcept;
  /// To be called after a run: returns when what was sent needs no more progress of this rank.
  void settle() noexcept;

  int send(const std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept override;
  int recv(std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept override;
  int test(Request* request) noexcept override;
  void abandon(Request* request) noexcept override { calls_.abandon(request); }
  void progress() noexcept override;

 private:
  struct Trial;
  LaneEndpoint*& endpoint(Rank peer, Lane lane) {
    return endpoints_[static_cast<std::size_t>(peer) * static_cast<std::size_t>(setting_.lanes()) +
                      static_cast<std::size_t>(lane)];
  }
  void use(Lane lane);
  int code_of(int failure) const noexcept {
    return failure == k_lane_truncated ? place_.truncation_code : place_.error_code;
  }
  bool connect(Rank peer, Lane lane, std::string* fault);
  std::string try_endpoints(std::vector<Trial>& trials, double time_limit_s);
  std::string fault_of(const Trial& trial);

  const LaneCalls& calls_;
  LaneSet* set_;
  LaneSetting setting_;
  Place place_;
  Transport& lent_;
  std::vector<std::byte> blocks_;
  std::size_t block_ = 0;
  std::vector<LaneEndpoint*> endpoints_;        // [peer * lanes + lane]; null: not made
  std::vector<bool> heard_;                     // [peer * lanes + lane] a trial message came in
  std::vector<std::uint32_t> sent_, received_;  // [peer] messages so far
  std::vector<Lane> used_;
  std::size_t endpoints_made_ = 0;
  std::vector<Request> flushes_;  // [index in used_] under way
  bool settles_ = true;
  unsigned turns_ = 0;
};

}  // namespace colltopo
