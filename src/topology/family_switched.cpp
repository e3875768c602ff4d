// Networks in which switches carry the traffic of hosts: one switch, trees, dragonflies, rows and columns of boards.
#include <algorithm>

#include <fmt/format.h>

#include "base/lines.h"
#include "topology/families.h"

namespace colltopo {

namespace {

void expect_at_most_hosts(const FamilySpec& spec, std::int64_t hosts) {
  if (hosts > k_most_hosts) refuse(spec, fmt::format("{} hosts", hosts), fmt::format("up to {}", k_most_hosts));
}

/// Both sides of "AxB".
struct Sides {
  int rows = 0, columns = 0;
};
Sides two_sides(const FamilySpec& spec, const std::string& text) {
  const std::vector<int> sides = sides_in(spec, text);
  if (sides.size() != 2) refuse(spec, fmt::format("{}", in_quotes(text)), "two sides such as 2x2");
  return {sides[0], sides[1]};
}

}  // namespace

Topology single_switch(const FamilySpec& spec) {
  expect_parameters(spec, 1, "switch:HOSTS");
  const NodeId hosts = number(spec, spec.parameters[0], "number of hosts", 1, k_most_hosts);
  TopologyBuilder builder(spec.text, hosts, 1);
  for (NodeId host = 0; host < hosts; ++host) builder.cable(host, hosts);
  return std::move(builder).build();
}

// Al-Fares et al. 2008: k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, all with k ports.
Topology fat_tree(const FamilySpec& spec) {
  expect_parameters(spec, 1, "fattree:PORTS");
  const int ports = number(spec, spec.parameters[0], "number of ports", 2, 128);
  if (ports % 2 != 0) refuse(spec, fmt::format("{} ports", ports), "an even number, half of them towards the hosts");
  const NodeId half = ports / 2, hosts = ports * half * half;
  const auto edge = [&](NodeId pod, NodeId i) { return hosts + pod * half + i; };
  const auto aggregation = [&](NodeId pod, NodeId i) { return hosts + ports * half + pod * half + i; };
  const auto core = [&](NodeId i) { return hosts + 2 * ports * half + i; };
  TopologyBuilder builder(spec.text, hosts, 2 * ports * half + half * half);
  for (NodeId host = 0; host < hosts; ++host) builder.cable(host, hosts + host / half);
  for (NodeId pod = 0; pod < ports; ++pod) {
    for (NodeId i = 0; i < half; ++i) {
      builder.name_node(edge(pod, i), fmt::format("edge{}.{}", pod, i));
      builder.name_node(aggregation(pod, i), fmt::format("aggregation{}.{}", pod, i));
      for (NodeId j = 0; j < half; ++j) {
        builder.cable(edge(pod, i), aggregation(pod, j));
        builder.cable(aggregation(pod, i), core(i * half + j));
      }
    }
  }
  for (NodeId i = 0; i < half * half; ++i) builder.name_node(core(i), fmt::format("core{}", i));
  return std::move(builder).build();
}

// Kim et al. 2008: a*h + 1 groups of a routers, all joined within a group; every router has p hosts and h cables to
// other groups, so that every two groups share one. Group g's k-th global cable goes k + 1 groups on.
Topology dragonfly(const FamilySpec& spec) {
  expect_parameters(spec, 3, "dragonfly:ROUTERS:HOSTS:GLOBAL");
  const NodeId routers = number(spec, spec.parameters[0], "number of routers in a group", 1, 1024);
  const NodeId router_hosts = number(spec, spec.parameters[1], "number of hosts of a router", 1, 1024);
  const NodeId router_globals = number(spec, spec.parameters[2], "number of global cables of a router", 1, 1024);
  const NodeId globals = routers * router_globals, groups = globals + 1;
  expect_at_most_hosts(spec, std::int64_t{groups} * routers * router_hosts);
  const NodeId hosts = groups * routers * router_hosts;
  const auto router = [&](NodeId group, NodeId i) { return hosts + group * routers + i; };
  TopologyBuilder builder(spec.text, hosts, std::int64_t{groups} * routers);
  for (NodeId host = 0; host < hosts; ++host) builder.cable(host, hosts + host / router_hosts);
  for (NodeId group = 0; group < groups; ++group) {
    for (NodeId i = 0; i < routers; ++i) {
      builder.name_node(router(group, i), fmt::format("router{}.{}", group, i));
      for (NodeId j = i + 1; j < routers; ++j) builder.cable(router(group, i), router(group, j));
    }
    // Where k + 1 groups on is the k'-th cable of that group: k + 1 + k' + 1 = groups.
    for (NodeId k = 0; k < globals; ++k) {
      const NodeId other = (group + k + 1) % groups;
      if (group < other)
        builder.cable(router(group, k / router_globals), router(other, (globals - 1 - k) / router_globals));
    }
  }
  return std::move(builder).build();
}

namespace {

constexpr int k_switch_ports = 64;  // of the switches that join boards (Hoefler et al. 2022, section III)

/// The switches of one row or column of a HammingMesh: a single one if it has the ports, otherwise a tree of two levels
/// without bottleneck, half the ports of a leaf down and half up.
struct RowTree {
  int leaves = 1, spines = 0;
  explicit RowTree(int cables) {
    if (cables <= k_switch_ports) return;
    leaves = (cables + k_switch_ports / 2 - 1) / (k_switch_ports / 2);
    spines = (leaves + 1) / 2;
  }
  int switches() const { return leaves + spines; }
  int leaf_of(int cable) const { return leaves == 1 ? 0 : cable / (k_switch_ports / 2); }
  void join(TopologyBuilder& builder, NodeId first) const {
    const double bandwidth = k_default_bandwidth * (k_switch_ports / 2) / std::max(spines, 1);
    for (NodeId leaf = 0; leaf < leaves; ++leaf) {
      for (NodeId spine = leaves; spine < switches(); ++spine)
        builder.link(first + leaf, first + spine, bandwidth).link(first + spine, first + leaf, bandwidth);
    }
  }
};

}  // namespace

// Hoefler et al. 2022 (De Sensi et al., 5.4.1): boards whose accelerators form a mesh; the accelerators at both ends of
// a row of a board hang on the switches of that row, which all boards beside each other share, and likewise columns.
Topology hamming_mesh(const FamilySpec& spec) {
  expect_parameters(spec, 2, "hammingmesh:AxB:XxY");
  const Sides board = two_sides(spec, spec.parameters[0]), boards = two_sides(spec, spec.parameters[1]);
  expect_at_most_hosts(spec,
                       points_of(spec, {board.rows, boards.rows}) * points_of(spec, {board.columns, boards.columns}));
  const NodeId rows = board.rows * boards.rows, columns = board.columns * boards.columns, hosts = rows * columns;
  const RowTree row_tree(2 * boards.columns), column_tree(2 * boards.rows);
  TopologyBuilder builder(spec.text, hosts,
                          std::int64_t{rows} * row_tree.switches() + std::int64_t{columns} * column_tree.switches());
  builder.arrange({rows, columns});
  const auto host = [&](NodeId row, NodeId column) { return row * columns + column; };
  const auto row_switch = [&](NodeId row) { return hosts + row * row_tree.switches(); };
  const auto column_switch = [&](NodeId column) {
    return hosts + rows * row_tree.switches() + column * column_tree.switches();
  };
  for (NodeId row = 0; row < rows; ++row)
    for (int i = 0; i < row_tree.switches(); ++i)
      builder.name_node(row_switch(row) + i, fmt::format("row{}.{}", row, i));
  for (NodeId column = 0; column < columns; ++column)
    for (int i = 0; i < column_tree.switches(); ++i)
      builder.name_node(column_switch(column) + i, fmt::format("column{}.{}", column, i));

  for (NodeId row = 0; row < rows; ++row) {
    for (NodeId column = 0; column < columns; ++column) {
      const int board_row = row % board.rows, board_column = column % board.columns;
      const int across = 2 * (column / board.columns),
                down = 2 * (row / board.rows);  // first of the board's two cables
      if (board_column == 0) builder.cable(host(row, column), row_switch(row) + row_tree.leaf_of(across));
      if (board_column + 1 == board.columns)
        builder.cable(host(row, column), row_switch(row) + row_tree.leaf_of(across + 1));
      else
        builder.cable(host(row, column), host(row, column + 1));
      if (board_row == 0) builder.cable(host(row, column), column_switch(column) + column_tree.leaf_of(down));
      if (board_row + 1 == board.rows)
        builder.cable(host(row, column), column_switch(column) + column_tree.leaf_of(down + 1));
      else
        builder.cable(host(row, column), host(row + 1, column));
    }
  }
  for (NodeId row = 0; row < rows; ++row) row_tree.join(builder, row_switch(row));
  for (NodeId column = 0; column < columns; ++column) column_tree.join(builder, column_switch(column));
  return std::move(builder).build();
}

}  // namespace colltopo
