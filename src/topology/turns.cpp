// Turns of digits commute when their digits are different ones of one mixed radix, and then act freely together. So a
// group is a chain of divisors of the number of hosts, 1 | b1 | b2 | ...: from b to b m either the digit of weight b
// and m values turns, or it does not. The longest chain, by the product of the digits that turn, is found divisor by
// divisor.
//
// A turn says where hosts go. Where switches go follows: those next to nodes that are known go to those next to their
// images, in the order of their numbers where several are alike, and so on inwards.
#include "colltopo/turns.h"
#include "base/index.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "topology/link_images.h"

namespace colltopo {

namespace {

/// A cable end as a switch sees it: direction, bandwidth and what is at the other end.
struct End {
  bool out;
  double bandwidth;
  NodeId node;
  auto operator<=>(const End&) const = default;
};

/// Where switches go when hosts go to `image`; false: nowhere.
class SwitchImages {
 public:
  SwitchImages(const Topology& topology, std::vector<NodeId>& image) : topology_(topology), image_(image) {
    image_.resize(index(topology.nodes()), -1);
  }

  bool find() {
    std::vector<NodeId> waiting(index(topology_.switches()));
    std::iota(waiting.begin(), waiting.end(), topology_.hosts());
    known_.assign(image_.size(), false);
    std::fill_n(known_.begin(), topology_.hosts(), true);
    while (!waiting.empty()) {
      std::map<std::vector<End>, std::vector<NodeId>> from, to;
      std::vector<NodeId> later;
      for (const NodeId node : waiting) {
        std::vector<End> ends = ends_of(node, false);
        if (ends.empty()) {
          later.push_back(node);
          continue;
        }
        to[std::move(ends)].push_back(node);
        from[ends_of(node, true)].push_back(node);
      }
      if (later.size() == waiting.size()) return false;  // switches that nobody is next to
      if (!match(from, to)) return false;
      for (const auto& [ends, nodes] : to)
        for (const NodeId node : nodes) known_[index(node)] = true;
      waiting = std::move(later);
    }
    return true;
  }

 private:
  using Alike = std::map<std::vector<End>, std::vector<NodeId>>;

  /// Ends at nodes that are known, or at their images.
  std::vector<End> ends_of(NodeId node, bool images) const {
    std::vector<End> ends;
    const auto add = [&](bool out, double bandwidth, NodeId other) {
      if (known_[index(other)]) ends.push_back({out, bandwidth, images ? image_[index(other)] : other});
    };
    for (const LinkId link : topology_.links_out(node))
      add(true, topology_.link(link).bandwidth, topology_.link(link).head);
    for (const LinkId link : topology_.links_in(node))
      add(false, topology_.link(link).bandwidth, topology_.link(link).tail);
    std::ranges::sort(ends);
    return ends;
  }
  bool match(const Alike& from, const Alike& to) {
    for (const auto& [ends, nodes] : from) {
      const auto targets = to.find(ends);
      if (targets == to.end() || targets->second.size() != nodes.size()) return false;
      for (std::size_t i = 0; i < nodes.size(); ++i) image_[index(nodes[i])] = targets->second[i];
    }
    return true;
  }

  const Topology& topology_;
  std::vector<NodeId>& image_;
  std::vector<bool> known_;  // [node]
};

/// Whether the links among hosts of the first few hosts stay links: what most turns fail, looked at before the rest.
bool may_turn(const Topology& topology, std::int32_t block, std::int32_t order) {
  constexpr NodeId k_looked_at = 64;
  const auto moved = [&](NodeId host) {
    return (host / block) % order + 1 < order ? host + block : host - block * (order - 1);
  };
  for (NodeId host = 0; host < std::min(topology.hosts(), k_looked_at); ++host) {
    const auto targets = topology.links_out(moved(host));
    if (targets.size() != topology.links_out(host).size()) return false;
    for (const LinkId link : topology.links_out(host)) {
      const NodeId head = topology.link(link).head;
      if (topology.is_host(head) &&
          std::ranges::none_of(targets, [&](LinkId target) { return topology.link(target).head == moved(head); }))
        return false;
    }
  }
  return true;
}

std::optional<Generator> turn_of(const Topology& topology, std::int32_t block, std::int32_t order) {
  if (!may_turn(topology, block, order)) return {};
  Generator generator = turn(topology.hosts(), block, order);
  std::string fault;
  if (!SwitchImages(topology, generator.image).find()) return {};
  link_images(topology, generator.image, &fault);
  if (!fault.empty()) return {};
  return generator;
}

std::vector<std::int32_t> divisors_of(std::int32_t number) {
  std::vector<std::int32_t> divisors;
  for (std::int32_t d = 1; d <= number / d; ++d) {
    if (number % d != 0) continue;
    divisors.push_back(d);
    if (d != number / d) divisors.push_back(number / d);
  }
  std::ranges::sort(divisors);
  return divisors;
}

/// The hosts with digit 0 wherever a digit turns.
std::vector<std::int32_t> representatives(std::int32_t hosts, const std::vector<std::int32_t>& blocks,
                                          const std::vector<Generator>& generators) {
  std::vector<std::int32_t> chosen;
  for (std::int32_t host = 0; host < hosts; ++host) {
    bool zero = true;
    for (std::size_t i = 0; i < blocks.size(); ++i) zero = zero && host / blocks[i] % generators[i].order == 0;
    if (zero) chosen.push_back(host);
  }
  return chosen;
}

/// Turns that commute on switches as well; what does not is left out, the smaller part of the group first.
Symmetry group_of(std::int32_t hosts, std::vector<std::int32_t> blocks, std::vector<Generator> generators) {
  for (;;) {
    Symmetry symmetry(hosts, generators, representatives(hosts, blocks, generators));
    if (generators.empty() || symmetry.fault().empty()) return symmetry;
    const auto least = std::ranges::min_element(generators, {}, &Generator::order) - generators.begin();
    generators.erase(generators.begin() + least);
    blocks.erase(blocks.begin() + least);
  }
}

}  // namespace

Symmetry turns_of(const Topology& topology) {
  struct Best {
    std::int64_t product = 0;
    std::size_t before = 0;
    bool turns = false;
  };
  const std::vector<std::int32_t> divisors = divisors_of(topology.hosts());
  std::vector<Best> best(divisors.size());
  std::map<std::pair<std::int32_t, std::int32_t>, Generator> turns;  // by block and order
  best[0].product = 1;
  for (std::size_t to = 1; to < divisors.size(); ++to)
    for (std::size_t from = 0; from < to; ++from) {
      if (divisors[to] % divisors[from] != 0) continue;
      const std::int32_t order = divisors[to] / divisors[from];
      std::optional<Generator> generator = turn_of(topology, divisors[from], order);
      const std::int64_t product = best[from].product * (generator ? order : 1);
      if (product > best[to].product) best[to] = {product, from, generator.has_value()};
      if (generator) turns.emplace(std::pair{divisors[from], order}, std::move(*generator));
    }
  std::vector<std::int32_t> blocks;
  std::vector<Generator> generators;
  for (std::size_t at = divisors.size() - 1; at > 0; at = best[at].before) {
    if (!best[at].turns) continue;
    blocks.push_back(divisors[best[at].before]);
    generators.push_back(std::move(turns.at({blocks.back(), divisors[at] / blocks.back()})));
  }
  return group_of(topology.hosts(), std::move(blocks), std::move(generators));
}

}  // namespace colltopo
