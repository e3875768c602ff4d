#include <numeric>

#include "colltopo/placement.h"
#include "comm/machine_network.h"
#include "prepare/request.h"

namespace colltopo::prepare {

Ground ground_on(Topology machine, std::vector<int> ranks_on, const Machine& prices) {
  Ground ground;
  ground.network = with_ranks(machine, ranks_on, with_ranks_text(machine.name(), ranks_on));
  for (std::size_t host = 0; host < ranks_on.size(); ++host)
    ground.node_of.insert(ground.node_of.end(), static_cast<std::size_t>(ranks_on[host]), static_cast<int>(host));
  bool everywhere = true;
  for (const int count : ranks_on) everywhere = everywhere && count > 0;
  if (everywhere) ground.dimensions = machine.sides();
  ground.prices = prices;
  if (everywhere && machine.hosts() > 1 && ground.ranks() <= k_most_ranks_by_link) {
    std::vector<NodeId> hosts(ranks_on.size());
    std::iota(hosts.begin(), hosts.end(), 0);
    ground.links = std::make_shared<const NodeNetwork>(machine, hosts);
  }
  ground.machine = std::move(machine);
  ground.ranks_on = std::move(ranks_on);
  return ground;
}

}  // namespace colltopo::prepare
