#include "probe/middle.h"

#include <gtest/gtest.h>

namespace {

using namespace colltopo::probe;

TEST(Middle, MedianOfAnEvenNumberIsTheOneAbove) {
  EXPECT_EQ(median_of({5}), 5);
  EXPECT_EQ(median_of({4, 1, 9}), 4);
  EXPECT_EQ(median_of({8, 2, 6, 4}), 6);
}

TEST(Middle, HalfLeavesOutAQuarterOnEachSide) {
  EXPECT_EQ(middle_half_of({100, 1, 2, 3, 4, 5, 6, -50}), (2 + 3 + 4 + 5) / 4.0);
}

// A meeting of 5 ms, after a message was lost, is taken off one call of 2 ms in three.
TEST(Middle, HalfOfThreeIsTheirMedian) {
  EXPECT_EQ(middle_half_of({2.2, -2.9, 2.1}), 2.1);
  EXPECT_EQ(middle_half_of({2, 3, 100, -100}), 2.5);
}

TEST(Middle, HalfOfFewerIsTheirMean) {
  EXPECT_EQ(middle_half_of({7}), 7);
  EXPECT_EQ(middle_half_of({2, 4}), 3);
}

TEST(Middle, StandardErrorNeedsFourValues) {
  EXPECT_FALSE(standard_error_of(std::vector<double>{1, 2, 3}));
  EXPECT_NEAR(standard_error_of(std::vector<double>{1, 3, 1, 3}).value(), std::sqrt(4.0 / 3) / 2, 1e-12);
  EXPECT_EQ(standard_error_of(std::vector<double>(9, 5.0)).value(), 0);
}

}  // namespace
