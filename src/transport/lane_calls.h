// What the core and libcolltopo_ucx.so say to each other. The library alone is linked with UCX and is opened when a
// user asks for `transport=ucx`; each side has its own C++ run time, so only plain data and function pointers cross.
//
// A lane is a UCP context with one worker, set up so that its messages take one route. A set of lanes belongs to the
// process; communicators that ask for the same set share it. Every function may be called by any thread, and none
// throws.
#pragma once

#include <cstddef>
#include <cstdint>

namespace colltopo {

struct LaneSet;
struct LaneEndpoint;

/// One line, cut to fit. Empty: no fault.
struct LaneFault {
  char text[480];
};

/// What a receive returns when the message was longer.
inline constexpr int k_lane_truncated = 1;

/// Requests are null once complete. Calls that return int: 0, or not 0 with the request null.
struct LaneCalls {
  std::uint32_t version;

  /// `settings[lane]` is a null-ended list of UCX settings, name and value in turn, the device of a lane under the name
  /// "NET_DEVICES". `name` tells sets apart. Null, with *fault, when a lane cannot be had.
  LaneSet* (*open)(const char* name, const char* const* const* settings, std::int32_t lanes, LaneFault* fault);
  /// The last user's close flushes all endpoints for at most `patience_s`, and then ends the lanes. What cannot be
  /// flushed in time leaves the set as it is for the rest of the process: nothing that was sent is lost.
  void (*close)(LaneSet* set, double patience_s);
  /// The address that peers connect to, valid as long as the set.
  const void* (*address)(LaneSet* set, std::int32_t lane, std::size_t* bytes);
  /// The endpoint to an address; equal addresses have one endpoint, which lives as long as the set.
  LaneEndpoint* (*connect)(LaneSet* set, std::int32_t lane, const void* address, std::size_t bytes, int same_node,
                           LaneFault* fault);

  int (*send)(LaneEndpoint* endpoint, const void* data, std::size_t bytes, std::uint64_t tag, void** request);
  /// `from`: an endpoint to the sender, or null. A receive fails when that has failed and nothing has come since for
  /// two seconds: a peer that is done closes its own, having sent all.
  int (*recv)(LaneSet* set, std::int32_t lane, void* data, std::size_t bytes, std::uint64_t tag, LaneEndpoint* from,
              void** request);
  int (*test)(void** request);
  /// Gives a request up; its memory must stay.
  void (*abandon)(void** request);
  /// True when something moved.
  int (*progress)(LaneSet* set, std::int32_t lane);
  /// Completes when all that the lane has sent is with the network or the peer, and needs no progress of this process.
  int (*settle)(LaneSet* set, std::int32_t lane, void** request);

  /// Whether the endpoint has failed, and the reason.
  int (*has_failed)(LaneEndpoint* endpoint, LaneFault* fault);
  /// Closes an endpoint without its peer; messages over it fail from then on.
  void (*condemn)(LaneEndpoint* endpoint);
  /// From here on what UCX logs is kept, not printed, until `listen_end`, which hands over the first line of it.
  void (*listen_begin)();
  void (*listen_end)(LaneFault* heard);
};

inline constexpr std::uint32_t k_lane_calls_version = 2;
/// The one symbol of the library: const LaneCalls* colltopo_lane_calls(void).
inline constexpr const char* k_lane_calls_symbol = "colltopo_lane_calls";

}  // namespace colltopo
