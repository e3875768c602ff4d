// Networks in which switches carry the traffic of hosts.
#include "topology/families.h"

namespace colltopo {

Topology single_switch(const FamilySpec& spec) {
  expect_parameters(spec, 1, "switch:HOSTS");
  const NodeId hosts = number(spec, spec.parameters[0], "number of hosts", 1, k_most_hosts);
  TopologyBuilder builder(spec.text, hosts, 1);
  for (NodeId host = 0; host < hosts; ++host) builder.cable(host, hosts);
  return std::move(builder).build();
}

}  // namespace colltopo
