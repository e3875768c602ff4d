// A schedule's steps under SimGrid's flow model, beside our own: every message is a flow along its route, all of a step
// begin together, and the next step begins when the last has ended.
//
//   colltopo-bench-simgrid ALGORITHM COLLECTIVE TOPO BYTES [MOST]
//
// One line of CSV: the arguments, seconds by SimGrid, by fair shares and by the model, and how far the first two are
// apart; exit status 1 where that is more than MOST.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>

#include "colltopo/algorithms.h"
#include "colltopo/cost.h"
#include "simulation/simulation.h"

namespace {

using namespace colltopo;
namespace sg = simgrid::s4u;

/// The network as SimGrid's: a link for each of ours, and a route for each pair that has a message.
class Platform {
 public:
  Platform(const Schedule& schedule, const Topology& topology, const std::vector<Message>& messages)
      : paths_(schedule, topology), zone_(sg::create_full_zone("network")) {
    for (NodeId host = 0; host < topology.hosts(); ++host)
      hosts_.push_back(zone_->create_host(fmt::format("h{}", host), 1e9));
    std::vector<sg::Link*> links;
    for (std::size_t link = 0; link < topology.links().size(); ++link)
      links.push_back(zone_->create_link(fmt::format("l{}", link), topology.links()[link].bandwidth)
                          ->set_latency(topology.links()[link].latency)
                          ->seal());
    std::map<std::pair<Rank, Rank>, bool> joined;
    for (const Message& message : messages) {
      if (std::exchange(joined[{message.source, message.target}], true)) continue;
      std::vector<sg::LinkInRoute> route;
      for (const LinkId link : paths_.path(message)) route.emplace_back(links[static_cast<std::size_t>(link)]);
      zone_->add_route(host(message.source)->get_netpoint(), host(message.target)->get_netpoint(), nullptr, nullptr,
                       route, false);
    }
    zone_->seal();
  }
  sg::Host* host(Rank rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

 private:
  MessagePaths paths_;
  sg::NetZone* zone_;
  std::vector<sg::Host*> hosts_;
};

double by_simgrid(const Schedule& schedule, const Topology& topology, double bytes) {
  const std::vector<Message> messages = messages_of(schedule);
  const Platform platform(schedule, topology, messages);
  const double chunk = bytes / chunks_in_count(schedule.shape);
  double end = 0;
  sg::Actor::create("clock", platform.host(0), [&] {
    for (auto message = messages.begin(); message != messages.end();) {
      const Step step = message->step;
      std::vector<sg::CommPtr> flows;
      for (; message != messages.end() && message->step == step; ++message)
        flows.push_back(sg::Comm::sendto_async(platform.host(message->source), platform.host(message->target),
                                               static_cast<std::uint64_t>(std::llround(chunk * message->chunks))));
      for (const sg::CommPtr& flow : flows) flow->wait();
    }
    end = sg::Engine::get_clock();
  });
  sg::Engine::get_instance()->run();
  return end;
}

struct Line {
  double simgrid = 0, fair = 0, model = 0;
};

Schedule made(const std::string& name, const std::string& collective, const Topology& topology) {
  AlgorithmOptions options;
  options.dimensions = topology.arrangement();
  return generate(*algorithm_named(name), {*collective_named(collective), topology.hosts(), 1, 0}, options);
}

Line compared(const std::string& name, const std::string& collective, const std::string& spec, double bytes) {
  const Topology topology = topology_of(spec);
  const Schedule schedule = made(name, collective, topology);
  return {by_simgrid(schedule, topology, bytes), simulation::fair_seconds(schedule, topology, bytes),
          model_seconds(cost_of(schedule, topology), bytes, 0)};
}

int print(const std::string& name, const std::string& collective, const std::string& spec, double bytes, double most) {
  const Line line = compared(name, collective, spec, bytes);
  const double off = line.simgrid / line.fair - 1;
  fmt::print("{},{},{},{},{:.9g},{:.9g},{:.9g},{:+.4f}\n", name, collective, spec, bytes, line.simgrid, line.fair,
             line.model, off);
  return std::abs(off) <= most ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  sg::Engine engine(&argc, argv);
  // The plain fluid model: links share what they have, with no factors of TCP and no window.
  sg::Engine::set_config("network/model:CM02");
  sg::Engine::set_config("network/TCP-gamma:0");
  sg::Engine::set_config("network/crosstraffic:no");
  sg::Engine::set_config("network/weight-S:0");
  sg::Engine::set_config("network/loopback-lat:0");
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 4 && words.size() != 5) {
    fmt::print(stderr, "expected ALGORITHM COLLECTIVE TOPO BYTES [MOST]\n");
    return 2;
  }
  return print(words[0], words[1], words[2], std::stod(words[3]), words.size() == 5 ? std::stod(words[4]) : HUGE_VAL);
}
