// Messages onto links, links into seconds.
#include "colltopo/cost.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "colltopo/error.h"

namespace colltopo {

namespace {

/// Loads of links, with a list of those touched so that the next step starts clean in time proportional to this one.
class Loads {
 public:
  explicit Loads(std::size_t links) : load_(links, 0), messages_(links, 0) {}

  void add(LinkId link, double load) {
    const auto at = static_cast<std::size_t>(link);
    if (messages_[at] == 0) touched_.push_back(link);
    load_[at] += load;
    ++messages_[at];
  }
  const std::vector<LinkId>& touched() const { return touched_; }
  double load(LinkId link) const { return load_[static_cast<std::size_t>(link)]; }
  std::size_t messages(LinkId link) const { return messages_[static_cast<std::size_t>(link)]; }
  void clear() {
    for (const LinkId link : touched_)
      load_[static_cast<std::size_t>(link)] = 0, messages_[static_cast<std::size_t>(link)] = 0;
    touched_.clear();
  }

 private:
  std::vector<double> load_;
  std::vector<std::size_t> messages_;
  std::vector<LinkId> touched_;
};

/// The busiest link and its seconds per byte; the lowest number of equals.
void find_busiest(const Topology& topology, const Loads& loads, LinkId& busiest, double& seconds_per_byte) {
  for (const LinkId link : loads.touched()) {
    const double seconds = loads.load(link) / topology.link(link).bandwidth;
    if (busiest >= 0 && (seconds < seconds_per_byte || (seconds == seconds_per_byte && link > busiest))) continue;
    busiest = link;
    seconds_per_byte = seconds;
  }
}

/// Messages that each rank sends or receives in a step, whichever is more.
std::size_t most_of_a_rank(std::span<const Message> step) {
  std::unordered_map<Rank, std::size_t> sent, received;
  std::size_t most = 0;
  for (const Message& message : step) most = std::max({most, ++sent[message.source], ++received[message.target]});
  return most;
}

bool joins_neighbours(const Topology& topology, const std::vector<LinkId>& path) {
  return path.empty() || std::none_of(path.begin(), path.end() - 1,
                                      [&](LinkId link) { return topology.is_host(topology.link(link).head); });
}

}  // namespace

std::vector<Message> messages_of(const Schedule& schedule) {
  std::vector<Message> messages;
  for (const Program& program : schedule.programs) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.action == Action::send)
        messages.push_back({op.step, program.rank(), op.peer, op.lane, chunks_in(op.source)});
    }
  }
  std::stable_sort(messages.begin(), messages.end(),
                   [](const Message& a, const Message& b) { return a.step < b.step; });
  return messages;
}

double chunks_in_count(const Shape& shape) { return shape.parts(); }

double received_per_byte(const Shape& shape) { return row(shape.collective).received(shape.ranks); }

MessagePaths::MessagePaths(const Schedule& schedule, const Topology& topology)
    : schedule_(schedule), topology_(topology), shortest_(topology) {
  if (schedule.shape.ranks != topology.hosts())
    throw Error(fmt::format("{}: {} ranks on {} hosts of {}; rank r runs on host r, so they must be equal",
                            schedule.name, schedule.shape.ranks, topology.hosts(), topology.name()));
  if (schedule.routes.empty()) return;
  for (Rank rank = 0; rank <= schedule.shape.ranks; ++rank) {
    const auto first = std::lower_bound(schedule.routes.begin(), schedule.routes.end(), rank,
                                        [](const Route& route, Rank source) { return route.source < source; });
    first_route_.push_back(static_cast<std::size_t>(first - schedule.routes.begin()));
  }
}

std::vector<LinkId> MessagePaths::path(const Message& message) const {
  if (schedule_.routes.empty()) return shortest_.path(message.source, message.target);
  const auto key = [](const auto& route) { return std::tuple(route.source, route.target, route.lane); };
  const auto begin = schedule_.routes.begin();
  const auto source = static_cast<std::size_t>(message.source);
  const auto end = begin + static_cast<std::ptrdiff_t>(first_route_[source + 1]);
  const auto found = std::lower_bound(begin + static_cast<std::ptrdiff_t>(first_route_[source]), end, message,
                                      [&](const Route& route, const Message& m) { return key(route) < key(m); });
  if (found == end || key(*found) != key(message))
    throw Error(
        fmt::format("{}: no route from {} to {} on lane {}, which step {} uses; a schedule with routes has one for "
                    "every message",
                    schedule_.name, message.source, message.target, message.lane, message.step));
  for (const LinkId link : found->links)
    if (link < 0 || static_cast<std::size_t>(link) >= topology_.links().size())
      throw Error(fmt::format("{}: route from {} to {} takes link {}; {} has links 0..{}", schedule_.name,
                              message.source, message.target, link, topology_.name(), topology_.links().size() - 1));
  return found->links;
}

std::vector<double> link_loads(const Schedule& schedule, const Topology& topology, Step step) {
  const MessagePaths paths(schedule, topology);
  const double chunks = chunks_in_count(schedule.shape);
  std::vector<double> loads(topology.links().size(), 0);
  for (const Message& message : messages_of(schedule)) {
    if (step != 0 && message.step != step) continue;
    for (const LinkId link : paths.path(message)) loads[static_cast<std::size_t>(link)] += message.chunks / chunks;
  }
  return loads;
}

std::vector<double> link_loads(const Schedule& schedule, const Topology& topology, const Demand& demand) {
  if (schedule.shape.collective != Collective::alltoall || step_pattern(schedule).sizes != Sizes::of_messages)
    throw Error(
        fmt::format("{}: passes blocks on, or is no alltoall; blocks of sizes of their own go by alltoalls that "
                    "send each straight to its owner",
                    schedule.name));
  const MessagePaths paths(schedule, topology);
  const double chunks = schedule.shape.chunks;
  std::vector<double> loads(topology.links().size(), 0);
  for (const Message& message : messages_of(schedule)) {
    const double bytes = demand.bytes(message.source, message.target) * message.chunks / chunks;
    for (const LinkId link : paths.path(message)) loads[static_cast<std::size_t>(link)] += bytes;
  }
  return loads;
}

Cost cost_of(const Schedule& schedule, const Topology& topology) {
  const MessagePaths paths(schedule, topology);
  const std::vector<Message> messages = messages_of(schedule);
  const double chunks = chunks_in_count(schedule.shape);

  Cost cost;
  cost.messages = messages.size();
  Loads in_step(topology.links().size()), in_all(topology.links().size());
  for (auto first = messages.begin(); first != messages.end();) {
    const auto end = std::find_if(first, messages.end(), [&](const Message& m) { return m.step != first->step; });
    StepCost step;
    step.step = first->step;
    step.messages = static_cast<std::size_t>(end - first);
    step.most_messages_of_a_rank = most_of_a_rank({first, end});
    for (; first != end; ++first) {
      const std::vector<LinkId> path = paths.path(*first);
      double latency = 0;
      for (const LinkId link : path) {
        in_step.add(link, first->chunks / chunks);
        in_all.add(link, first->chunks / chunks);
        latency += topology.link(link).latency;
        step.most_messages_on_a_link = std::max(step.most_messages_on_a_link, in_step.messages(link));
      }
      step.longest_latency_s = std::max(step.longest_latency_s, latency);
      cost.neighbours_only = cost.neighbours_only && joins_neighbours(topology, path);
    }
    find_busiest(topology, in_step, step.busiest_link, step.busiest_link_s_per_byte);
    in_step.clear();
    cost.steps.push_back(step);
  }
  find_busiest(topology, in_all, cost.busiest_link, cost.busiest_link_s_per_byte);
  return cost;
}

double model_seconds(const Cost& cost, double bytes, double message_overhead_s) {
  double seconds = 0;
  for (const StepCost& step : cost.steps)
    seconds += static_cast<double>(step.most_messages_of_a_rank) * message_overhead_s + step.longest_latency_s +
               bytes * step.busiest_link_s_per_byte;
  return seconds;
}

}  // namespace colltopo
