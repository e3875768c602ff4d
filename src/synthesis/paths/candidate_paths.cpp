// The chosen set of paths for all pairs, source by source on several threads.
#include "synthesis/paths/candidate_paths.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parallel.h"
#include "synthesis/paths/path_sets.h"

namespace colltopo::synthesis {

namespace {

/// Links of the longest shortest path between hosts.
int diameter(const Topology& topology, int threads) {
  std::vector<int> farthest(static_cast<std::size_t>(topology.hosts()), 0);
  for_each_index(farthest.size(), threads, [&](std::size_t source, unsigned) {
    const std::vector<int> hops = distances_from(topology, static_cast<NodeId>(source));
    farthest[source] = *std::max_element(hops.begin(), hops.begin() + topology.hosts());
  });
  return farthest.empty() ? 0 : *std::max_element(farthest.begin(), farthest.end());
}

/// A largest set of link-disjoint paths: that of the shortest paths first where it is one, since long ones help little;
/// otherwise one of least total length, which may lack the short ones (its best flow is 8% slower on kautz:16:4, 14% on
/// kautz:81:8). `widened`: both sets together, no longer disjoint.
std::vector<Path> disjoint_of(const Topology& topology, PathsFrom& from, NodeId source, NodeId target, bool widened) {
  std::vector<Path> paths = from.disjoint_shortest_first(target);
  const std::size_t most = std::min(topology.links_out(source).size(), topology.links_in(target).size());
  if (paths.size() == most) return paths;
  std::vector<Path> largest = from.disjoint(target);
  if (largest.size() == paths.size()) return paths;
  if (!widened) return largest;
  for (const Path& path : largest)
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  return paths;
}

PathList paths_of(const Topology& topology, PathsFrom& from, NodeId source, NodeId target,
                  const SynthesisOptions& options, int most_links) {
  switch (options.path_set) {
    case PathSet::disjoint:
    case PathSet::widened:
      return {disjoint_of(topology, from, source, target, options.path_set == PathSet::widened), false};
    case PathSet::shortest:
      return from.shortest(target, k_most_candidates);
    case PathSet::bounded:
      return from.bounded(target, most_links, k_most_candidates);
  }
  return {};
}

}  // namespace

std::string CandidatePaths::remark() const {
  if (capped_pairs == 0) return "";
  return fmt::format("{} pairs have more than {} such paths and choose among that many of them", capped_pairs,
                     k_most_candidates);
}

std::string candidate_refusal(const Topology& topology, const SynthesisOptions& options) {
  if (options.path_set != PathSet::bounded || options.most_links == 0) return "";
  const int needed = diameter(topology, options.threads);
  if (options.most_links >= needed) return "";
  return fmt::format("paths of at most {} links leave pairs of {} without any; its diameter is {}", options.most_links,
                     topology.name(), needed);
}

CandidatePaths candidate_paths(const Topology& topology, const SynthesisOptions& options) {
  const auto hosts = static_cast<std::size_t>(topology.hosts());
  const bool bounded = options.path_set == PathSet::bounded;
  const int most_links =
      options.most_links > 0 || !bounded ? options.most_links : diameter(topology, options.threads) + 1;
  // Sources go to threads in groups, whose lists are then joined in order and forgotten.
  constexpr std::size_t k_group = 64;
  CandidatePaths candidates{Routing(topology.hosts()), 0};
  std::vector<std::vector<PathList>> lists(std::min(k_group, hosts));
  for (std::size_t first = 0; first < hosts; first += k_group) {
    const std::size_t sources = std::min(k_group, hosts - first);
    for_each_index(sources, options.threads, [&](std::size_t i, unsigned) {
      const auto source = static_cast<NodeId>(first + i);
      PathsFrom from(topology, source);
      lists[i].clear();
      for (NodeId target = 0; target < topology.hosts(); ++target)
        lists[i].push_back(paths_of(topology, from, source, target, options, most_links));
    });
    for (std::size_t i = 0; i < sources; ++i)
      for (std::size_t target = 0; target < hosts; ++target) {
        const auto& [paths, capped] = lists[i][target];
        candidates.capped_pairs += capped;
        for (const Path& path : paths)
          candidates.paths.add(static_cast<NodeId>(first + i), static_cast<NodeId>(target),
                               1 / static_cast<double>(paths.size()), path);
      }
  }
  return candidates;
}

}  // namespace colltopo::synthesis
