// Link flows: cycles cancelled, conservation restored, paths taken off.
#include "synthesis/paths/link_flow.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

#include "colltopo/error.h"

namespace colltopo {

using namespace synthesis;
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

LinkId link_between(const Topology& topology, NodeId tail, NodeId head) {
  for (const LinkId link : topology.links_out(tail))
    if (topology.link(link).head == head) return link;
  ADD_FAILURE() << "no link from " << tail << " to " << head;
  return -1;
}

/// Amounts by (tail, head), sorted by link.
LinkFlow flow_of(const Topology& topology, NodeId source, NodeId target,
                 const std::map<std::pair<NodeId, NodeId>, double>& amounts) {
  LinkFlow flow{source, target, {}};
  for (const auto& [ends, amount] : amounts)
    flow.links.push_back({link_between(topology, ends.first, ends.second), amount});
  std::ranges::sort(flow.links, {}, &LinkAmount::link);
  return flow;
}

double amount_on(const Topology& topology, const LinkFlow& flow, NodeId tail, NodeId head) {
  const LinkId link = link_between(topology, tail, head);
  for (const LinkAmount& on : flow.links)
    if (on.link == link) return on.amount;
  return 0;
}

/// [node] what enters less what leaves and the demand.
std::vector<double> surplus(const Topology& topology, const LinkFlow& flow) {
  std::vector<double> surplus(static_cast<std::size_t>(topology.nodes()), 0);
  for (const LinkAmount& on : flow.links) {
    surplus[static_cast<std::size_t>(topology.link(on.link).head)] += on.amount;
    surplus[static_cast<std::size_t>(topology.link(on.link).tail)] -= on.amount;
  }
  for (NodeId node = 0; node < topology.nodes(); ++node)
    surplus[static_cast<std::size_t>(node)] -= flow.demand(topology, node);
  return surplus;
}

bool has_cycle(const Topology& topology, const LinkFlow& flow) {
  std::vector<int> entering(static_cast<std::size_t>(topology.nodes()), 0);
  for (const LinkAmount& on : flow.links) ++entering[static_cast<std::size_t>(topology.link(on.link).head)];
  std::vector<NodeId> ready;
  for (NodeId node = 0; node < topology.nodes(); ++node)
    if (entering[static_cast<std::size_t>(node)] == 0) ready.push_back(node);
  std::size_t removed = 0;
  while (!ready.empty()) {
    const NodeId node = ready.back();
    ready.pop_back();
    ++removed;
    for (const LinkAmount& on : flow.links)
      if (topology.link(on.link).tail == node && --entering[static_cast<std::size_t>(topology.link(on.link).head)] == 0)
        ready.push_back(topology.link(on.link).head);
  }
  return removed < static_cast<std::size_t>(topology.nodes());
}

TEST(LinkFlow, a_cycle_is_cancelled_by_its_smallest_amount) {
  const Topology complete = topology_of("complete:5");
  LinkFlow flow = flow_of(complete, 0, 3, {{{0, 1}, 1}, {{1, 2}, 1.5}, {{2, 4}, 0.5}, {{4, 1}, 0.5}, {{2, 3}, 1}});
  cancel_cycles(complete, flow);
  EXPECT_EQ(flow, flow_of(complete, 0, 3, {{{0, 1}, 1}, {{1, 2}, 1}, {{2, 3}, 1}}));
}

TEST(LinkFlow, a_flow_without_cycles_is_left_alone) {
  const Topology complete = topology_of("complete:4");
  const LinkFlow before =
      flow_of(complete, 0, 3, {{{0, 1}, 0.5}, {{0, 2}, 0.5}, {{1, 3}, 0.25}, {{1, 2}, 0.25}, {{2, 3}, 0.75}});
  LinkFlow after = before;
  cancel_cycles(complete, after);
  EXPECT_EQ(after, before);
}

TEST(LinkFlow, surplus_is_taken_back_to_the_source) {
  const Topology complete = topology_of("complete:5");
  // Twice as much leaves 0 as arrives at 3; some of it ends at 4; some returns to 0.
  LinkFlow flow = flow_of(complete, 0, 3, {{{0, 1}, 2}, {{1, 3}, 1}, {{1, 4}, 0.5}, {{1, 2}, 0.5}, {{2, 0}, 0.25}});
  restore_conservation(complete, flow);
  EXPECT_EQ(flow, flow_of(complete, 0, 3, {{{0, 1}, 1}, {{1, 3}, 1}}));
}

TEST(LinkFlow, rounding_that_comes_from_nowhere_is_dropped) {
  const Topology complete = topology_of("complete:4");
  LinkFlow flow = flow_of(complete, 0, 3, {{{0, 3}, 1}, {{1, 2}, 1e-13}, {{2, 3}, 1e-13}});
  restore_conservation(complete, flow);
  ASSERT_EQ(flow.links.size(), 1U);
  EXPECT_NEAR(amount_on(complete, flow, 0, 3), 1, 1e-12);
}

TEST(LinkFlow, a_flow_that_does_not_arrive_is_an_error) {
  const Topology complete = topology_of("complete:4");
  LinkFlow flow = flow_of(complete, 0, 3, {{{0, 1}, 1}});
  EXPECT_THAT([&] { restore_conservation(complete, flow); },
              ThrowsMessage<Error>(HasSubstr("the flow from host 0 does not reach 3")));
}

/// A grouped flow on a random graph: random paths to every host, with cycles and surplus thrown in.
LinkFlow random_grouped_flow(const Topology& topology, NodeId source, std::mt19937& random) {
  std::vector<double> amounts(topology.links().size(), 0);
  std::uniform_real_distribution<double> share(0.1, 1);
  const auto walk = [&](NodeId from, int hops, double amount) {
    for (NodeId at = from; hops > 0; --hops) {
      const auto out = topology.links_out(at);
      const LinkId link = out[random() % out.size()];
      amounts[static_cast<std::size_t>(link)] += amount;
      at = topology.link(link).head;
    }
  };
  const ShortestPaths shortest(topology);
  for (NodeId target = 0; target < topology.hosts(); ++target) {
    if (target == source) continue;
    for (const LinkId link : shortest.path(source, target)) amounts[static_cast<std::size_t>(link)] += 1;
    walk(source, 6, share(random));
  }
  LinkFlow flow{source, LinkFlow::k_everybody, {}};
  for (std::size_t link = 0; link < amounts.size(); ++link)
    if (amounts[link] > 0) flow.links.push_back({static_cast<LinkId>(link), amounts[link]});
  return flow;
}

TEST(LinkFlow, random_flows_with_cycles_and_surplus_become_paths_to_every_host) {
  std::mt19937 random(7);
  for (const char* spec : {"torus:3x4", "hypercube:4", "switch:6", "kautz:11:3"}) {
    const Topology topology = topology_of(spec);
    for (NodeId source = 0; source < topology.hosts(); ++source) {
      LinkFlow flow = random_grouped_flow(topology, source, random);
      const LinkFlow before = flow;
      restore_conservation(topology, flow);
      EXPECT_FALSE(has_cycle(topology, flow)) << spec;
      auto left = surplus(topology, flow);
      left[static_cast<std::size_t>(source)] += topology.hosts() - 1;
      EXPECT_THAT(left, testing::Each(DoubleNear(0, 1e-9)));

      std::vector<double> used(topology.links().size(), 0);
      std::vector<double> weights(static_cast<std::size_t>(topology.hosts()), 0);
      for (const FlowPath& path : strip_paths(topology, flow)) {
        weights[static_cast<std::size_t>(path.target)] += path.weight;
        for (const LinkId link : path.links) used[static_cast<std::size_t>(link)] += path.weight;
      }
      for (NodeId host = 0; host < topology.hosts(); ++host)
        EXPECT_NEAR(weights[static_cast<std::size_t>(host)], host == source ? 0 : 1, 1e-12);
      for (const LinkAmount& on : flow.links) EXPECT_NEAR(used[static_cast<std::size_t>(on.link)], on.amount, 1e-7);
    }
  }
}

TEST(WidestPaths, come_with_decreasing_weights) {
  const Topology complete = topology_of("complete:5");
  const LinkFlow flow = flow_of(
      complete, 0, 4, {{{0, 1}, 0.2}, {{1, 4}, 0.2}, {{0, 2}, 0.5}, {{2, 4}, 0.5}, {{0, 3}, 0.3}, {{3, 4}, 0.3}});
  const std::vector<FlowPath> paths = widest_paths(complete, flow);
  ASSERT_EQ(paths.size(), 3U);
  EXPECT_NEAR(paths[0].weight, 0.5, 1e-12);
  EXPECT_THAT(paths[0].links, ElementsAre(link_between(complete, 0, 2), link_between(complete, 2, 4)));
  EXPECT_NEAR(paths[1].weight, 0.3, 1e-12);
  EXPECT_NEAR(paths[2].weight, 0.2, 1e-12);
}

TEST(WidestPaths, need_no_conservation_and_are_made_to_sum_to_one) {
  const Topology complete = topology_of("complete:4");
  const LinkFlow half = flow_of(complete, 0, 3, {{{0, 1}, 0.7}, {{1, 3}, 0.5}, {{1, 2}, 0.2}});
  const std::vector<FlowPath> paths = widest_paths(complete, half);
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_DOUBLE_EQ(paths[0].weight, 1);
  EXPECT_THAT(
      [&] {
        widest_paths(complete, flow_of(complete, 0, 3, {{{0, 1}, 1}}));
      },
      ThrowsMessage<Error>(HasSubstr("does not reach 3")));
}

}  // namespace
}  // namespace colltopo
