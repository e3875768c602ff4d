// What measured times make of the model's prices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "choice/fits.h"
#include "comm/constants.h"

namespace colltopo {
namespace {

using testing::DoubleNear;
using testing::Optional;

constexpr double k_start = 1e-5, k_per_byte = 1e-9;

/// 10 us and 1 ns a byte, whatever the algorithm.
std::optional<Fits::Priced> plain_model(const MeasuredRow& /*row*/, std::size_t bytes) {
  return Fits::Priced{k_start + k_per_byte * static_cast<double>(bytes), k_start};
}

/// Of an algorithm whose parts take so many times as long as the plain model says.
MeasuredRow row_of(Collective collective, const char* algorithm, double start, double bytes, double middle = 1) {
  MeasuredRow row{collective, algorithm_named(algorithm), {}, {}};
  for (const std::size_t size : {0u, 1000u, 1000000u})
    row.times.push_back({size, start * k_start + bytes * k_per_byte * static_cast<double>(size)});
  row.times[1].seconds *= middle;
  return row;
}

TEST(Fits, both_parts_of_a_price_have_their_factor) {
  const std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "linear", 3, 2)};
  const Fits fits(rows, plain_model);
  const Fit fit = fits.of(Collective::alltoall, algorithm_named("linear"));
  EXPECT_THAT(fit.constant, DoubleNear(3, 1e-6));
  EXPECT_THAT(fit.bytes, DoubleNear(2, 1e-6));
  EXPECT_THAT(fit.seconds(k_start + k_per_byte * 5000, k_start), DoubleNear(3 * k_start + 2 * k_per_byte * 5000, 1e-9));
  EXPECT_THAT(fits.error(), Optional(DoubleNear(0, 1e-6)));
}

TEST(Fits, what_was_not_measured_is_as_far_off_as_the_others) {
  const std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "linear", 4, 1),
                                         row_of(Collective::alltoall, "pairwise", 2, 1),
                                         row_of(Collective::alltoall, "tra", 3, 1)};
  const Fits fits(rows, plain_model);
  EXPECT_THAT(fits.of(Collective::alltoall, algorithm_named("tra2")).constant, DoubleNear(3, 1e-6));
  EXPECT_THAT(fits.of(Collective::bcast, algorithm_named("binomial")).constant, DoubleNear(3, 1e-6));
  EXPECT_THAT(fits.of(Collective::alltoall, algorithm_named("linear")).constant, DoubleNear(4, 1e-6));
}

TEST(Fits, one_that_is_far_from_its_like_was_disturbed) {
  const std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "linear", 3, 1),
                                         row_of(Collective::alltoall, "pairwise", 0.2, 1),
                                         row_of(Collective::alltoall, "tra", 3, 1)};
  EXPECT_THAT(Fits(rows, plain_model).of(Collective::alltoall, algorithm_named("pairwise")).constant,
              DoubleNear(1.5, 1e-6));
}

TEST(Fits, the_expected_error_is_that_of_what_took_no_part) {
  const std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "linear", 2, 1, 1.25),
                                         row_of(Collective::alltoall, "pairwise", 2, 1, 1.25)};
  EXPECT_THAT(Fits(rows, plain_model).error(), Optional(DoubleNear(0.2, 1e-6)));
  EXPECT_EQ(Fits({}, plain_model).error(), std::nullopt);
  EXPECT_EQ(Fits({}, plain_model).of(Collective::alltoall, nullptr).constant, 1);
}

TEST(Fits, what_does_not_serve_is_left_out) {
  const std::vector<MeasuredRow> rows = {row_of(Collective::alltoall, "linear", 2, 2)};
  const Fits fits(rows, [](const MeasuredRow&, std::size_t) { return std::optional<Fits::Priced>(); });
  EXPECT_EQ(fits.of(Collective::alltoall, algorithm_named("linear")).constant, 1);
}

TEST(Fits, times_travel_in_the_line_of_constants) {
  const std::string line = "constants latency_node=1e-06 times alltoall/tra:radix=4/8/1.5e-05/16384/0.002 from /a/FILE";
  const std::vector<MeasuredRow> rows = measured_rows(line);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].collective, Collective::alltoall);
  EXPECT_EQ(rows[0].algorithm, algorithm_named("tra"));
  EXPECT_EQ(rows[0].values.value_or("radix", 0), 4);
  EXPECT_EQ(rows[0].times, (std::vector<MeasuredRow::Time>{{8, 1.5e-5}, {16384, 2e-3}}));
  std::vector<SourcedConstant> sources;
  EXPECT_EQ(machine_with({}, line, {}, &sources).latency_node, 1e-6);
  EXPECT_EQ(sources.front().source, "measured, /a/FILE");
  EXPECT_TRUE(measured_rows("constants latency_node=1e-06 from /a/ times b").empty());
}

}  // namespace
}  // namespace colltopo
