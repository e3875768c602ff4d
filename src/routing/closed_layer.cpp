#include "routing/closed_layer.h"

#include <algorithm>
#include <functional>

namespace colltopo {

namespace {
constexpr std::size_t k_bits = 64;
}  // namespace

ClosedLayer::ClosedLayer(std::size_t links)
    : words_((links + k_bits - 1) / k_bits), after_(links * words_, 0), holders_(links) {}

bool ClosedLayer::leads(LinkId from, LinkId to) const {
  const Word word = after_[static_cast<std::size_t>(from) * words_ + static_cast<std::size_t>(to) / k_bits];
  return (word >> static_cast<std::size_t>(to) % k_bits & 1) != 0;
}

bool ClosedLayer::take(std::span<const LinkId> route) {
  std::size_t known = 1;  // links up to which each leads to the next already
  while (known < route.size() && leads(route[known - 1], route[known])) ++known;
  // A link of the route that leads to an earlier one makes a cycle with it, and no cycle comes about otherwise.
  for (std::size_t i = known; i < route.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (leads(route[i], route[j])) return false;
  // The last dependency first: what leads to the first link then learns of all the others at once.
  for (std::size_t i = route.size(); i-- > known;)
    if (!leads(route[i - 1], route[i])) add(route[i - 1], route[i]);
  return true;
}

/// Makes no cycle. What leads to `held` now leads to `wanted` and beyond; where a link does already, so do those before
/// it.
void ClosedLayer::add(LinkId held, LinkId wanted) {
  const std::span<const Word> beyond = after(wanted);
  stack_.assign(1, held);
  while (!stack_.empty()) {
    const LinkId link = stack_.back();
    stack_.pop_back();
    if (leads(link, wanted)) continue;
    const std::span<Word> bits = after(link);
    std::transform(beyond.begin(), beyond.end(), bits.begin(), bits.begin(), std::bit_or<>());
    bits[static_cast<std::size_t>(wanted) / k_bits] |= Word{1} << static_cast<std::size_t>(wanted) % k_bits;
    const std::vector<LinkId>& holders = holders_[static_cast<std::size_t>(link)];
    stack_.insert(stack_.end(), holders.begin(), holders.end());
  }
  holders_[static_cast<std::size_t>(wanted)].push_back(held);
}

}  // namespace colltopo
