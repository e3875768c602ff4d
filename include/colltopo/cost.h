// A schedule on a network: which links its messages load, what that costs, and what no schedule can beat.
//
// Rank r runs on host r. Messages follow the schedule's routes; where it has none, ShortestPaths. Loads are in units of
// the call's count (layout.h): one shard for alltoall, allgather and reduce_scatter, the whole vector for allreduce,
// bcast and reduce. So a load times the bytes of a call is bytes on the link.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "colltopo/demand.h"
#include "colltopo/schedule.h"
#include "colltopo/segments.h"
#include "colltopo/topology.h"
#include "colltopo/verify.h"

namespace colltopo {

struct Message {
  Step step = 0;
  Rank source = 0;
  Rank target = 0;
  Lane lane = 0;
  Chunk chunks = 0;

  friend bool operator==(const Message&, const Message&) = default;
};

/// Every send of the schedule, sorted by step, then source, then order in its program.
std::vector<Message> messages_of(const Schedule& schedule);

/// Chunks that the count of a call is cut into.
double chunks_in_count(const Shape& shape);

/// The links that messages take. Throws Error when ranks are not hosts, or when the schedule has routes but not this
/// one.
class MessagePaths {
 public:
  MessagePaths(const Schedule& schedule, const Topology& topology);
  std::vector<LinkId> path(const Message& message) const;

 private:
  const Schedule& schedule_;
  const Topology& topology_;
  ShortestPaths shortest_;
  std::vector<std::size_t> first_route_;  // [source], and the end
};

/// [link] load of the messages of one step, or of all (step 0). Linear in the hops of all messages, as cost_of() is.
std::vector<double> link_loads(const Schedule& schedule, const Topology& topology, Step step = 0);
/// [link] the bytes of an alltoallv over it: of a schedule of alltoall that sends every block straight to its owner,
/// each cut by the schedule's shares. Throws Error for a schedule that passes blocks on.
std::vector<double> link_loads(const Schedule& schedule, const Topology& topology, const Demand& demand);

/// One step of the schedule, on its own.
struct StepCost {
  Step step = 0;
  std::size_t messages = 0;
  std::size_t most_messages_of_a_rank = 0;  // sent or received
  std::size_t most_messages_on_a_link = 0;
  double longest_latency_s = 0;        // of a path
  LinkId busiest_link = -1;            // -1: no message uses a link
  double busiest_link_s_per_byte = 0;  // seconds per byte of the call
};

struct Cost {
  std::vector<StepCost> steps;  // those that have messages
  std::size_t messages = 0;
  LinkId busiest_link = -1;            // over the whole schedule
  double busiest_link_s_per_byte = 0;  // as above
  bool neighbours_only = true;         // every message takes one link, or goes from host to switch to host
};
Cost cost_of(const Schedule& schedule, const Topology& topology);

/// Steps one after the other; in each, every rank spends `message_overhead_s` on each of its messages, then the longest
/// path's latency passes and the busiest link carries its load.
double model_seconds(const Cost& cost, double bytes, double message_overhead_s);

/// Slots of a pipeline (segments.h) that are alike and follow each other: in each, steps that follow each other run on
/// a segment each.
struct SlotCost {
  std::int64_t slots = 1;
  std::size_t most_messages_of_a_rank = 0;  // as StepCost's
  double latency_s = 0;  // of the longest path of the step that comes in; no other's, for its messages follow others
  double busiest_link_s_per_byte = 0;
};

/// All steps + segments - 1, in order.
std::vector<SlotCost> slots_of(const Schedule& schedule, const Topology& topology, int segments);

/// Slots one after the other; in each a latency passes and the busiest link carries its load, unless some rank takes
/// longer to start its messages: it does that while links are busy with those of the slot before.
double model_seconds(std::span<const SlotCost> slots, double bytes, double message_overhead_s);

/// The widest way into the network that a host has.
Port port_of(const Topology& topology, double message_overhead_s);

/// What every schedule of a collective needs on a topology, by the narrowest cut or by the distances.
struct BandwidthBound {
  double seconds_per_byte = 0;  // of the call
  std::string reason;           // "8 hosts to 8 others over 8 links of 25 Gb/s"
};
BandwidthBound bandwidth_bound(const Shape& shape, const Topology& topology);

/// Bytes of a call that one rank gets from others, per byte of count: what goodput counts.
double received_per_byte(const Shape& shape);

/// What a network does with a message whose next link is busy: it holds it, and with it the links behind, or it drops
/// packets that are sent again. Only the first can deadlock over its links.
enum class Fabric : std::uint8_t { lossless, lossy };

/// Whether the schedule fits the topology: as many ranks as hosts, and a path for every message. If it has routes: made
/// for this fingerprint (if it names one); they follow links from their source to their target, one for every message;
/// in each layer no cycle of links that wait for each other (where the fabric is lossless). At most 20 violations.
std::vector<Violation> verify_on(const Schedule& schedule, const Topology& topology, Fabric fabric = Fabric::lossless);

}  // namespace colltopo
