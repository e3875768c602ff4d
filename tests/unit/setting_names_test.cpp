// Names of UCX's settings in its versions, and what it says of those that it drops.
#include <gtest/gtest.h>

#include "transport/ucx/setting_names.h"

namespace colltopo {
namespace {

TEST(UcxSettingNames, have_their_transports_prefix_since_1_17) {
  EXPECT_EQ(ucx::name_in_ucx("PORT_RANGE", 1, 13), "PORT_RANGE");
  EXPECT_EQ(ucx::name_in_ucx("PORT_RANGE", 1, 16), "PORT_RANGE");
  EXPECT_EQ(ucx::name_in_ucx("PORT_RANGE", 1, 17), "TCP_PORT_RANGE");
  EXPECT_EQ(ucx::name_in_ucx("LID_PATH_BITS", 1, 18), "IB_LID_PATH_BITS");
  EXPECT_EQ(ucx::name_in_ucx("NET_DEVICES", 1, 18), "NET_DEVICES");
  EXPECT_EQ(ucx::name_in_ucx("CONN_NB", 2, 0), "TCP_CONN_NB");
}

TEST(UcxSettingNames, find_what_was_dropped_in_what_was_printed) {
  const std::string said = "invalid configurations: PORT_RANGE=21000-21999,CONN_NB=y";
  EXPECT_TRUE(ucx::was_dropped("PORT_RANGE", said));
  EXPECT_TRUE(ucx::was_dropped("CONN_NB", said));
  EXPECT_FALSE(ucx::was_dropped("RANGE", said));
  EXPECT_FALSE(ucx::was_dropped("NET_DEVICES", said));
  EXPECT_FALSE(ucx::was_dropped("PORT_RANGE", "no PORT_RANGE=1 here"));
}

}  // namespace
}  // namespace colltopo
