// The rounds, how many they are, and the radices.

#include "algorithms/bruck.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include "base/index.h"

namespace colltopo {

namespace {

constexpr std::int32_t k_never = std::numeric_limits<std::int32_t>::max();

// Puts a round's distances in the order of the message. `hops[d]` counts the hops of bundle d before the round,
// `first_round[bank][d]` is the round in which it came to the bank first.
class MessageOrder {
 public:
  explicit MessageOrder(Rank size) : hops_(index(size), 0) {
    for (auto& bank : first_round_) bank.assign(index(size), k_never);
  }

  /// The distances come in increasing order, so that those that arrive are in front.
  void arrange(BruckRound& round, std::int32_t number) {
    auto& distances = round.distances;
    const auto middle = std::ranges::find_if(distances, [&](Rank d) { return !round.arrives(d); });
    std::reverse(distances.begin(), middle);
    begins_.assign(index(number) + 2, 0);
    bool all_new = true;
    for (auto d = middle; d != distances.end(); ++d) {
      std::int32_t& first = first_round_[index(hops_[index(*d)] % 2)][index(*d)];
      if (first == k_never) first = number;
      all_new = all_new && first == number;
      ++begins_[bucket(first, number) + 1];
    }
    if (!all_new) sort(middle - distances.begin(), distances, number);
    for (const Rank d : distances) ++hops_[index(d)];
  }

 private:
  // Those that come to new slots in front, then by the round in which the slot was new.
  static std::size_t bucket(std::int32_t first, std::int32_t number) { return first == number ? 0 : index(first) + 1; }

  void sort(std::ptrdiff_t middle, std::vector<Rank>& distances, std::int32_t number) {
    for (std::size_t b = 1; b < begins_.size(); ++b) begins_[b] += begins_[b - 1];
    sorted_.resize(distances.size() - static_cast<std::size_t>(middle));
    for (auto d = distances.begin() + middle; d != distances.end(); ++d) {
      const std::int32_t first = first_round_[index(hops_[index(*d)] % 2)][index(*d)];
      sorted_[begins_[bucket(first, number)]++] = *d;
    }
    std::ranges::copy(sorted_, distances.begin() + middle);
  }

  std::vector<std::uint8_t> hops_;
  std::array<std::vector<std::int32_t>, 2> first_round_;
  std::vector<std::size_t> begins_;  // [bucket]
  std::vector<Rank> sorted_;
};

// Calls visit(hop, unit) for every round.
template <typename Visit>
void each_round(Rank size, int radix, Visit visit) {
  for (std::int64_t unit = 1; unit < size; unit *= radix) {
    for (std::int64_t hop = unit; hop < size && hop < unit * radix; hop += unit) visit(hop, unit);
  }
}

}  // namespace

std::vector<BruckRound> bruck_rounds(Rank size, int radix) {
  std::vector<BruckRound> rounds;
  MessageOrder order(size);
  each_round(size, radix, [&](std::int64_t hop, std::int64_t unit) {
    BruckRound round{static_cast<Rank>(hop), static_cast<Rank>(unit), {}};
    round.distances.reserve(static_cast<std::size_t>((size - hop) / radix + unit + 1));
    for (std::int64_t first = hop; first < size; first += unit * radix) {
      const std::int64_t end = std::min<std::int64_t>(first + unit, size);
      for (std::int64_t d = first; d < end; ++d) round.distances.push_back(static_cast<Rank>(d));
    }
    order.arrange(round, static_cast<std::int32_t>(rounds.size()));
    rounds.push_back(std::move(round));
  });
  return rounds;
}

BruckCount bruck_count(Rank size, int radix) {
  BruckCount count;
  each_round(size, radix, [&](std::int64_t hop, std::int64_t unit) {
    const std::int64_t beyond = size - hop, period = unit * radix;
    const std::int64_t bundles = beyond / period * unit + std::min(beyond % period, unit);
    count.rounds += 1;
    count.bundles += static_cast<double>(bundles);
  });
  return count;
}

int least_radix(Rank size, int digits) {
  const auto holds = [&](int radix) {
    std::int64_t numbers = 1;
    for (int digit = 0; digit < digits; ++digit) numbers *= radix;
    return numbers >= size;
  };
  int radix = 2;
  while (!holds(radix)) ++radix;
  return radix;
}

int balanced_radix(Rank size) { return least_radix(size, 2); }

int fitted_radix(const OptionValues& values, std::string_view name, Rank size, int otherwise) {
  return std::min(values.value_or(name, otherwise), std::max(2, static_cast<int>(size)));
}

int fitted_radix(const OptionValues& values, std::string_view name, Rank size) {
  return fitted_radix(values, name, size, balanced_radix(size));
}

std::vector<int> radices_to_try(const OptionValues& values, std::string_view name, Rank size) {
  if (values.find(name)) return {fitted_radix(values, name, size)};
  const int most = std::max(2, static_cast<int>(size));
  std::set<int> radices;
  for (const int radix : {2, 3, 4, 6, 8, 2 * balanced_radix(size), most}) radices.insert(std::min(radix, most));
  for (int digits = 2; digits <= 4; ++digits) radices.insert(least_radix(size, digits));
  return {radices.begin(), radices.end()};
}

Option radix_option(std::string_view name, std::string_view about, std::string_view otherwise) {
  return {.name = name, .least = 2, .most = 1 << 24, .about = about, .otherwise = otherwise};
}

}  // namespace colltopo
