// Virtual channels for routes, so that a lossless network cannot deadlock.
//
// A message that holds a link and waits for the next one makes the first depend on the second. A layer is a virtual
// channel of its own: when the dependencies within every layer have no cycle, no set of messages can wait for each
// other (Dally and Seitz 1987). Routes are given; the fewest layers are hard to find, so three known ways to few of
// them:
//
//   lash             route by route, each into the first layer that stays free of cycles (Skeie, Lysne, Theiss 2002)
//   lash-sequential  the same with long routes first, and then again and again layer after layer, as long as that may
//                    save one; never more than one pass of lash over the same order. Basu et al., section 5.5, found
//                    a variant of this name to need the fewest layers, at most 4
//   df-sssp          all routes in one layer; while it has a cycle, the routes over its least used dependency go to the
//                    next layer (Domke, Hoefler, Nagel 2011)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "colltopo/topology.h"

namespace colltopo {

enum class LayerMethod : std::uint8_t { none, lash, lash_sequential, df_sssp };
std::string_view name(LayerMethod method);
std::optional<LayerMethod> layer_method_named(std::string_view name);

/// The links of each route, in order.
using RouteLinks = std::span<const std::span<const LinkId>>;

/// [route] its layer, from 0. `none`: 0 for all, which promises nothing. Routes must be paths of the topology.
/// The same for any number of threads; 0: all cores. Time: of lash, per route and layer that it is tried in, a bit of
/// the layer's closure for each of its hops (up to 16,384 links; what is new in a layer changes up to links^2 / 64
/// words) or a search of the layer; of lash-sequential, up to 17 times that; of df-sssp O(hops of the routes + cycles *
/// links) per layer.
std::vector<std::int32_t> layers_of(const Topology& topology, RouteLinks routes, LayerMethod method, int threads = 1);

/// How many layers an assignment uses.
std::int32_t layers_in(std::span<const std::int32_t> layers);

/// A link on a cycle of the dependencies of these routes; -1: there is no cycle. Routes must be paths of the topology.
/// Linear in the hops of the routes (Kahn 1962).
LinkId link_in_cycle(const Topology& topology, RouteLinks routes);

}  // namespace colltopo
