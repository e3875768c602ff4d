// Machines of GPU boxes as Zhao et al. (ForestColl) describe them; bandwidths and links are those of their published
// topology files. GPUs are the hosts, numbered box by box.
#include <array>

#include <fmt/format.h>

#include "topology/families.h"

namespace colltopo {

namespace {

constexpr double k_gigabyte = 1e9;
constexpr int k_most_boxes = 4096;

void two_way(TopologyBuilder& builder, NodeId a, NodeId b, double bandwidth) {
  builder.link(a, b, bandwidth).link(b, a, bandwidth);
}

}  // namespace

// 8 GPUs on the NVSwitch of their box, 300 GB/s each; with more than one box a 25 GB/s network card for every GPU,
// those of even and of odd GPUs on an InfiniBand switch each.
Topology dgx_a100(const FamilySpec& spec) {
  constexpr NodeId k_gpus = 8;
  expect_parameters(spec, 1, "dgx-a100:BOXES");
  const NodeId boxes = number(spec, spec.parameters[0], "number of boxes", 1, k_most_boxes);
  const NodeId hosts = boxes * k_gpus, rails = boxes > 1 ? 2 : 0;
  TopologyBuilder builder(spec.text, hosts, boxes + rails);
  for (NodeId box = 0; box < boxes; ++box) builder.name_node(hosts + box, fmt::format("nvswitch{}", box));
  for (NodeId rail = 0; rail < rails; ++rail)
    builder.name_node(hosts + boxes + rail, fmt::format("infiniband{}", rail));
  for (NodeId gpu = 0; gpu < hosts; ++gpu) {
    builder.name_node(gpu, fmt::format("gpu{}.{}", gpu / k_gpus, gpu % k_gpus));
    two_way(builder, gpu, hosts + gpu / k_gpus, 300 * k_gigabyte);
    if (rails > 0) two_way(builder, gpu, hosts + boxes + gpu % 2, 25 * k_gigabyte);
  }
  return std::move(builder).build();
}

// 16 GPUs joined by Infinity Fabric, 50 GB/s per link and direction; with more than one box a 16 GB/s network card for
// every GPU on one InfiniBand switch. The "8+8" setting uses the first 8 GPUs of every box.
Topology mi250(const FamilySpec& spec) {
  struct Fabric {
    NodeId a, b;
    int links;
  };
  constexpr std::array<Fabric, 28> k_fabric{
      {{0, 1, 4},   {0, 4, 2},   {0, 8, 1},   {1, 5, 1},   {1, 9, 1},   {1, 10, 1},  {2, 3, 4},
       {2, 6, 1},   {2, 9, 1},   {2, 10, 1},  {3, 7, 2},   {3, 11, 1},  {4, 5, 4},   {4, 6, 1},
       {5, 6, 1},   {5, 7, 1},   {6, 7, 4},   {8, 9, 4},   {8, 12, 2},  {9, 13, 1},  {10, 11, 4},
       {10, 14, 1}, {11, 15, 2}, {12, 13, 4}, {12, 14, 1}, {13, 14, 1}, {13, 15, 1}, {14, 15, 4}}};
  expect_parameters(spec, 1, "mi250:BOXES[:8]", 1);
  const NodeId boxes = number(spec, spec.parameters[0], "number of boxes", 1, k_most_boxes);
  NodeId gpus = 16;
  if (spec.parameters.size() == 2) {
    gpus = number(spec, spec.parameters[1], "number of GPUs per box", 1, 16);
    if (gpus != 8 && gpus != 16) refuse(spec, fmt::format("{} GPUs per box", gpus), "8 or 16");
  }
  const NodeId hosts = boxes * gpus;
  TopologyBuilder builder(spec.text, hosts, boxes > 1 ? 1 : 0);
  if (boxes > 1) builder.name_node(hosts, "infiniband");
  for (NodeId gpu = 0; gpu < hosts; ++gpu) builder.name_node(gpu, fmt::format("gpu{}.{}", gpu / gpus, gpu % gpus));
  for (NodeId box = 0; box < boxes; ++box) {
    for (const Fabric& fabric : k_fabric)
      if (fabric.a < gpus && fabric.b < gpus)
        two_way(builder, box * gpus + fabric.a, box * gpus + fabric.b, 50 * k_gigabyte * fabric.links);
    for (NodeId gpu = 0; boxes > 1 && gpu < gpus; ++gpu) two_way(builder, box * gpus + gpu, hosts, 16 * k_gigabyte);
  }
  return std::move(builder).build();
}

}  // namespace colltopo
