// Max-min fair sharing of links by flows that begin together: shares grow alike until a link is full, its flows are
// fixed, and so on; when a flow ends, the others share again. It is what SimGrid's flow model computes.
#include <algorithm>
#include <limits>

#include "simulation/simulation.h"

namespace colltopo::simulation {

namespace {

constexpr double k_no_rate = 1e-9;  // of a flow's bytes: what rounding leaves

class Sharing {
 public:
  Sharing(const std::vector<Flow>& flows, const Topology& topology)
      : flows_(flows), topology_(topology), left_(flows.size()), users_(topology.links().size()) {
    for (std::size_t f = 0; f < flows.size(); ++f) {
      left_[f] = flows[f].bytes;
      if (flows[f].path.empty() || flows[f].bytes <= 0) continue;
      active_.push_back(f);
    }
  }

  double run() {
    double now = 0;
    while (!active_.empty()) {
      share();
      double next = std::numeric_limits<double>::infinity();
      for (const std::size_t f : active_) next = std::min(next, left_[f] / rate_[f]);
      now += next;
      for (const std::size_t f : active_) left_[f] -= next * rate_[f];
      std::erase_if(active_, [&](std::size_t f) { return left_[f] <= k_no_rate * flows_[f].bytes; });
    }
    return now;
  }

 private:
  void share() {
    rate_.assign(flows_.size(), 0);
    std::vector<double> room(topology_.links().size());
    std::vector<int> open(topology_.links().size(), 0);
    std::vector<LinkId> used;
    for (auto& users : users_) users.clear();
    for (const std::size_t f : active_)
      for (const LinkId link : flows_[f].path) {
        const auto at = static_cast<std::size_t>(link);
        if (open[at]++ == 0) used.push_back(link), room[at] = topology_.link(link).bandwidth;
        users_[at].push_back(f);
      }
    while (!used.empty()) {
      double least = std::numeric_limits<double>::infinity();
      for (const LinkId link : used) {
        const auto at = static_cast<std::size_t>(link);
        least = std::min(least, room[at] / open[at]);
      }
      fix_narrowest(least, used, room, open);
    }
  }

  /// The flows over all links that are full at this share.
  void fix_narrowest(double share, std::vector<LinkId>& used, std::vector<double>& room, std::vector<int>& open) {
    constexpr double k_alike = 1 + 1e-12;
    std::vector<LinkId> full;
    for (const LinkId link : used) {
      const auto at = static_cast<std::size_t>(link);
      if (room[at] / open[at] <= share * k_alike) full.push_back(link);
    }
    for (const LinkId link : full)
      for (const std::size_t f : users_[static_cast<std::size_t>(link)]) {
        if (rate_[f] > 0) continue;
        rate_[f] = share;
        for (const LinkId other : flows_[f].path) {
          room[static_cast<std::size_t>(other)] -= share;
          --open[static_cast<std::size_t>(other)];
        }
      }
    std::erase_if(used, [&](LinkId link) { return open[static_cast<std::size_t>(link)] == 0; });
  }

  const std::vector<Flow>& flows_;
  const Topology& topology_;
  std::vector<double> left_, rate_;              // [flow] bytes; bytes per second
  std::vector<std::size_t> active_;              // flows
  std::vector<std::vector<std::size_t>> users_;  // [link] flows
};

}  // namespace

double fair_seconds(const std::vector<Flow>& flows, const Topology& topology) { return Sharing(flows, topology).run(); }

double fair_seconds(const Schedule& schedule, const Topology& topology, double bytes) {
  const MessagePaths paths(schedule, topology);
  const double chunk = bytes / chunks_in_count(schedule.shape);
  const std::vector<Message> messages = messages_of(schedule);
  double seconds = 0;
  for (auto message = messages.begin(); message != messages.end();) {
    const Step step = message->step;
    std::vector<Flow> flows;
    double longest = 0;
    for (; message != messages.end() && message->step == step; ++message) {
      flows.push_back({paths.path(*message), chunk * message->chunks});
      double latency = 0;
      for (const LinkId link : flows.back().path) latency += topology.link(link).latency;
      longest = std::max(longest, latency);
    }
    seconds += longest + fair_seconds(flows, topology);
  }
  return seconds;
}

}  // namespace colltopo::simulation
