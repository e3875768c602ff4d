// The instance of one host per orbit, and why it loses nothing.
//
// Let G be the group of automorphisms and f a flow from one host r of every orbit H to all other hosts. Moving it by
// every g in G and dividing by |G| / |H| gives a flow of the whole network: each pair (s, t) gets, from the |G| / |H|
// elements that move r to s, one unit each of demand on average. A link e of orbit C then carries from orbit H the sum
// over g of load_f(g^-1 e) * |H| / |G|; as g runs through G, g^-1 e is every link of C |G| / |C| times. So e carries
// |H| / |C| times what f puts on C as a whole: all links of a class are loaded alike, and the load over capacity of
// each is that of the class, multiplicity |H| times f over |C| times the capacity of one. Hence every flow of the orbit
// instance is one of the whole at the same time. Conversely the average over G of an optimal flow of the whole is
// optimal (maxima are convex, automorphisms keep capacities), and what it sends from r is a flow of the orbit instance
// at its time. The duals likewise: class lengths are lengths of links, under which all hosts of an orbit are equally
// far from the others in sum. The average must run over the whole group: one element per host leaves loads within a
// class unequal.
#include "synthesis/sweep/flow_instance.h"

#include "topology/orbits.h"

namespace colltopo::synthesis {

FlowInstance orbit_instance(const Topology& topology) {
  const Orbits orbits = orbits_of(topology);
  FlowInstance instance;
  instance.topology = &topology;
  // Orbits are numbered by their first members, so these come in increasing order.
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    const auto orbit = static_cast<std::size_t>(orbits.host_orbit[static_cast<std::size_t>(host)]);
    if (orbit == instance.sources.size()) {
      instance.sources.push_back(host);
      instance.multiplicity.push_back(0);
    }
    ++instance.multiplicity[orbit];
  }
  instance.link_class.assign(orbits.link_orbit.begin(), orbits.link_orbit.end());
  instance.class_capacity.assign(static_cast<std::size_t>(orbits.link_orbits), 0);
  const std::vector<double> capacity = capacities(topology);
  for (std::size_t link = 0; link < capacity.size(); ++link)
    instance.class_capacity[static_cast<std::size_t>(instance.link_class[link])] += capacity[link];
  return instance;
}

}  // namespace colltopo::synthesis
