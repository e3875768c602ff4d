// Pictures of topologies: every node is there, none hides another, and what stands where follows from the network.
#include "colltopo/draw.h"

#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/layout_topology.h"
#include "errors.h"

namespace colltopo {
namespace {

using namespace drawing;

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class Pictures : public testing::TestWithParam<std::string> {};

TEST_P(Pictures, show_every_node_and_hide_none) {
  const Topology topology = topology_of(GetParam());
  const std::string svg = topology_svg(topology);
  EXPECT_EQ(count_of(svg, "<circle"), static_cast<std::size_t>(topology.hosts()));
  EXPECT_EQ(count_of(svg, "fill=\"#fdf0dc\""), static_cast<std::size_t>(topology.switches()));
  EXPECT_EQ(svg, topology_svg(topology)) << "the same input gives the same bytes";

  const Layout layout = layout_of(topology);
  ASSERT_EQ(layout.places.size(), static_cast<std::size_t>(topology.nodes()));
  EXPECT_EQ(layout.remark, "");
  for (std::size_t a = 0; a < layout.places.size(); ++a)
    for (std::size_t b = a + 1; b < layout.places.size(); ++b)
      EXPECT_GT(length(layout.places[a] - layout.places[b]), 20) << GetParam() << " " << a << " " << b;
}

INSTANTIATE_TEST_SUITE_P(Draw, Pictures,
                         testing::Values("ring:7", "mesh:3x5", "torus:3x3x3", "hypercube:5", "twisted-hypercube:4",
                                         "complete:9", "bipartite:3:5", "kautz:16:4", "xpander:20:4", "jellyfish:24:3",
                                         "slimfly:4", "hyperx:4x5", "hammingmesh:2x2:3x4", "hammingmesh:1x1:2x40",
                                         "dragonfly:4:2:2", "dragonfly:2:1:1", "fattree:4", "switch:9", "dgx-a100:1",
                                         "dgx-a100:4", "mi250:1", "mi250:2:8", "torus:4x4/drop-links:3",
                                         "torus:4x4/drop-hosts:2", "torus:3x3/host-bandwidth:2",
                                         "kautz:8:2/injection:1"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& letter : name)
                             if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
                           return name;
                         });

TEST(Layouts, of_fat_trees_are_levels_with_hosts_lowest) {
  const Topology tree = topology_of("fattree:4");
  const std::vector<Point> places = layout_of(tree).places;
  std::set<long> levels;
  for (NodeId node = 0; node < tree.nodes(); ++node) {
    const Point place = places[static_cast<std::size_t>(node)];
    levels.insert(std::lround(place.y));
    EXPECT_EQ(place.y < places[0].y, !tree.is_host(node)) << tree.node_name(node);
  }
  EXPECT_EQ(levels.size(), 4u) << "hosts, edge, aggregation, core";
}

TEST(Layouts, of_trees_put_every_switch_above_its_hosts) {
  TopologyBuilder builder("three racks", 6, 3);
  for (NodeId host = 0; host < 6; ++host) builder.cable(host, 6 + host / 2);
  builder.cable(6, 7).cable(7, 8);
  const std::vector<Point> places = layout_of(std::move(builder).build()).places;
  for (std::size_t host = 0; host < 6; ++host) EXPECT_GT(places[host].y, places[6 + host / 2].y);
  EXPECT_LT(places[7].y, places[6].y) << "the middle switch is the root";
}

TEST(Layouts, of_boxes_put_rails_opposite_the_switches_of_the_boxes) {
  const Topology boxes = topology_of("dgx-a100:2");
  const std::vector<Point> places = layout_of(boxes).places;
  EXPECT_LT(places[16].y, places[0].y);
  EXPECT_GT(places[18].y, places[0].y);
}

TEST(Layouts, of_boards_leave_room_between_them_and_put_switches_beside_rows) {
  const std::vector<Point> places = layout_of(topology_of("hammingmesh:2x2:2x2")).places;
  EXPECT_GT(places[2].x - places[1].x, places[1].x - places[0].x + 20);
  EXPECT_EQ(places[16].y, places[0].y) << "switch of the first row";
  EXPECT_GT(places[16].x, places[3].x);
  EXPECT_EQ(places[20].x, places[0].x) << "switch of the first column";
}

TEST(Layouts, without_graphviz_are_circles_and_say_so) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const std::string svg = topology_svg(topology_of("kautz:16:4"));
  setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(svg, HasSubstr("on a circle, for Graphviz (neato, sfdp) is not installed"));
  EXPECT_THAT(topology_svg(topology_of("kautz:16:4")), Not(HasSubstr("circle, for Graphviz")));
}

TEST(Picture, wider_cables_carry_more) {
  TopologyBuilder builder("fast and slow", 3);
  builder.cable(0, 1).link(1, 2, 4 * k_default_bandwidth).link(2, 1, 4 * k_default_bandwidth);
  const std::string svg = topology_svg(std::move(builder).build());
  EXPECT_THAT(svg, HasSubstr("stroke-width=\"1.4\""));
  EXPECT_THAT(svg, HasSubstr("stroke-width=\"2.8\""));
}

TEST(Picture, too_large_to_read_are_refused) {
  EXPECT_THAT(error_from([] { topology_svg(topology_of("torus:64x64")); }),
              HasSubstr("16384 links to draw; at most 6000 can be read"));
}

}  // namespace
}  // namespace colltopo
