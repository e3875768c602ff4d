// A schedule over segments as a pipeline: in slot t, step d runs on segment t - d. So a slot has the messages of as
// many steps as there are segments, and from one slot to the next one step comes in and one goes out.
#include <algorithm>
#include <cmath>

#include "colltopo/cost.h"

namespace colltopo {

namespace {

class Pipeline {
 public:
  Pipeline(const Schedule& schedule, const Topology& topology, int segments)
      : paths_(schedule, topology),
        topology_(topology),
        messages_(messages_of(schedule)),
        steps_(schedule.steps()),
        segments_(segments),
        chunks_(chunks_in_count(schedule.shape) * segments),
        load_(topology.links().size(), 0),
        sent_(static_cast<std::size_t>(schedule.shape.ranks), 0),
        received_(sent_) {}

  std::vector<SlotCost> run() {
    std::vector<SlotCost> slots;
    // Once all steps are in, slots are alike until the first step goes out.
    for (Step slot = 1; slot < steps_ + std::min(segments_, steps_); ++slot) {
      const double latency_s = slot <= steps_ ? pass(slot, 1) : 0;
      if (const Step out = slot - std::min(segments_, steps_); out >= 1) pass(out, -1);
      slots.push_back(cost(latency_s));
      if (slot == steps_ && segments_ > steps_) slots.back().slots = segments_ - steps_ + 1;
    }
    return slots;
  }

 private:
  /// A step comes in (sign 1) or goes out (-1). Its longest latency.
  double pass(Step step, std::int64_t sign) {
    double longest_s = 0;
    auto message =
        std::lower_bound(messages_.begin(), messages_.end(), step, [](const Message& m, Step s) { return m.step < s; });
    for (; message != messages_.end() && message->step == step; ++message) {
      sent_[static_cast<std::size_t>(message->source)] += sign;
      received_[static_cast<std::size_t>(message->target)] += sign;
      double latency_s = 0;
      for (const LinkId link : paths_.path(*message)) {
        load_[static_cast<std::size_t>(link)] += sign * message->chunks;
        latency_s += topology_.link(link).latency;
      }
      longest_s = std::max(longest_s, latency_s);
    }
    return longest_s;
  }

  SlotCost cost(double latency_s) const {
    SlotCost cost;
    cost.latency_s = latency_s;
    for (std::size_t rank = 0; rank < sent_.size(); ++rank)
      cost.most_messages_of_a_rank =
          std::max(cost.most_messages_of_a_rank, static_cast<std::size_t>(std::max(sent_[rank], received_[rank])));
    for (std::size_t link = 0; link < load_.size(); ++link)
      cost.busiest_link_s_per_byte =
          std::max(cost.busiest_link_s_per_byte,
                   static_cast<double>(load_[link]) / chunks_ / topology_.link(static_cast<LinkId>(link)).bandwidth);
    return cost;
  }

  MessagePaths paths_;
  const Topology& topology_;
  std::vector<Message> messages_;
  Step steps_;
  Step segments_;
  double chunks_;                                     // of one segment's size in the call's count
  std::vector<std::int64_t> load_, sent_, received_;  // of the slot: [link] chunks, [rank] messages
};

}  // namespace

std::vector<SlotCost> slots_of(const Schedule& schedule, const Topology& topology, int segments) {
  return Pipeline(schedule, topology, segments).run();
}

double model_seconds(std::span<const SlotCost> slots, double bytes, double message_overhead_s) {
  double seconds = 0;
  for (const SlotCost& slot : slots) {
    const double overhead_s = static_cast<double>(slot.most_messages_of_a_rank) * message_overhead_s;
    if (seconds == 0) seconds = overhead_s;  // no link is busy before the first
    seconds +=
        slot.latency_s + static_cast<double>(slot.slots) * std::max(overhead_s, bytes * slot.busiest_link_s_per_byte);
  }
  return seconds;
}

Port port_of(const Topology& topology, double message_overhead_s) {
  Port port{message_overhead_s, 1};
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    double bandwidth = 0;
    for (const LinkId link : topology.links_out(host)) bandwidth += topology.link(link).bandwidth;
    port.bandwidth = std::max(port.bandwidth, bandwidth);
  }
  return port;
}

}  // namespace colltopo
