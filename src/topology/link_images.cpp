// Links out of a node are matched with those out of its image by their heads.
#include "topology/link_images.h"

#include <fmt/format.h>

#include "base/union_find.h"
#include "colltopo/error.h"

namespace colltopo {

namespace {

/// The links out of one node by their heads, in order.
class ByHead {
 public:
  explicit ByHead(const Topology& topology)
      : topology_(topology),
        first_(static_cast<std::size_t>(topology.nodes()), -1),
        next_(topology.links().size(), -1) {}

  void enter(NodeId node) {
    const auto links = topology_.links_out(node);
    for (std::size_t i = links.size(); i-- > 0;) {
      next_[static_cast<std::size_t>(links[i])] = first(links[i]);
      first(links[i]) = links[i];
    }
  }
  /// The next link to a head of this bandwidth, which is then gone; -1: there is none.
  LinkId take(NodeId head, double bandwidth) {
    for (LinkId* link = &first_[static_cast<std::size_t>(head)]; *link >= 0;
         link = &next_[static_cast<std::size_t>(*link)]) {
      if (topology_.link(*link).bandwidth != bandwidth) continue;
      const LinkId taken = *link;
      *link = next_[static_cast<std::size_t>(taken)];
      return taken;
    }
    return -1;
  }
  void leave(NodeId node) {
    for (const LinkId link : topology_.links_out(node)) first(link) = -1;
  }

 private:
  LinkId& first(LinkId link) { return first_[static_cast<std::size_t>(topology_.link(link).head)]; }

  const Topology& topology_;
  std::vector<LinkId> first_;  // [head]
  std::vector<LinkId> next_;   // [link]
};

}  // namespace

std::vector<LinkId> link_images(const Topology& topology, const std::vector<NodeId>& image, std::string* fault) {
  const auto of = [&](NodeId node) { return image[static_cast<std::size_t>(node)]; };
  std::vector<LinkId> images(topology.links().size(), -1);
  ByHead targets(topology);
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    const auto out = topology.links_out(node);
    if (out.size() != topology.links_out(of(node)).size()) {
      *fault = fmt::format("{} has {} links out, {}, to which it goes, {}", topology.node_name(node), out.size(),
                           topology.node_name(of(node)), topology.links_out(of(node)).size());
      return {};
    }
    targets.enter(of(node));
    for (const LinkId id : out) {
      const Link& link = topology.link(id);
      const LinkId target = targets.take(of(link.head), link.bandwidth);
      if (target < 0) {
        *fault = fmt::format("link {} goes to {} -> {}, which is no link of its bandwidth", topology.link_name(id),
                             topology.node_name(of(node)), topology.node_name(of(link.head)));
        return {};
      }
      images[static_cast<std::size_t>(id)] = target;
    }
    targets.leave(of(node));
  }
  return images;
}

std::vector<std::int32_t> link_orbits(const Topology& topology, const Symmetry& symmetry) {
  UnionFind orbits(topology.links().size());
  std::size_t number = 0;
  for (const Generator& generator : symmetry.generators()) {
    std::string fault;
    const std::vector<LinkId> images = link_images(topology, generator.image, &fault);
    if (!fault.empty())
      throw Error(fmt::format("generator {} is no automorphism of {}: {}", number, topology.name(), fault));
    for (std::size_t link = 0; link < images.size(); ++link) orbits.join(static_cast<LinkId>(link), images[link]);
    ++number;
  }
  return orbits.numbered();
}

}  // namespace colltopo
