#include "algorithms/radices.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "algorithms/bruck.h"

namespace colltopo {

namespace {

constexpr std::string_view k_name = "radix";
constexpr int k_radix = 4;

}  // namespace

int radix_of(const Shape& shape, const AlgorithmOptions& options) {
  return fitted_radix(options.values, k_name, shape.ranks, k_radix);
}

Option radix_option_above_two(std::string_view about) {
  return radix_option(k_name, about, "4; auto: by ranks and size");
}

std::string describe_radix(const Shape& shape, const AlgorithmOptions& options) {
  return fmt::format("{}={}", k_name, radix_of(shape, options));
}

std::vector<AlgorithmOptions> radix_variants(const Shape& shape, const AlgorithmOptions& given, bool is_flat_worth_it) {
  if (given.values.find(k_name)) return {given};
  std::set<int> radices;
  for (const int radix : {3, 4, 8, balanced_radix(shape.ranks)})
    if (radix < shape.ranks) radices.insert(std::max(3, radix));
  if (is_flat_worth_it || radices.empty()) radices.insert(std::max(2, shape.ranks));
  std::vector<AlgorithmOptions> all;
  for (const int radix : radices) {
    all.push_back(given);
    all.back().values.set(k_name, radix);
  }
  return all;
}

}  // namespace colltopo
