// Sizes of the command line, as people write them.
#include "collectives/sizes.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace colltopo::bench {
namespace {

using testing::ElementsAre;

TEST(Sizes, units_are_powers_of_1024) {
  EXPECT_THAT(sizes_from("8,1K,4M,1G"), ElementsAre(8, 1024, 4u << 20, 1u << 30));
  EXPECT_EQ(size_from("3kB"), 3072u);
  EXPECT_EQ(size_from("2MiB"), 2u << 20);
}

TEST(Sizes, ranges_double_and_end_at_or_below_their_end) {
  EXPECT_THAT(sizes_from("8:64"), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(sizes_from("3:20,7"), ElementsAre(3, 6, 12, 7));
  EXPECT_THAT(sizes_from("5:5"), ElementsAre(5));
}

TEST(Sizes, what_is_no_size_is_refused) {
  for (const char* text :
       {"", "0", "x", "4X", "8K8", "-8", "8,,16", "8,", "64:8", "99999999999999999999", "17179869184G"})
    EXPECT_THROW(sizes_from(text), std::invalid_argument) << text;
}

TEST(Sizes, are_printed_in_the_largest_unit_that_is_exact) {
  EXPECT_EQ(size_text(8), "8");
  EXPECT_EQ(size_text(1000), "1000");
  EXPECT_EQ(size_text(1536), "1536");
  EXPECT_EQ(size_text(64 << 10), "64K");
  EXPECT_EQ(size_text(4 << 20), "4M");
}

}  // namespace
}  // namespace colltopo::bench
