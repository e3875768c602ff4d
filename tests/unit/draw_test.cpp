// Pictures of topologies: every node is there, none hides another, and what stands where follows from the network.
#include "colltopo/draw.h"

#include <cmath>
#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/labels.h"
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

struct Text {
  double x = 0, y = 0, size = 0;
  std::string anchor, words;
};

std::vector<Text> texts_in(const std::string& svg) {
  const std::regex form(
      R"re(<text x="([-0-9.]+)" y="([-0-9.]+)" font-size="([0-9]+)"[^>]*text-anchor="([a-z]+)"[^>]*>([^<]*)<)re");
  std::vector<Text> texts;
  for (std::sregex_iterator at(svg.begin(), svg.end(), form), end; at != end; ++at)
    texts.push_back({std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), (*at)[4], (*at)[5]});
  return texts;
}

double width_in(const std::string& svg) { return std::stod(svg.substr(svg.find("width=\"") + 7)); }

Box box_of(const Text& text) {
  const double wide = text_width(text.words, text.size);
  const double left = text.anchor == "start" ? text.x : text.anchor == "end" ? text.x - wide : text.x - wide / 2;
  return {{left, text.y - 0.8 * text.size}, {left + wide, text.y + 0.1 * text.size}};
}

class Loads : public testing::TestWithParam<std::string> {};

TEST_P(Loads, have_a_scale_inside_the_picture_and_numbers_that_do_not_collide) {
  const Topology topology = topology_of(GetParam());
  std::vector<double> loads;
  for (std::size_t link = 0; link < topology.links().size(); ++link)
    loads.push_back(1 + 12.5 * static_cast<double>(link % 7));
  const std::string svg = topology_svg(topology, loads, "all links of a network with a title that is rather long");
  const std::vector<Text> texts = texts_in(svg);
  EXPECT_THAT(svg, HasSubstr("busiest: 76 times the bytes of a call"));
  for (const Text& text : texts) {
    EXPECT_GE(box_of(text).least.x, 0) << text.words;
    EXPECT_LE(box_of(text).most.x, width_in(svg)) << text.words;
  }
  for (std::size_t a = 0; a < texts.size(); ++a)
    for (std::size_t b = a + 1; b < texts.size(); ++b)
      EXPECT_FALSE(overlap(box_of(texts[a]), box_of(texts[b]))) << texts[a].words << " on " << texts[b].words;
}

INSTANTIATE_TEST_SUITE_P(Draw, Loads,
                         testing::Values("torus:4x4", "torus:3x3", "hyperx:4x4", "hypercube:4", "bipartite:4:4",
                                         "kautz:16:4", "fattree:4", "switch:8"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& letter : name)
                             if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
                           return name;
                         });

TEST(Loads, of_most_links_are_numbered_where_there_is_room) {
  const Topology topology = topology_of("torus:4x4");
  const std::string svg = topology_svg(topology, std::vector<double>(topology.links().size(), 8));
  EXPECT_EQ(count_of(svg, "<polygon"), topology.links().size());
  EXPECT_GE(count_of(svg, ">8</text>"), topology.links().size() * 9 / 10);
}

TEST(Loads, of_two_pictures_can_have_one_scale) {
  const Topology topology = topology_of("ring:4");
  LoadScale scale{.unit = "MB", .unit_size = 1e6, .darkest = 4e6};
  const std::string svg = topology_svg(topology, std::vector<double>(topology.links().size(), 2e6), "", scale);
  EXPECT_THAT(svg, HasSubstr("busiest: 2 MB"));
  EXPECT_THAT(svg, HasSubstr("100%: 4"));
  EXPECT_THAT(svg, Not(HasSubstr("stroke=\"" + heat(1) + "\""))) << "half of the darkest";
  EXPECT_THAT(svg, HasSubstr("stroke=\"" + heat(0.5) + "\""));
}

TEST(Loads, of_more_links_than_can_be_told_apart_are_a_curve) {
  const Topology topology = topology_of("torus:64x64");
  std::vector<double> loads(topology.links().size(), 1);
  loads[7] = 2;
  EXPECT_THAT(topology_svg(topology, loads), HasSubstr("16384 links, too many to draw one by one"));
  EXPECT_THAT(topology_svg(topology, loads), HasSubstr("mean 50.0% of the busiest"));
  EXPECT_THAT(topology_text(topology, loads), HasSubstr("  50%   50.0% ####################\n"));
}

TEST(Traffic, of_any_number_of_messages_is_a_square) {
  const Shape shape{.collective = Collective::alltoall, .ranks = 3};
  const Schedule schedule = schedule_of("shift", shape, [&](Rank rank) {
    ProgramBuilder program(shape, rank);
    program.step(1);
    program.send({{Buffer::input, (rank + 1) % 3, 1}}, (rank + 1) % 3);
    program.recv({{Buffer::output, (rank + 2) % 3, 1}}, (rank + 2) % 3);
    return std::move(program).build();
  });
  const std::string svg = traffic_svg(schedule);
  EXPECT_EQ(count_of(svg, "fill=\"" + heat(1) + "\""), 3u) << "0 to 1, 1 to 2, 2 to 0, nothing else";
  EXPECT_THAT(svg, HasSubstr("3 messages"));
}

}  // namespace
}  // namespace colltopo
