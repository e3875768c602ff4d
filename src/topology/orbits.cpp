// Automorphisms by bliss (Junttila, Kaski 2007), on a graph with coloured vertices and plain edges.
//
// All links from one node to another are one arc whose kind is the bandwidths of its links. Arcs of the commonest kind
// become edges of the bliss graph; every other arc gets a vertex of its own, coloured by the kind, in the middle.
// Hosts with the same links to the same neighbours (on one switch, or all joined to each other) are found first and
// only one of them is given to bliss, coloured by their number: bliss would else look at every swap of two of them.
// Edges of large cliques that no other clique shares (the lines of a HyperX) become spokes of a hub vertex: cliques.h.
#include "topology/orbits.h"

#include <algorithm>
#include <bliss/graph.hh>
#if __has_include(<bliss/digraph.hh>)
#include <bliss/digraph.hh>  // of its own since bliss 0.77
#endif
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>
#include <ranges>
#include <set>

#include "base/index.h"
#include "base/union_find.h"
#include "topology/cliques.h"

namespace colltopo {

namespace {

/// All links from one node to another.
struct Arc {
  NodeId tail = 0, head = 0;
  int kind = 0;  // equal where the bandwidths are, sorted

  friend bool operator<(const Arc& a, const Arc& b) {
    return a.tail != b.tail ? a.tail < b.tail : a.head != b.head ? a.head < b.head : a.kind < b.kind;
  }
  friend bool operator==(const Arc&, const Arc&) = default;
};

std::vector<LinkId> by_ends(const Topology& topology) {
  std::vector<LinkId> order;
  order.reserve(topology.links().size());
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    const auto out = topology.links_out(node);
    const auto first = order.insert(order.end(), out.begin(), out.end());
    std::sort(first, order.end(), [&](LinkId a, LinkId b) {
      const Link &left = topology.link(a), &right = topology.link(b);
      if (left.head != right.head) return left.head < right.head;
      return left.bandwidth != right.bandwidth ? left.bandwidth < right.bandwidth : a < b;
    });
  }
  return order;
}

/// Sorted by tail and head; kinds are numbered by the order of their bandwidths.
std::vector<Arc> arcs_of(const Topology& topology, const std::vector<LinkId>& sorted_links) {
  const auto same_ends = [&](LinkId a, LinkId b) {
    return topology.link(a).tail == topology.link(b).tail && topology.link(a).head == topology.link(b).head;
  };
  std::map<std::vector<double>, int> kinds;
  std::vector<double> bandwidths;
  // Calls found(first link) with the bandwidths of all links between two nodes in `bandwidths`.
  const auto for_each_arc = [&](const auto& found) {
    for (std::size_t first = 0; first < sorted_links.size();) {
      bandwidths.clear();
      std::size_t next = first;
      for (; next < sorted_links.size() && same_ends(sorted_links[first], sorted_links[next]); ++next)
        bandwidths.push_back(topology.link(sorted_links[next]).bandwidth);
      found(topology.link(sorted_links[first]));
      first = next;
    }
  };
  for_each_arc([&](const Link&) { kinds.try_emplace(bandwidths, 0); });
  int next = 0;
  for (auto& [kind, number] : kinds) number = next++;
  std::vector<Arc> arcs;
  for_each_arc([&](const Link& link) { arcs.push_back({link.tail, link.head, kinds.at(bandwidths)}); });
  return arcs;
}

int commonest_kind(const std::vector<Arc>& arcs) {
  std::map<int, std::size_t> counts;
  for (const Arc& arc : arcs) ++counts[arc.kind];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? 0 : most->first;
}

/// Hosts with the same arcs from and to the same nodes, apart from those among themselves.
struct Alike {
  std::vector<NodeId> hosts;
  bool joined = false;  // every two of them both ways by arcs of the commonest kind, rather than none
};

/// One arc as its host sees it.
struct Seen {
  NodeId neighbour;
  int kind;  // negative: it comes in
  auto operator<=>(const Seen&) const = default;
};

/// Hosts that see the same, in the order of what they see.
std::vector<std::vector<NodeId>> grouped(const std::vector<std::vector<Seen>>& seen) {
  std::vector<NodeId> hosts(seen.size());
  std::iota(hosts.begin(), hosts.end(), 0);
  std::sort(hosts.begin(), hosts.end(), [&](NodeId a, NodeId b) {
    const auto order = seen[index(a)] <=> seen[index(b)];
    return order == 0 ? a < b : order < 0;
  });
  std::vector<std::vector<NodeId>> groups;
  for (const NodeId host : hosts) {
    if (groups.empty() || seen[index(groups.back().front())] != seen[index(host)]) groups.emplace_back();
    groups.back().push_back(host);
  }
  return groups;
}

/// All hosts, grouped; groups in the order of their first host. No host is alike to some by both meanings.
std::vector<Alike> alike_hosts(const Topology& topology, const std::vector<Arc>& arcs) {
  std::vector<std::vector<Seen>> seen(index(topology.hosts()));
  for (const Arc& arc : arcs) {
    if (topology.is_host(arc.tail)) seen[index(arc.tail)].push_back({arc.head, arc.kind});
    if (topology.is_host(arc.head)) seen[index(arc.head)].push_back({arc.tail, ~arc.kind});
  }
  const int kind = commonest_kind(arcs);
  for (std::vector<Seen>& sees : seen) std::sort(sees.begin(), sees.end());
  const std::vector<std::vector<NodeId>> apart = grouped(seen);
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    // As if it were joined to itself, it sees what those joined to it see.
    std::vector<Seen>& sees = seen[index(host)];
    sees.push_back({host, kind});
    sees.push_back({host, ~kind});
    std::sort(sees.begin(), sees.end());
  }
  std::map<NodeId, Alike> by_first;
  std::vector<bool> is_joined(index(topology.hosts()), false);
  for (std::vector<NodeId>& hosts : grouped(seen)) {
    if (hosts.size() == 1) continue;
    for (const NodeId host : hosts) is_joined[index(host)] = true;
    const NodeId first = hosts.front();
    by_first.emplace(first, Alike{std::move(hosts), true});
  }
  for (const std::vector<NodeId>& hosts : apart)
    if (!is_joined[index(hosts.front())]) by_first.emplace(hosts.front(), Alike{hosts, false});
  std::vector<Alike> groups;
  for (auto& [first, group] : by_first) groups.push_back(std::move(group));
  return groups;
}

/// What bliss is given, and what of it stands for what.
struct Reduced {
  std::vector<Alike> groups;      // [vertex below groups.size()] the hosts that it stands for
  std::vector<NodeId> vertex_of;  // [node]
  NodeId vertices = 0;            // of hosts and switches
};

Reduced reduced(const Topology& topology, const std::vector<Arc>& arcs) {
  Reduced result;
  result.groups = alike_hosts(topology, arcs);
  result.vertex_of.resize(index(topology.nodes()));
  for (const Alike& group : result.groups) {
    for (const NodeId host : group.hosts) result.vertex_of[index(host)] = result.vertices;
    ++result.vertices;
  }
  for (NodeId node = topology.hosts(); node < topology.nodes(); ++node)
    result.vertex_of[index(node)] = result.vertices++;
  return result;
}

/// Arcs between vertices: those of the first host of every group.
std::vector<Arc> reduced_arcs(const Topology& topology, const std::vector<Arc>& arcs, const Reduced& reduction) {
  const auto stands_for_its_group = [&](NodeId node) {
    return !topology.is_host(node) || reduction.groups[index(reduction.vertex_of[index(node)])].hosts.front() == node;
  };
  std::vector<Arc> result;
  for (const Arc& arc : arcs)
    if (stands_for_its_group(arc.tail) && stands_for_its_group(arc.head))
      result.push_back({reduction.vertex_of[index(arc.tail)], reduction.vertex_of[index(arc.head)], arc.kind});
  std::sort(result.begin(), result.end());
  return result;
}

/// Whether every arc has its opposite of the same kind: then undirected edges do, which bliss handles faster. If so,
/// those into a vertex come from where those out of it go, in the same order.
bool both_ways(const std::vector<Arc>& sorted_arcs, NodeId vertices) {
  std::vector<std::size_t> next(index(vertices), sorted_arcs.size());  // [vertex] the arc out of it that is looked for
  for (std::size_t arc = sorted_arcs.size(); arc-- > 0;) next[index(sorted_arcs[arc].tail)] = arc;
  return std::all_of(sorted_arcs.begin(), sorted_arcs.end(), [&](const Arc& arc) {
    const std::size_t opposite = next[index(arc.head)]++;
    return opposite < sorted_arcs.size() && sorted_arcs[opposite] == Arc{arc.head, arc.tail, arc.kind};
  });
}

/// Permutations of the vertices of `reduction`, from bliss.
struct Found {
  std::vector<std::vector<NodeId>> generators;
  NodeId vertices = 0;  // only the first are nodes, the rest stand for arcs
};

void keep_generator(void* found_by_bliss, unsigned int /*count*/, const unsigned int* automorphism) {
  auto& found = *static_cast<Found*>(found_by_bliss);
  found.generators.emplace_back(automorphism, automorphism + found.vertices);
}

/// Returns log10 of the size of the group.
template <typename Graph>
double search_symmetries(const Reduced& reduction, const std::vector<Arc>& arcs, bool one_edge_both_ways,
                         Found& found) {
  Graph graph;
  // Colours: 0 for switches, hosts by how many alike they stand for and in which way, then a colour per kind of arc.
  unsigned int colours = 1;
  for (const Alike& group : reduction.groups) {
    const unsigned int colour = 2 * static_cast<unsigned int>(group.hosts.size()) - (group.joined ? 0 : 1);
    graph.add_vertex(colour);
    colours = std::max(colours, colour + 1);
  }
  for (NodeId vertex = static_cast<NodeId>(reduction.groups.size()); vertex < reduction.vertices; ++vertex)
    graph.add_vertex(0);
  const int plain = commonest_kind(arcs);
  std::vector<CliqueEdge> edges;
  if (one_edge_both_ways)
    for (const Arc& arc : arcs)
      if (arc.kind == plain) edges.push_back({arc.tail, arc.head});
  const Cliques cliques = cliques_of(edges, reduction.vertices);
  const unsigned int hub_colour = colours++;
  for (const std::vector<NodeId>& clique : cliques.members) {
    const unsigned int hub = graph.add_vertex(hub_colour);
    for (const NodeId vertex : clique) graph.add_edge(static_cast<unsigned int>(vertex), hub);
  }
  std::size_t edge = 0;  // into `edges`
  for (const Arc& arc : arcs) {
    const bool has_hub = one_edge_both_ways && arc.kind == plain && cliques.has_edge[edge++];
    if (has_hub || (one_edge_both_ways && arc.tail > arc.head)) continue;
    const auto tail = static_cast<unsigned int>(arc.tail), head = static_cast<unsigned int>(arc.head);
    if (arc.kind == plain) {
      graph.add_edge(tail, head);
    } else {
      const unsigned int middle = graph.add_vertex(colours + static_cast<unsigned int>(arc.kind));
      graph.add_edge(tail, middle);
      graph.add_edge(middle, head);
    }
  }
  graph.set_splitting_heuristic(Graph::shs_fm);
  found.vertices = reduction.vertices;
  bliss::Stats stats;
#if __has_include(<bliss/digraph.hh>)
  graph.find_automorphisms(stats, [&](unsigned int count, const unsigned int* automorphism) {
    keep_generator(&found, count, automorphism);
  });
#else
  graph.find_automorphisms(stats, keep_generator, &found);
#endif
  return static_cast<double>(std::log10(stats.get_group_size_approx()));
}

/// Of a permutation of vertices: the k-th host of a group goes to the k-th host of the group's image.
std::vector<NodeId> on_nodes(const std::vector<NodeId>& permutation, const Topology& topology,
                             const Reduced& reduction) {
  std::vector<NodeId> image(index(topology.nodes()));
  for (std::size_t vertex = 0; vertex < reduction.groups.size(); ++vertex) {
    const std::vector<NodeId>& from = reduction.groups[vertex].hosts;
    const std::vector<NodeId>& to = reduction.groups[index(permutation[vertex])].hosts;
    for (std::size_t k = 0; k < from.size(); ++k) image[index(from[k])] = to[k];
  }
  const NodeId switches_begin = static_cast<NodeId>(reduction.groups.size());
  for (NodeId vertex = switches_begin; vertex < reduction.vertices; ++vertex)
    image[index(topology.hosts() + vertex - switches_begin)] =
        topology.hosts() + permutation[index(vertex)] - switches_begin;
  return image;
}

/// A swap and a cycle generate every permutation of a group of hosts that are alike.
void add_permutations_of(const std::vector<NodeId>& group, NodeId nodes, std::vector<std::vector<NodeId>>& generators) {
  if (group.size() < 2) return;
  std::vector<NodeId> identity(index(nodes));
  std::iota(identity.begin(), identity.end(), 0);
  generators.push_back(identity);
  std::swap(generators.back()[index(group[0])], generators.back()[index(group[1])]);
  if (group.size() == 2) return;
  generators.push_back(std::move(identity));
  for (std::size_t k = 0; k < group.size(); ++k) generators.back()[index(group[k])] = group[(k + 1) % group.size()];
}

double log10_factorial(std::size_t number) { return std::lgamma(static_cast<double>(number) + 1) / std::log(10.0); }

/// [link] into `sorted_links`, and the first of those with the same ends and bandwidth.
class LinkImages {
 public:
  LinkImages(const Topology& topology, const std::vector<LinkId>& sorted_links)
      : topology_(topology), sorted_links_(sorted_links), first_(index(topology.nodes()) + 1, 0) {
    for (NodeId node = 0; node < topology.nodes(); ++node)
      first_[index(node) + 1] = first_[index(node)] + std::ssize(topology.links_out(node));
    heads_.reserve(sorted_links.size());
    for (const LinkId link : sorted_links) heads_.push_back(topology.link(link).head);
  }

  /// The first of the links that `link` may go to when its ends go where `image` says.
  LinkId of(LinkId id, const std::vector<NodeId>& image) const {
    const Link& link = topology_.link(id);
    const NodeId tail = image[index(link.tail)], head = image[index(link.head)];
    const auto end = heads_.begin() + first_[index(tail) + 1];
    auto at = std::lower_bound(heads_.begin() + first_[index(tail)], end, head);
    // The last of those with these ends must be it.
    while (at + 1 != end && at[1] == head && topology_.link(sorted(at)).bandwidth != link.bandwidth) ++at;
    assert(at != end && *at == head && topology_.link(sorted(at)).bandwidth == link.bandwidth);
    return sorted(at);
  }

 private:
  LinkId sorted(std::vector<NodeId>::const_iterator head) const {
    return sorted_links_[static_cast<std::size_t>(head - heads_.begin())];
  }

  const Topology& topology_;
  const std::vector<LinkId>& sorted_links_;
  std::vector<NodeId> heads_;          // of sorted_links_
  std::vector<std::ptrdiff_t> first_;  // [tail] into sorted_links_, and the end
};

/// As many orbits as links have at least: one for each bandwidth.
std::size_t fewest_orbits(const Topology& topology) {
  std::set<double> bandwidths;
  for (const Link& link : topology.links())
    if (bandwidths.empty() || *bandwidths.begin() != link.bandwidth) bandwidths.insert(link.bandwidth);
  return bandwidths.size();
}

bool moves(const std::vector<NodeId>& generator, NodeId node) { return generator[index(node)] != node; }

void number_orbits(const Topology& topology, const std::vector<LinkId>& sorted_links, Orbits& orbits) {
  UnionFind hosts(index(topology.hosts())), links(topology.links().size());
  for (std::size_t i = 1; i < sorted_links.size(); ++i) {
    const Link &a = topology.link(sorted_links[i - 1]), &b = topology.link(sorted_links[i]);
    if (a.tail == b.tail && a.head == b.head && a.bandwidth == b.bandwidth)
      links.join(sorted_links[i - 1], sorted_links[i]);
  }
  const LinkImages images(topology, sorted_links);
  const std::size_t fewest = fewest_orbits(topology);
  // The last found move the most; once all are in one orbit, the others add nothing.
  for (const std::vector<NodeId>& generator : std::views::reverse(orbits.generators)) {
    if (hosts.sets() == 1 && links.sets() == fewest) break;
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if (!moves(generator, node)) continue;
      if (topology.is_host(node)) hosts.join(node, generator[index(node)]);
      for (const LinkId link : topology.links_out(node)) links.join(link, images.of(link, generator));
      for (const LinkId link : topology.links_in(node))
        if (!moves(generator, topology.link(link).tail)) links.join(link, images.of(link, generator));
    }
  }
  orbits.host_orbit = hosts.numbered();
  orbits.host_orbits = static_cast<int>(hosts.sets());
  orbits.link_orbit = links.numbered();
  orbits.link_orbits = static_cast<int>(links.sets());
}

}  // namespace

Orbits orbits_of(const Topology& topology) {
  const std::vector<LinkId> sorted_links = by_ends(topology);
  const std::vector<Arc> all_arcs = arcs_of(topology, sorted_links);
  const Reduced reduction = reduced(topology, all_arcs);
  const std::vector<Arc> arcs = reduced_arcs(topology, all_arcs, reduction);

  Orbits orbits;
  Found found;
  orbits.log10_group_size = both_ways(arcs, reduction.vertices)
                                ? search_symmetries<bliss::Graph>(reduction, arcs, true, found)
                                : search_symmetries<bliss::Digraph>(reduction, arcs, false, found);
  for (const std::vector<NodeId>& generator : found.generators)
    orbits.generators.push_back(on_nodes(generator, topology, reduction));
  for (const Alike& group : reduction.groups) {
    add_permutations_of(group.hosts, topology.nodes(), orbits.generators);
    orbits.log10_group_size += log10_factorial(group.hosts.size());
  }
  number_orbits(topology, sorted_links, orbits);
  return orbits;
}

}  // namespace colltopo
