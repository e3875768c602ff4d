// What measured times make of the model's prices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "choice/fits.h"
#include "comm/constants.h"

namespace colltopo {
namespace {

using testing::DoubleNear;

/// 10 us and 1 ns a byte, whatever the algorithm.
std::optional<double> plain_model(const MeasuredRow& /*row*/, std::size_t bytes) {
  return 1e-5 + 1e-9 * static_cast<double>(bytes);
}

/// Of an algorithm that takes so many times as long as the plain model says, at 16, 256 and 4096 bytes.
MeasuredRow row_of(Collective collective, const char* algorithm, double small, double middle, double large) {
  MeasuredRow row{collective, algorithm_named(algorithm), {}};
  row.times = {{16, small * *plain_model(row, 16)},
               {256, middle * *plain_model(row, 256)},
               {4096, large * *plain_model(row, 4096)}};
  return row;
}

double factor(const Fits& fits, const char* algorithm, std::size_t bytes) {
  return fits.factor(algorithm_named(algorithm), {}, bytes);
}

TEST(Fits, factors_go_from_one_measured_size_to_the_next) {
  const std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "linear", 4, 1, 2)};
  const Fits fits(Collective::alltoall, rows, plain_model);
  for (const auto& [bytes, expected] : std::vector<std::pair<std::size_t, double>>{
           {0, 4}, {1, 4}, {16, 4}, {64, 2.5}, {256, 1}, {768, 1.375}, {1024, 1.5}, {4096, 2}, {1u << 20, 1.5}})
    EXPECT_THAT(factor(fits, "linear", bytes), DoubleNear(expected, 1e-9)) << bytes;
}

TEST(Fits, what_was_not_measured_is_as_far_off_as_the_others) {
  const std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "linear", 4, 1, 1),
                                         row_of(Collective::alltoall, "pairwise", 2, 1, 2),
                                         row_of(Collective::alltoall, "tra", 3, 1, 4)};
  const Fits fits(Collective::alltoall, rows, plain_model);
  EXPECT_THAT(factor(fits, "tra2", 16), DoubleNear(3, 1e-9));
  EXPECT_THAT(factor(fits, "tra2", 4096), DoubleNear(2, 1e-9));
  EXPECT_THAT(fits.common(16), DoubleNear(3, 1e-9));
  EXPECT_EQ(Fits(Collective::bcast, rows, plain_model).factor(algorithm_named("binomial"), {}, 16), 1);
  EXPECT_THAT(factor(fits, "linear", 16), DoubleNear(4, 1e-9));
}

TEST(Fits, what_was_measured_at_some_sizes_is_like_the_others_beyond_them) {
  std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "linear", 1, 2, 4),
                                   row_of(Collective::alltoall, "pairwise", 1, 2, 6),
                                   row_of(Collective::alltoall, "tra", 0.6, 1.6, 1)};
  rows[2].times.pop_back();
  rows[1].times.erase(rows[1].times.begin());
  const Fits fits(Collective::alltoall, rows, plain_model);
  EXPECT_THAT(factor(fits, "tra", 16), DoubleNear(0.6, 1e-9));
  EXPECT_THAT(factor(fits, "tra", 256), DoubleNear(1.6, 1e-9));
  EXPECT_THAT(factor(fits, "tra", 4096), DoubleNear(5, 1e-9));
  EXPECT_THAT(fits.common(4096), DoubleNear(5, 1e-9));
  EXPECT_THAT(factor(fits, "pairwise", 16), DoubleNear(0.8, 1e-9));
}

TEST(Fits, a_variant_that_was_measured_has_its_own_factor_where_it_was) {
  std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "tra", 2, 2, 2),
                                   row_of(Collective::alltoall, "tra", 1, 1.5, 4),
                                   row_of(Collective::alltoall, "linear", 2, 2, 2)};
  rows[1].values.set("radix", 3);
  rows[1].times.pop_back();
  const Fits fits(Collective::alltoall, rows, plain_model);
  const Algorithm* const tra = algorithm_named("tra");
  EXPECT_THAT(fits.factor(tra, {{"radix", 3}}, 16), DoubleNear(1, 1e-9));
  EXPECT_THAT(fits.factor(tra, {{"radix", 3}}, 256), DoubleNear(1.5, 1e-9));
  EXPECT_THAT(fits.factor(tra, {{"radix", 3}}, 4096), DoubleNear(2, 1e-9)) << "it was not measured there";
  EXPECT_THAT(fits.factor(tra, {{"radix", 4}}, 16), DoubleNear(2, 1e-9));
  EXPECT_THAT(fits.factor(tra, {{"radix", 3}, {"group", 2}}, 16), DoubleNear(2, 1e-9));
  EXPECT_THAT(fits.common(16), DoubleNear(2, 1e-9)) << "no algorithm counts twice";
  EXPECT_FALSE(Fits(Collective::alltoall, std::span(rows).subspan(1, 1), plain_model).has(tra));
}

TEST(Fits, one_that_is_far_from_its_like_was_disturbed) {
  const std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "linear", 3, 1, 1),
                                         row_of(Collective::alltoall, "pairwise", 0.2, 1, 1),
                                         row_of(Collective::alltoall, "tra", 3, 1, 1)};
  EXPECT_THAT(factor(Fits(Collective::alltoall, rows, plain_model), "pairwise", 16), DoubleNear(1.5, 1e-9));
}

TEST(Fits, the_expected_error_is_that_of_a_size_left_out) {
  // Between 2 and 2 one expects 2, which is 25% more than 1.6.
  const std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "linear", 2, 1.6, 2),
                                         row_of(Collective::alltoall, "pairwise", 2, 1.6, 2)};
  EXPECT_THAT(Fits(Collective::alltoall, rows, plain_model).errors(), testing::Each(DoubleNear(0.25, 1e-9)));
  EXPECT_EQ(Fits(Collective::alltoall, rows, plain_model).errors().size(), 2u);
  EXPECT_EQ(factor(Fits(Collective::alltoall, {}, plain_model), "linear", 8), 1);
}

TEST(Fits, what_does_not_serve_is_left_out) {
  const std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "linear", 2, 2, 2)};
  const Fits fits(Collective::alltoall, rows, [](const MeasuredRow&, std::size_t) { return std::optional<double>(); });
  EXPECT_EQ(factor(fits, "linear", 8), 1);
}

TEST(Fits, the_previous_component_has_its_own_factor_near_the_others) {
  std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "linear", 1, 1, 1)};
  EXPECT_EQ(Fits(Collective::alltoall, rows, plain_model).factor_of_previous("tuned", 16), std::nullopt);
  rows.push_back(row_of(Collective::alltoall, "linear", 1.5, 3, 6));
  rows.back().algorithm = nullptr;
  rows.back().previous = "tuned";
  const Fits fits(Collective::alltoall, rows, plain_model);
  EXPECT_EQ(fits.factor_of_previous("han", 16), std::nullopt);
  EXPECT_THAT(fits.factor_of_previous("tuned", 16).value(), DoubleNear(1.5, 1e-9));
  EXPECT_THAT(fits.factor_of_previous("tuned", 256).value(), DoubleNear(3, 1e-9)) << "it may do something else";
  EXPECT_THAT(fits.factor_of_previous("tuned", 4096).value(), DoubleNear(4, 1e-9)) << "six times is not believed";
  EXPECT_THAT(fits.common(16), DoubleNear(1, 1e-9)) << "it says nothing of ours";
  EXPECT_EQ(factor(fits, "tra", 16), 1);
  const Fits alone(Collective::alltoall, std::span(rows).subspan(1), plain_model);
  EXPECT_THAT(alone.common(4096), DoubleNear(6, 1e-9)) << "ours are on the same machine";
  EXPECT_FALSE(alone.has(algorithm_named("linear")));
  EXPECT_TRUE(fits.has(algorithm_named("linear")));
}

TEST(Fits, times_of_what_is_not_known_lie_on_lines) {
  const std::vector<MeasuredRow::Time> times = {{100, 1}, {200, 2}, {400, 8}};
  for (const auto& [bytes, seconds] : std::vector<std::pair<std::size_t, double>>{
           {0, 1}, {100, 1}, {150, 1.5}, {200, 2}, {300, 5}, {400, 8}, {500, 11}})
    EXPECT_THAT(seconds_between(times, bytes), DoubleNear(seconds, 1e-12)) << bytes;
  EXPECT_EQ(seconds_between(std::vector<MeasuredRow::Time>{{100, 3}}, 7), 3);
  EXPECT_EQ(seconds_between(std::vector<MeasuredRow::Time>{{100, 3}, {200, 2}}, 500), 2)
      << "never faster than measured";
}

TEST(Fits, errors_are_of_the_sizes_around) {
  const std::vector<MeasuredRow::Time> times = {{100, 1, 0.1}, {200, 2, 0.3}, {400, 8, 0.2}};
  for (const auto& [bytes, error] : std::vector<std::pair<std::size_t, double>>{
           {99, 1}, {100, 0.1}, {101, 0.3}, {200, 0.3}, {300, 0.3}, {400, 0.2}, {401, 1}})
    EXPECT_EQ(error_between(times, bytes), error) << bytes;
}

TEST(Fits, errors_are_those_of_the_times_that_a_factor_is_from) {
  std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "tra", 1, 1, 1)};
  rows.front().times.front().error = 0.1;
  rows.push_back(rows.front());
  rows.back().values.set(OptionValues{{"radix", 3}});
  rows.back().times.front().error = 0.2;
  const Fits fits(Collective::alltoall, rows, plain_model);
  const std::size_t bytes = rows.front().times.front().bytes;
  EXPECT_EQ(fits.error(algorithm_named("tra"), {}, bytes), 0.1);
  EXPECT_EQ(fits.error(algorithm_named("tra"), {{"radix", 3}}, bytes), 0.2);
  EXPECT_EQ(fits.error(algorithm_named("tra"), {{"radix", 4}}, bytes), 0.1) << "priced by its algorithm's times";
  EXPECT_EQ(fits.error(algorithm_named("linear"), {}, bytes), 1) << "priced by others' times";
}

TEST(Fits, times_of_previous_components_travel_with_their_names) {
  const MeasuredRows rows = measured_rows(
      "constants latency_node=1e-06 times bcast/fallback:tuned/8/2e-06/1 bcast/fallback:/8/1/1 bcast/fallback:a "
      "b/8/1/1 from "
      "F");
  ASSERT_NE(rows, nullptr);
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front().algorithm, nullptr);
  EXPECT_EQ(rows->front().previous, "tuned");
  EXPECT_EQ(rows->front().times, (std::vector<MeasuredRow::Time>{{8, 2e-6}}));
}

TEST(Fits, times_of_variants_travel_with_their_options) {
  const MeasuredRows rows = measured_rows(
      "constants latency_node=1e-06 times alltoall/tra:radix=3/8/2e-06/1 "
      "allgather/two-level:leaders=1,intra-radix=4/8/3e-06/1"
      " alltoall/tra:radius=3/8/1/1 alltoall/tra:radix=x/8/1/1 alltoall/tra/8/4e-06/1 alltoall/auto/8/1/1 from F");
  ASSERT_NE(rows, nullptr);
  ASSERT_EQ(rows->size(), 3u);
  EXPECT_EQ((*rows)[0].algorithm, algorithm_named("tra"));
  EXPECT_EQ((*rows)[0].values, (OptionValues{{"radix", 3}}));
  EXPECT_EQ((*rows)[1].values, (OptionValues{{"leaders", 1}, {"intra-radix", 4}}));
  EXPECT_EQ((*rows)[2].values, OptionValues{});
  EXPECT_EQ(measured_algorithms(rows), 1u) << "variants are not algorithms of their own";
}

TEST(Fits, times_travel_in_the_line_of_constants) {
  const std::string line =
      "constants latency_node=1e-06 times alltoall/tra/8/1.5e-05/0.02/16384/0.002/1 alltoall/none/8/1/1 from /a/FILE";
  ASSERT_NE(measured_rows(line), nullptr);
  const std::vector<MeasuredRow>& rows = *measured_rows(line);
  EXPECT_EQ(measured_rows(line).get(), &rows) << "read once";
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].collective, Collective::alltoall);
  EXPECT_EQ(rows[0].algorithm, algorithm_named("tra"));
  EXPECT_EQ(rows[0].times, (std::vector<MeasuredRow::Time>{{8, 1.5e-5, 0.02}, {16384, 2e-3}}));
  std::vector<SourcedConstant> sources;
  EXPECT_EQ(machine_with({}, line, {}, &sources).latency_node, 1e-6);
  EXPECT_EQ(sources.front().source, "measured, /a/FILE");
  EXPECT_EQ(measured_rows("constants latency_node=1e-06 from /a/ times b"), nullptr);
}

TEST(Constants, are_those_of_the_library_that_runs) {
  const std::string path = testing::TempDir() + "fits_test_libraries.json";
  std::remove(path.c_str());
  ConstantsRecord record{{"one"}, 2, transport_of_environment(), this_version(), {{"latency_node", 1e-6}}, {}};
  record.library = "Open MPI v4.1.4";
  write_constants(path, record);
  record.library = "MPICH Version: 4.0.2";
  record.constants["latency_node"] = 2e-6;
  write_constants(path, record);
  Settings settings;
  settings.constants = path;
  const auto latency = [&](std::string_view library) {
    const std::string line = constants_line(settings, {"one"}, Placement{{0, 0}, {}}, library);
    return machine_with(settings, line, {}, nullptr).latency_node;
  };
  EXPECT_EQ(latency("Open MPI v4.1.4"), 1e-6);
  EXPECT_EQ(latency("MPICH Version: 4.0.2"), 2e-6);
  EXPECT_EQ(latency(""), 2e-6) << "the last one, where nobody knows";
  EXPECT_EQ(latency("Open MPI v5.0.7"), 2e-6) << "another's constants are better than none";
  EXPECT_EQ(read_constants(path).size(), 2u);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace colltopo
