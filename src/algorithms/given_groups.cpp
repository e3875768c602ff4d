#include "algorithms/given_groups.h"

#include <fmt/format.h>

namespace colltopo {

std::shared_ptr<const Groups> given_groups(const Shape& shape, const AlgorithmOptions& options, Rank otherwise) {
  const auto group = options.values.find("group");
  if (!group && options.groups) return options.groups;
  return std::make_shared<const Groups>(shape.ranks, group.value_or(otherwise));
}

std::string refusal_of_groups(const Shape& shape, const AlgorithmOptions& options) {
  if (options.values.find("group") || !options.groups || options.groups->ranks() == shape.ranks) return "";
  return fmt::format("groups are given for {} ranks, not for {}", options.groups->ranks(), shape.ranks);
}

bool is_one_level(const Groups& groups) { return groups.groups() == 1 || groups.largest() == 1; }

bool given_one_level(const Shape& shape, const AlgorithmOptions& options) {
  return is_one_level(*given_groups(shape, options));
}

std::string sizes_of_groups(const Groups& groups) {
  return groups.equal() ? fmt::format("group={}", groups.largest())
                        : fmt::format("groups={} up-to={}", groups.groups(), groups.largest());
}

Option group_option(std::string_view otherwise) {
  return {.name = "group",
          .least = 1,
          .most = 1 << 24,
          .about = "consecutive ranks per group; the last may have fewer",
          .otherwise = otherwise,
          .per_collective = false};
}

}  // namespace colltopo
