// Cuts by words of bits, so that an edge finds those that it crosses at once.
#include "forest/known_cuts.h"

#include <algorithm>
#include <bit>

namespace colltopo {

void KnownCuts::add(const std::vector<bool>& inside, std::span<const Capacity> residual,
                    std::span<const Capacity> left) {
  const std::size_t cut = spare_.size();
  const auto is_same = [&](std::size_t other) {
    for (NodeId host = 0; host < hosts_; ++host)
      if (is_inside(other, host) != inside[static_cast<std::size_t>(host)]) return false;
    return true;
  };
  for (std::size_t other = 0; other < cut; ++other)
    if (is_same(other)) return;
  if (cut % 64 == 0) of_host_.emplace_back(static_cast<std::size_t>(hosts_), 0);
  for (NodeId host = 0; host < hosts_; ++host)
    if (inside[static_cast<std::size_t>(host)])
      of_host_[cut / 64][static_cast<std::size_t>(host)] |= Word{1} << (cut % 64);
  spare_.push_back(spare_of(cut, residual, left));
  crossings_.push_back(0);
}

Capacity KnownCuts::spare_of(std::size_t cut, std::span<const Capacity> residual,
                             std::span<const Capacity> left) const {
  Capacity spare = 0;
  for (std::size_t edge = 0; edge < edges_.size(); ++edge)
    if (is_inside(cut, edges_[edge].tail) && !is_inside(cut, edges_[edge].head)) spare += residual[edge];
  for (NodeId host = 0; host < hosts_; ++host)
    if (is_inside(cut, host)) spare -= left[static_cast<std::size_t>(host)];
  return spare;
}

void KnownCuts::start(NodeId root) {
  for (std::size_t cut = 0; cut < crossings_.size(); ++cut) crossings_[cut] = is_inside(cut, root) ? -1 : 0;
}

Capacity KnownCuts::allowed(NodeId tail, NodeId head) const {
  Capacity least = k_any;
  for (std::size_t word = 0; word < of_host_.size(); ++word) {
    Word crossed = of_host_[word][static_cast<std::size_t>(tail)] & ~of_host_[word][static_cast<std::size_t>(head)];
    for (; crossed != 0; crossed &= crossed - 1) {
      const std::size_t cut = word * 64 + static_cast<std::size_t>(std::countr_zero(crossed));
      const Capacity times = crossings_[cut] + 1;
      if (times > 0) least = std::min(least, spare_[cut] / times);
    }
  }
  return least;
}

void KnownCuts::grow(NodeId tail, NodeId head) {
  for (std::size_t cut = 0; cut < spare_.size(); ++cut)
    if (is_inside(cut, tail) && !is_inside(cut, head)) ++crossings_[cut];
}

void KnownCuts::finish(Capacity trees) {
  for (std::size_t cut = 0; cut < spare_.size(); ++cut) spare_[cut] -= trees * crossings_[cut];
}

void KnownCuts::restore(const std::vector<Capacity>& spare, std::span<const Capacity> residual,
                        std::span<const Capacity> left) {
  std::copy(spare.begin(), spare.end(), spare_.begin());
  for (std::size_t cut = spare.size(); cut < spare_.size(); ++cut) spare_[cut] = spare_of(cut, residual, left);
}

}  // namespace colltopo
