// The messages of one communicator over lanes of its own: an endpoint per (peer, lane), made when a plan first needs
// it.
//
// Lanes keep no order among each other, so tags count the messages of a pair (message_tag.h). Lanes move on only while
// somebody waits here, or looks at an operation (lane_messages.h); settle() sees to it that a rank that has left owes
// nobody a message.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "colltopo/program.h"
#include "colltopo/transport.h"
#include "transport/lane_calls.h"
#include "transport/lane_setting.h"
#include "transport/lane_waits.h"
#include "transport/message_tag.h"

namespace colltopo {

class LaneTransport final : public Transport {
 public:
  struct Place {
    Rank rank = 0, ranks = 1;
    std::int32_t number = 0;                    // of the communicator, for tags
    int error_code = 1;                         // what failures are returned as
    int truncation_code = 1;                    // the same for messages that are too long
    const std::vector<int>* node_of = nullptr;  // [rank]
    double patience_s = 0;                      // with a message that others of its sender have overtaken; 0: for ever
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

  Lane lanes() const { return setting_.lanes(); }
  /// Lanes that runs have seen to stall since forget_late().
  LaneMask late() const { return waits_.late(); }
  void forget_late() { waits_.forget(); }
  /// Lanes whose messages take others, from the next wired plan on; the same on all ranks, and never all of them.
  LaneMask given_up() const { return given_up_; }
  void give_up(LaneMask lanes) { given_up_ = lanes; }
  /// Sends a message over every endpoint of a lane. is_heard(): they have come in, here.
  void knock(Lane lane);
  bool is_heard(Lane lane);
  bool has_knocks() const { return !knocks_.empty(); }

  /// A lane of the program that no lane of ours serves; -1: none.
  Lane unserved(const Program& program) const;
  /// Makes the endpoints that a program needs and that are not there yet, none on lanes that are given up, and begins
  /// to send a message over each. reach(), next, waits until those are gone, and hear(), once all ranks have reached
  /// theirs, for what comes in. Each is empty, or what is wrong, of the last two after `time_limit_s` at most. `waits`
  /// moves MPI on meanwhile.
  std::string connect(const Program& program);
  std::string reach(double time_limit_s, Transport& waits);
  std::string hear(double time_limit_s, Transport& waits);
  /// After a fault of any rank.
  void give_trials_up();
  std::size_t endpoints() const { return endpoints_made_; }

  /// After hear(): whether nothing is under way between this rank's lanes and others any more, within `time_s`;
  /// `whole`: not to return before that, for the sake of the others. A connection in the making needs both ends to move
  /// on.
  bool is_settled(double time_s, bool whole, Transport& waits) noexcept;
  /// To be called after a run: returns when what was sent needs no more progress of this rank. While operations are
  /// under way on these lanes, those of other communicators too, that is left to lingering(): their messages may have
  /// to wait for peers that wait for this rank.
  void settle() noexcept;
  /// Around a run of a call that blocks, the end before settle() or after a fault. `independent`: none of its sends
  /// waits for a message.
  void begin_run(bool independent) noexcept { waits_.begin_run(independent); }
  void end_run() noexcept { waits_.end_run(); }

  /// The lane of ours that a program's takes between this rank and a peer, on both of them, with these given up.
  Lane lane_to(Rank peer, Lane lane, LaneMask given_up) const noexcept {
    const Lane ours = setting_.serving(lane);
    return (mask_of(ours) & given_up) == 0 ? ours : in_place_of(ours, peer, given_up);
  }
  /// For operations; any thread may call these, of plans that are wired. `lane` is one of ours.
  int send_as(std::uint64_t tag, const std::byte* data, std::size_t bytes, Rank peer, Lane lane,
              Request* request) noexcept;
  int recv_as(std::uint64_t tag, std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept;
  int test_as(Request* request) noexcept {
    const int code = calls_.test(request);
    return code == 0 ? 0 : code_of(code);
  }
  void abandon_as(Request* request) noexcept { calls_.abandon(request); }
  std::uint64_t tag_of_operation(Rank source, int tag, bool again) const noexcept {
    return operation_tag(place_.number, source, tag, again);
  }
  Rank rank() const noexcept { return place_.rank; }
  void operation_begins() noexcept { operations_->fetch_add(1, std::memory_order_relaxed); }
  /// What it has sent may still have to be moved on.
  void operation_ends() noexcept;
  /// True when something moved.
  bool move() noexcept;

  /// lingering()'s: what has been sent by now is to go out; whether all of that is out, as far as can be told at once.
  void linger() noexcept { lingers_.store(true, std::memory_order_release); }
  bool owes_nothing() noexcept;

  int send(const std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept override;
  int recv(std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept override;
  int test(Request* request) noexcept override;
  void abandon(Request* request) noexcept override {
    waits_.remove(*request);
    calls_.abandon(request);
  }
  void progress() noexcept override;

 private:
  struct Trial;
  LaneEndpoint*& endpoint(Rank peer, Lane lane) {
    return endpoints_[static_cast<std::size_t>(peer) * static_cast<std::size_t>(setting_.lanes()) +
                      static_cast<std::size_t>(lane)];
  }
  /// What must be out: one flush of every lane that is used.
  struct Flush {
    std::vector<Request> under_way;  // [index in used_]
    bool is_over() const noexcept;
  };
  void begin(Flush& flush) noexcept;
  void look_at(Flush& flush) noexcept;
  bool is_out(Flush& flush, double time_s, bool whole, Transport& waits) noexcept;
  void abandon(Flush& flush) noexcept;
  bool move_on(Transport& waits) noexcept;
  void use(Lane lane);
  Lane in_place_of(Lane lane, Rank peer, LaneMask given_up) const noexcept;
  void begin(Trial& trial);
  void keep_knocks();
  int code_of(int failure) const noexcept {
    return failure == k_lane_truncated ? place_.truncation_code : place_.error_code;
  }
  bool connect(Rank peer, Lane lane, std::string* fault);
  void begin_trials();
  std::string end_trials(bool of_sends, double time_limit_s, Transport& waits);
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
  std::vector<Trial> trials_;
  std::list<Trial> knocks_;  // over lanes that were given up
  LaneMask given_up_ = 0;
  LaneWaits waits_;
  std::vector<Lane> used_;  // those that count first; others may read them while one is added
  std::atomic<std::size_t> lanes_used_ = 0;
  std::size_t endpoints_made_ = 0;
  Flush wiring_, settling_, lingering_;  // of new plans, of calls that block, and what owes_nothing() has begun
  std::atomic<bool> lingers_ = false;
  std::shared_ptr<std::atomic<int>> operations_;  // under way on the set
  bool settles_ = true;
  std::atomic<unsigned> turns_ = 0;
};

}  // namespace colltopo
