// The graph itself: links, and which of them leave and enter a node.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/lines.h"
#include "base/plain.h"
#include "colltopo/error.h"
#include "colltopo/topology.h"
#include "topology/families.h"

namespace colltopo {

namespace {

constexpr std::int64_t k_most_nodes = 1 << 22;
constexpr std::size_t k_most_links = 1 << 24;  // some 40 bytes each
constexpr std::size_t k_most_name = 1000;      // bytes; of hosts 253 (RFC 1035), of made-up switches some hundred
constexpr std::size_t k_most_text = 1 << 16;   // bytes of a topology's name, which may be a spec with a list of cables

// Counting sort: links keep their order within a node.
void group_by(const std::vector<Link>& links, NodeId Link::*end, NodeId nodes, std::vector<LinkId>& grouped,
              std::vector<std::size_t>& first) {
  first.assign(static_cast<std::size_t>(nodes) + 1, 0);
  for (const Link& link : links) ++first[static_cast<std::size_t>(link.*end) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  grouped.resize(links.size());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (std::size_t i = 0; i < links.size(); ++i)
    grouped[next[static_cast<std::size_t>(links[i].*end)]++] = static_cast<LinkId>(i);
}

std::span<const LinkId> group(const std::vector<LinkId>& grouped, const std::vector<std::size_t>& first, NodeId node) {
  const auto at = static_cast<std::size_t>(node);
  return std::span(grouped).subspan(first[at], first[at + 1] - first[at]);
}

/// "" or what makes the links not those of the grid.
std::string grid_fault(const Topology& topology) {
  std::int64_t expected = 0;  // links
  for (const int side : topology.sides())
    if (side > 1) expected += 2LL * (topology.hosts() / side) * (topology.wraps() && side > 2 ? side : side - 1);
  if (topology.switches() > 0 || expected != static_cast<std::int64_t>(topology.links().size()))
    return fmt::format("{} switches and {} links; such a grid has no switches and {} links", topology.switches(),
                       topology.links().size(), expected);
  for (const Link& link : topology.links()) {
    int hops = 0;
    NodeId stride = topology.hosts();
    for (const int side : topology.sides()) {
      stride /= side;
      const int apart = std::abs(link.tail / stride % side - link.head / stride % side);
      hops += topology.wraps() ? std::min(apart, side - apart) : apart;
    }
    if (hops != 1) return fmt::format("link {} -> {}, which joins no grid neighbours", link.tail, link.head);
    const auto same = [&](LinkId other) { return topology.link(other).head == link.head; };
    if (std::ranges::count_if(topology.links_out(link.tail), same) > 1)
      return fmt::format("link {} -> {} twice; a grid has one between neighbours, and another is missing", link.tail,
                         link.head);
  }
  return "";
}

/// Names come from others' files and end in scripts, pages and terminals: every one is looked at here.
void expect_plain(std::string_view name, std::size_t most, std::string_view of) {
  if (name.size() > most)
    throw Error(
        fmt::format("{}: the name of {} has {} bytes; allowed are {}", short_text(name), of, name.size(), most));
  if (const std::size_t at = control_at(name); at != std::string_view::npos)
    throw Error(fmt::format("{}: the name of {} has a control character at byte {}; allowed are letters",
                            short_text(name), of, at));
}

}  // namespace

std::span<const LinkId> Topology::links_out(NodeId node) const { return group(out_, first_out_, node); }
std::span<const LinkId> Topology::links_in(NodeId node) const { return group(in_, first_in_, node); }

std::string Topology::link_name(LinkId id) const {
  return fmt::format("{} -> {}", node_name(link(id).tail), node_name(link(id).head));
}

TopologyBuilder::TopologyBuilder(std::string name, std::int64_t hosts, std::int64_t switches) {
  expect_plain(name, k_most_text, "a topology");
  if (hosts < 1 || switches < 0 || hosts > k_most_nodes || switches > k_most_nodes - hosts)
    throw Error(fmt::format("{}: {} hosts and {} switches; allowed are 1 host or more and {} nodes in all", name, hosts,
                            switches, k_most_nodes));
  topology_.name_ = std::move(name);
  topology_.hosts_ = static_cast<NodeId>(hosts);
  topology_.node_names_.reserve(static_cast<std::size_t>(hosts + switches));
  for (std::int64_t host = 0; host < hosts; ++host) topology_.node_names_.push_back(std::to_string(host));
  for (std::int64_t i = 0; i < switches; ++i) topology_.node_names_.push_back(fmt::format("s{}", i));
}

TopologyBuilder& TopologyBuilder::name_node(NodeId node, std::string name) {
  if (node < 0 || node >= topology_.nodes() || name.empty())
    throw Error(fmt::format("{}: name {} for node {}; nodes are 0..{} and names not empty", topology_.name_,
                            in_quotes(name), node, topology_.nodes() - 1));
  expect_plain(name, k_most_name, "a node");
  topology_.node_names_[static_cast<std::size_t>(node)] = std::move(name);
  return *this;
}

TopologyBuilder& TopologyBuilder::link(NodeId tail, NodeId head, double bandwidth, double latency) {
  const NodeId nodes = topology_.nodes();
  if (tail < 0 || head < 0 || tail >= nodes || head >= nodes)
    throw Error(
        fmt::format("{}: link {} -> {} leaves the topology; nodes are 0..{}", topology_.name_, tail, head, nodes - 1));
  if (tail == head)
    throw Error(
        fmt::format("{}: link {} -> {} joins a node with itself; its ends must differ", topology_.name_, tail, head));
  if (!std::isfinite(bandwidth) || bandwidth <= 0)
    throw Error(fmt::format("{}: link {} -> {} has bandwidth {}; it must be above 0 bytes per second", topology_.name_,
                            tail, head, bandwidth));
  if (!std::isfinite(latency) || latency < 0)
    throw Error(fmt::format("{}: link {} -> {} has latency {}; it must be 0 seconds or more", topology_.name_, tail,
                            head, latency));
  if (topology_.links_.size() == k_most_links)
    throw Error(fmt::format("{}: more than {} links; choose a smaller topology", topology_.name_, k_most_links));
  topology_.links_.push_back({tail, head, bandwidth, latency});
  return *this;
}

TopologyBuilder& TopologyBuilder::cable(NodeId a, NodeId b) { return link(a, b).link(b, a); }

TopologyBuilder& TopologyBuilder::grid(std::vector<int> sides, bool wraps) {
  arrange(sides);
  topology_.sides_ = std::move(sides);
  topology_.wraps_ = wraps;
  return *this;
}

TopologyBuilder& TopologyBuilder::arrange(std::vector<int> sides) {
  if (sides.size() > k_most_sides)
    throw Error(fmt::format("{}: {} sides; allowed are {}", topology_.name_, sides.size(), k_most_sides));
  std::int64_t points = 1;
  for (const int side : sides) {
    if (side < 1) points = std::numeric_limits<std::int32_t>::max();
    points = std::min<std::int64_t>(points * std::max(side, 1), std::numeric_limits<std::int32_t>::max());
  }
  if (points != topology_.hosts_)
    throw Error(fmt::format("{}: sides {} are not a grid of {} hosts; their product must be the number of hosts",
                            topology_.name_, fmt::join(sides, "x"), topology_.hosts_));
  topology_.arrangement_ = std::move(sides);
  return *this;
}

TopologyBuilder& TopologyBuilder::route(SinglePaths paths) {
  topology_.single_paths_ = paths;
  return *this;
}

Topology TopologyBuilder::build() && {
  // Everything that is computed from links divides their bandwidths or adds them up.
  double& slowest = topology_.slowest_bandwidth_;
  double fastest = 0, sum = 0;
  for (const Link& link : topology_.links_) {
    slowest = slowest == 0 ? link.bandwidth : std::min(slowest, link.bandwidth);
    fastest = std::max(fastest, link.bandwidth);
    sum += link.bandwidth;
  }
  if (!topology_.links_.empty() && !(std::isfinite(fastest / slowest) && std::isfinite(sum)))
    throw Error(fmt::format("{}: links of {} and of {} bytes per second; their ratio and sum must be finite numbers",
                            topology_.name_, slowest, fastest));
  group_by(topology_.links_, &Link::tail, topology_.nodes(), topology_.out_, topology_.first_out_);
  group_by(topology_.links_, &Link::head, topology_.nodes(), topology_.in_, topology_.first_in_);
  if (!topology_.sides_.empty()) {
    if (const std::string fault = grid_fault(topology_); !fault.empty())
      throw Error(fmt::format("{}: sides {} with {}", topology_.name_, fmt::join(topology_.sides_, "x"), fault));
  }
  return std::move(topology_);
}

}  // namespace colltopo
