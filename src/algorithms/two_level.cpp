// The row of two levels: groups are those of the placement, or of a number of consecutive ranks.

#include "algorithms/two_level.h"

#include <fmt/format.h>

#include <numeric>

#include "algorithms/bruck.h"
#include "algorithms/from_allgather.h"
#include "algorithms/given_groups.h"
#include "algorithms/properties.h"
#include "algorithms/radices.h"
#include "algorithms/table.h"

namespace colltopo {

namespace {

constexpr int k_most = 65536;

bool hands_out(Collective collective) { return !row(collective).made_of_trees(); }
bool of_vector(Collective collective) { return collective == Collective::bcast || collective == Collective::reduce; }

RadicesOfLevels radices_by(const Groups& groups, const AlgorithmOptions& options) {
  return {fitted_radix(options.values, "intra-radix", groups.largest(), 2),
          fitted_radix(options.values, "inter-radix", groups.groups(), 2)};
}

// All-reduces of one leader pass whole vectors within groups.
bool passes_whole(const Shape& shape, const AlgorithmOptions& options) {
  return shape.collective == Collective::allreduce && options.values.value_or("leaders", 0) == 1;
}

Between between(const AlgorithmOptions& options) {
  return options.values.value_or("halving", 0) == 0 ? Between::whole : Between::halving;
}

RadicesOfLevels radices_for(const Shape& shape, const Groups& groups, const AlgorithmOptions& options) {
  RadicesOfLevels radices = radices_by(groups, options);
  if (passes_whole(shape, options) && between(options) == Between::whole)
    radices.between = std::min(radices.between, two_level_allreduce_radix(shape, groups));
  return radices;
}

Leaders leaders_of(const Shape& shape, const Groups& groups, const AlgorithmOptions& options) {
  const int leaders = options.values.value_or("leaders", 0);
  return {groups, leaders == 0 ? groups.largest() : leaders, radices_for(shape, groups, options)};
}

Chunk slices_of(const AlgorithmOptions& options) { return options.values.value_or("slices", 1); }

Chunk chunks(const Shape& shape, const AlgorithmOptions& options) {
  if (hands_out(shape.collective)) return 1;
  const auto groups = given_groups(shape, options);
  if (passes_whole(shape, options))
    return between(options) == Between::whole ? 1 : groups->groups() / std::gcd(groups->groups(), shape.ranks);
  return of_vector(shape.collective) ? two_level_bcast_chunks(leaders_of(shape, *groups, options)) : slices_of(options);
}

Step two_level_steps(const Shape& shape, const AlgorithmOptions& options) {
  const auto groups = given_groups(shape, options);
  if (hands_out(shape.collective)) return two_level_hand_out_steps(*groups, radices_by(*groups, options));
  const Leaders leaders = leaders_of(shape, *groups, options);
  if (passes_whole(shape, options)) return two_level_allreduce_steps(leaders, between(options));
  if (of_vector(shape.collective)) return two_level_bcast_steps(leaders);
  return steps_from_allgather(shape.collective, two_level_allgather_steps(leaders, slices_of(options)));
}

Program program(const Shape& shape, Rank rank, const AlgorithmOptions& options) {
  const auto groups = given_groups(shape, options);
  if (hands_out(shape.collective)) return two_level_hand_out(shape, rank, *groups, radices_by(*groups, options));
  const Leaders leaders = leaders_of(shape, *groups, options);
  if (passes_whole(shape, options)) return two_level_allreduce(shape, rank, leaders, between(options));
  if (of_vector(shape.collective)) {
    const Program bcast = two_level_bcast({Collective::bcast, shape.ranks, shape.chunks, shape.root}, rank, leaders);
    return reduces(shape.collective) ? reduce_from(bcast, two_level_bcast_steps(leaders)) : bcast;
  }
  return from_allgather(shape.collective, two_level_allgather(allgather_shape(shape), rank, leaders),
                        two_level_allgather_steps(leaders, shape.chunks));
}

std::string description(const Shape& shape, const AlgorithmOptions& options) {
  const auto groups = given_groups(shape, options);
  std::string text = sizes_of_groups(*groups);
  const RadicesOfLevels radices = radices_for(shape, *groups, options);
  if (radices.within != 2) text += fmt::format(" intra_radix={}", radices.within);
  if (radices.between != 2) text += fmt::format(" inter_radix={}", radices.between);
  if (hands_out(shape.collective)) return text;
  text += fmt::format(" leaders={}", leaders_of(shape, *groups, options).classes());
  if (passes_whole(shape, options)) return between(options) == Between::whole ? text : text + " halving";
  if (!of_vector(shape.collective) && slices_of(options) > 1) text += fmt::format(" slices={}", slices_of(options));
  return text;
}

Properties properties(const Shape& shape, const AlgorithmOptions& options) {
  return hands_out(shape.collective) ? Properties{.in_place = true} : properties_of_derived(shape, options);
}

// Beside each one of radix 2 on a level that one step takes, for small sizes. Both have their radix among their values,
// by which either can be asked for.
void add_flat(std::string_view name, Rank places, const AlgorithmOptions& given, std::vector<AlgorithmOptions>& all) {
  if (places <= 2 || given.values.find(name)) return;
  const std::size_t count = all.size();
  for (std::size_t i = 0; i < count; ++i) {
    all[i].values.set(name, 2);
    all.push_back(all[i]);
    all.back().values.set(name, places);
  }
}

// Where all that a group has goes along its tree.
void add_flat_levels(const Groups& groups, const AlgorithmOptions& given, std::vector<AlgorithmOptions>& all) {
  add_flat("intra-radix", groups.largest(), given, all);
  add_flat("inter-radix", std::min(groups.groups(), k_most_flat), given, all);
}

// One leader for small sizes, all ranks for large ones, in slices for the largest. One that halves.
std::vector<AlgorithmOptions> two_level_variants(const Shape& shape, const AlgorithmOptions& given) {
  const auto groups = given_groups(shape, given);
  const bool levels = groups->groups() > 1 && groups->largest() > 1;
  std::vector<AlgorithmOptions> all = {given};
  if (!levels) return all;
  if (hands_out(shape.collective)) {
    add_flat_levels(*groups, given, all);
    return all;
  }
  all.clear();
  const bool cuts = !of_vector(shape.collective) && !given.values.find("slices");
  const bool free = !given.values.find("leaders");
  for (const int count : free ? std::vector{1, 0} : std::vector{*given.values.find("leaders")}) {
    std::vector<AlgorithmOptions> some = {given};
    some.front().values.set("leaders", count);
    if (cuts) some.front().values.set("slices", 1);
    if (count == 1)
      add_flat_levels(*groups, given, some);
    else if (!of_vector(shape.collective))
      add_flat("inter-radix", std::min(groups->groups(), k_most_flat), given, some);
    if (cuts && count != 1) {
      some.push_back(some.front());
      some.back().values.set("slices", 4);
    }
    all.insert(all.end(), some.begin(), some.end());
  }
  if (shape.collective == Collective::allreduce && free && !given.values.find("halving")) {
    std::vector<AlgorithmOptions> halving = {given};
    halving.front().values.set({{"leaders", 1}, {"halving", 1}});
    add_flat("inter-radix", std::min(groups->groups(), k_most_flat), given, halving);
    all.insert(all.end(), halving.begin(), halving.end());
  }
  return all;
}

}  // namespace

Algorithm two_level_algorithm() {
  return {
      .name = "two-level",
      .about = "an algorithm between groups and one within each: what can cross once crosses between groups once",
      .collectives = {Collective::gather, Collective::scatter, Collective::allgather, Collective::reduce_scatter,
                      Collective::allreduce, Collective::bcast, Collective::reduce},
      .options = {group_option("the ranks of a node"),
                  radix_option("intra-radix", "radix of the trees of two-level within groups", "2; auto: by size"),
                  radix_option("inter-radix", "radix of what two-level does between groups", "2; auto: by size"),
                  {.name = "leaders",
                   .least = 0,
                   .most = k_most,
                   .about = "ranks of a group that two-level uses between groups; 0: all",
                   .otherwise = "chosen by size"},
                  {.name = "slices",
                   .least = 1,
                   .most = 64,
                   .about = "parts of a shard that follow each other through the levels of two-level",
                   .otherwise = "1, or 4 where that is cheaper"},
                  {.name = "halving",
                   .least = 0,
                   .most = 1,
                   .about = "1: the leaders of an allreduce with leaders=1 halve vectors between groups; 0: whole ones",
                   .otherwise = "0; auto: chosen by size"}},
      .refusal = refusal_of_groups,
      .chunks = chunks,
      .program = program,
      .programs_take_all_ranks = true,
      .steps = two_level_steps,
      .describe = description,
      .properties = properties,
      .variants = two_level_variants,
      .repeats = given_one_level,
  };
}

}  // namespace colltopo
