// The dual side of concurrent flow: any lengths prove that no all-to-all is faster than what they say.
#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "base/parallel.h"
#include "colltopo/error.h"
#include "colltopo/routing.h"

namespace colltopo {

namespace {

/// Sum of the distances from one host to all others under `lengths` (Dijkstra).
double sum_of_distances(const Topology& topology, std::span<const double> lengths, NodeId source,
                        std::vector<double>& distance) {
  using Entry = std::pair<double, NodeId>;
  constexpr double k_far = std::numeric_limits<double>::infinity();
  std::fill(distance.begin(), distance.end(), k_far);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distance[static_cast<std::size_t>(source)] = 0;
  queue.emplace(0, source);
  while (!queue.empty()) {
    const auto [near, node] = queue.top();
    queue.pop();
    if (near > distance[static_cast<std::size_t>(node)]) continue;
    for (const LinkId link : topology.links_out(node)) {
      const NodeId head = topology.link(link).head;
      const double far = near + lengths[static_cast<std::size_t>(link)];
      if (far >= distance[static_cast<std::size_t>(head)]) continue;
      distance[static_cast<std::size_t>(head)] = far;
      queue.emplace(far, head);
    }
  }
  double sum = 0;
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    if (distance[static_cast<std::size_t>(host)] == k_far)
      throw Error(topology.name() + ": host " + topology.node_name(source) + " cannot reach host " +
                  topology.node_name(host) + "; no all-to-all is possible");
    sum += distance[static_cast<std::size_t>(host)];
  }
  return sum;
}

}  // namespace

double time_lower_bound(const Topology& topology, std::span<const double> lengths, int threads) {
  const std::vector<double> capacity = capacities(topology);
  double volume = 0;
  for (std::size_t link = 0; link < lengths.size(); ++link) volume += lengths[link] * capacity[link];
  if (!(volume > 0)) return 0;

  // Sums per host are kept and added in order: the same result for any number of threads.
  std::vector<double> sums(static_cast<std::size_t>(topology.hosts()));
  std::vector<std::vector<double>> distance(worker_count(threads, sums.size()),
                                            std::vector<double>(static_cast<std::size_t>(topology.nodes())));
  for_each_index(sums.size(), threads, [&](std::size_t source, unsigned worker) {
    sums[source] = sum_of_distances(topology, lengths, static_cast<NodeId>(source), distance[worker]);
  });
  double distances = 0;
  for (const double sum : sums) distances += sum;
  return distances / volume;
}

}  // namespace colltopo
