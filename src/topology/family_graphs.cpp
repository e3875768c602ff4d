// Direct networks given by a rule: complete graphs, circulants and the generalized Kautz graphs.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/lines.h"
#include "topology/families.h"

namespace colltopo {

Topology complete(const FamilySpec& spec) {
  expect_parameters(spec, 1, "complete:HOSTS");
  const NodeId hosts = number(spec, spec.parameters[0], "number of hosts", 2, 5000);
  TopologyBuilder builder(spec.text, hosts);
  for (NodeId a = 0; a < hosts; ++a)
    for (NodeId b = a + 1; b < hosts; ++b) builder.cable(a, b);
  return std::move(builder).build();
}

Topology bipartite(const FamilySpec& spec) {
  expect_parameters(spec, 2, "bipartite:HOSTS:HOSTS");
  const NodeId left = number(spec, spec.parameters[0], "number of hosts", 1, 2500);
  const NodeId right = number(spec, spec.parameters[1], "number of hosts", 1, 2500);
  TopologyBuilder builder(spec.text, left + right);
  for (NodeId a = 0; a < left; ++a)
    for (NodeId b = 0; b < right; ++b) builder.cable(a, left + b);
  return std::move(builder).build();
}

// A stride of half the hosts has one cable for two of them.
Topology circulant(const FamilySpec& spec) {
  expect_parameters(spec, 2, "circulant:HOSTS:STRIDE,STRIDE...");
  const NodeId hosts = number(spec, spec.parameters[0], "number of hosts", 2, k_most_hosts);
  std::vector<NodeId> strides;
  NodeId common = hosts;
  for (const std::string& text : split_at(spec.parameters[1], ',')) {
    const NodeId stride = number(spec, text, "stride", 1, hosts / 2);
    if (std::ranges::find(strides, stride) != strides.end())
      refuse(spec, fmt::format("stride {} twice", stride), "every stride once");
    strides.push_back(stride);
    common = std::gcd(common, stride);
  }
  if (common > 1)
    refuse(spec, fmt::format("{} divides the hosts and all strides, so that they fall into {} parts", common, common),
           "a stride that has no divisor in common with the others and the hosts, such as 1");
  TopologyBuilder builder(spec.text, hosts);
  for (NodeId host = 0; host < hosts; ++host)
    for (const NodeId stride : strides)
      if (2 * stride < hosts || host < stride) builder.cable(host, (host + stride) % hosts);
  return std::move(builder).build();
}

// Imase and Itoh 1983: a digraph with short paths for every number of nodes and degree. Host u has a link to
// -(d*u) - a modulo the number of hosts, for a = 1..d. Where that is u itself there is no link, so those few hosts
// (none when d + 1 divides the number of hosts) have fewer links.
Topology kautz(const FamilySpec& spec) {
  expect_parameters(spec, 2, "kautz:HOSTS:DEGREE");
  const std::int64_t hosts = number(spec, spec.parameters[0], "number of hosts", 2, k_most_hosts);
  const std::int64_t degree =
      number(spec, spec.parameters[1], "degree", 1, static_cast<int>(std::min<std::int64_t>(hosts - 1, 1024)));
  TopologyBuilder builder(spec.text, hosts);
  for (std::int64_t host = 0; host < hosts; ++host) {
    for (std::int64_t a = 1; a <= degree; ++a) {
      const std::int64_t sum = (degree * host + a) % hosts;
      const std::int64_t head = (hosts - sum) % hosts;
      if (head != host) builder.link(static_cast<NodeId>(host), static_cast<NodeId>(head));
    }
  }
  return std::move(builder).build();
}

}  // namespace colltopo
