// Other ranks in the places of a schedule: every collective of every algorithm stays what it is.
#include <algorithm>
#include <random>

#include "colltopo/algorithms.h"
#include "colltopo/derive.h"
#include "schedules.h"

namespace colltopo {
namespace {

Schedule renamed(const Schedule& schedule, const std::vector<Rank>& rank_at) {
  Schedule result = schedule;
  for (const Program& program : schedule.programs) {
    Program other = renamed(program, rank_at);
    result.shape = other.shape();
    result.programs[static_cast<std::size_t>(other.rank())] = std::move(other);
  }
  return result;
}

class Renamed : public testing::TestWithParam<std::string_view> {};

TEST_P(Renamed, schedules_serve_their_collective_in_any_order_of_ranks) {
  const Algorithm& algorithm = *algorithm_named(GetParam());
  std::mt19937 random(7);
  for (const Rank ranks : {4, 6, 8})
    for (const Collective collective : algorithm.collectives) {
      const Shape shape{collective, ranks, 1, rooted(collective) ? 1 : 0};
      AlgorithmOptions options;
      if (!algorithm.refusal(shape, options).empty()) continue;
      std::vector<Rank> rank_at(static_cast<std::size_t>(ranks));
      std::iota(rank_at.begin(), rank_at.end(), 0);
      std::shuffle(rank_at.begin(), rank_at.end(), random);
      const Schedule schedule = generate(algorithm, shape, options);
      const Schedule other = renamed(schedule, rank_at);
      EXPECT_TRUE(runs_right_every_way(other)) << name(collective) << " on " << ranks;
      // Back again: where every place has its old rank, every program is the old one.
      std::vector<Rank> place_of(rank_at.size());
      for (std::size_t place = 0; place < rank_at.size(); ++place)
        place_of[static_cast<std::size_t>(rank_at[place])] = static_cast<Rank>(place);
      EXPECT_EQ(renamed(other, place_of).shape, schedule.shape);
    }
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : algorithms()) names.push_back(algorithm.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Table, Renamed, testing::ValuesIn(names()), [](const auto& tested) {
  std::string name(tested.param);
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace colltopo
