// Even spreads in whole amounts: first the rounded-down share of every pair of ports, then one by one what is left, in
// rounds that shift ports against each other. In every round an ingress meets a port of another part, and ports of
// equal place in their parts meet first, so that each port reaches every other part before it reaches one twice.
#include "forest/split_guess.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace colltopo {

namespace {

struct Port {
  NodeId node = 0;
  Capacity entering = 0, leaving = 0;  // not paired yet
};

using Part = std::vector<Port>;

std::vector<Part> parts_of_ports(const SplitNetwork& network, NodeId relay, Spread over,
                                 const std::vector<NodeId>& part_of) {
  std::map<NodeId, Port> ports;
  for (const CapacityEdge& edge : network.edges_into(relay)) ports[edge.tail].entering = edge.capacity;
  for (const CapacityEdge& edge : network.edges_out_of(relay)) ports[edge.head].leaving = edge.capacity;
  std::map<NodeId, Part> parts;
  for (auto& [node, port] : ports) {
    port.node = node;
    parts[over == Spread::other_ports ? node : part_of[static_cast<std::size_t>(node)]].push_back(port);
  }
  std::vector<Part> list;
  list.reserve(parts.size());
  for (auto& [first, part] : parts) list.push_back(std::move(part));
  return list;
}

class Spreading {
 public:
  explicit Spreading(std::vector<Part> parts) : parts_(std::move(parts)) {}

  std::vector<Splitting> run() {
    pair_shares();
    const std::size_t parts = parts_.size();
    std::size_t widest = 0;
    for (const Part& part : parts_) widest = std::max(widest, part.size());
    // One by one to other parts, then all that is left, also to the same part, at last back to where it came from.
    const auto round = [&](std::size_t shift, std::size_t first_part, Capacity most) {
      bool paired = false;
      for (std::size_t distance = first_part; distance < parts; ++distance)
        for (std::size_t from = 0; from < parts; ++from)
          paired = pair_parts(parts_[from], parts_[(from + distance) % parts], shift, most) || paired;
      return paired;
    };
    for (bool paired = true; paired;) {
      paired = false;
      for (std::size_t shift = 0; shift < widest; ++shift) paired = round(shift, 1, 1) || paired;
    }
    for (std::size_t shift = widest; shift-- > 0;) round(shift, 0, k_any);
    std::vector<Splitting> splittings;
    for (const auto& [ends, amount] : amounts_) splittings.push_back({ends.first, ends.second, amount});
    return splittings;
  }

 private:
  static constexpr Capacity k_any = INT64_MAX;

  void pair(Port& from, Port& to, Capacity most) {
    const Capacity amount = std::min({from.entering, to.leaving, most});
    if (amount == 0) return;
    from.entering -= amount;
    to.leaving -= amount;
    amounts_[{from.node, to.node}] += amount;
  }

  void pair_shares() {
    double all = 0;
    for (const Part& part : parts_)
      for (const Port& port : part) all += static_cast<double>(port.leaving);
    const std::vector<Part> whole = parts_;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      double others = all;
      for (const Port& port : whole[i]) others -= static_cast<double>(port.leaving);
      if (others <= 0) continue;  // nothing leaves to other parts
      for (std::size_t p = 0; p < parts_[i].size(); ++p)
        for (std::size_t j = 0; j < parts_.size(); ++j)
          for (std::size_t q = 0; i != j && q < parts_[j].size(); ++q) {
            const double share =
                static_cast<double>(whole[i][p].entering) * static_cast<double>(whole[j][q].leaving) / others;
            pair(parts_[i][p], parts_[j][q], static_cast<Capacity>(share));
          }
    }
  }

  /// Every port of `from` with the one of `to` that lies `shift` places on.
  bool pair_parts(Part& from, Part& to, std::size_t shift, Capacity most) {
    bool paired = false;
    for (std::size_t place = 0; place < from.size(); ++place) {
      Port& target = to[(place + shift) % to.size()];
      if (from[place].entering == 0 || target.leaving == 0) continue;
      pair(from[place], target, most);
      paired = true;
    }
    return paired;
  }

  std::vector<Part> parts_;
  std::map<std::pair<NodeId, NodeId>, Capacity> amounts_;
};

}  // namespace

std::vector<Splitting> spread(const SplitNetwork& network, NodeId relay, Spread over,
                              const std::vector<NodeId>& part_of) {
  return Spreading(parts_of_ports(network, relay, over, part_of)).run();
}

std::vector<NodeId> parts_without(const SplitNetwork& network, const std::vector<NodeId>& relays) {
  std::vector<NodeId> part(static_cast<std::size_t>(network.topology().nodes()));
  std::iota(part.begin(), part.end(), 0);
  std::vector<bool> is_relay(part.size(), false);
  for (const NodeId relay : relays) is_relay[static_cast<std::size_t>(relay)] = true;
  const auto root = [&](NodeId node) {
    while (part[static_cast<std::size_t>(node)] != node) {
      NodeId& above = part[static_cast<std::size_t>(node)];
      above = part[static_cast<std::size_t>(above)];
      node = above;
    }
    return node;
  };
  for (const CapacityEdge& edge : network.edges()) {
    if (is_relay[static_cast<std::size_t>(edge.tail)] || is_relay[static_cast<std::size_t>(edge.head)]) continue;
    const NodeId a = root(edge.tail), b = root(edge.head);
    part[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  for (NodeId node = 0; node < network.topology().nodes(); ++node) part[static_cast<std::size_t>(node)] = root(node);
  return part;
}

}  // namespace colltopo
