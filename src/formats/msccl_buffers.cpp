// Freedom from deadlock of thread blocks whose sends wait for their receives.
#include <algorithm>
#include <map>
#include <tuple>

#include "formats/msccl_blocks.h"

namespace colltopo::msccl {

namespace {

// Nodes are the beginning and the end of every step: 2 * step and 2 * step + 1.
using Node = std::uint32_t;

struct Graph {
  std::vector<std::vector<Node>> after;
  std::vector<std::uint32_t> waits;

  void edge(Node before, Node later) {
    after[before].push_back(later);
    ++waits[later];
  }
  bool has_cycle() {
    std::vector<Node> ready;
    for (Node node = 0; node < waits.size(); ++node)
      if (waits[node] == 0) ready.push_back(node);
    std::size_t done = 0;
    while (!ready.empty()) {
      const Node node = ready.back();
      ready.pop_back();
      ++done;
      for (const Node later : after[node])
        if (--waits[later] == 0) ready.push_back(later);
    }
    return done < waits.size();
  }
};

}  // namespace

bool needs_buffers(const Algorithm& algorithm) {
  std::vector<std::vector<Node>> first;  // [rank][thread block] step
  Node steps = 0;
  for (const Gpu& gpu : algorithm.gpus) {
    first.emplace_back();
    for (const ThreadBlock& block : gpu.blocks) {
      first.back().push_back(steps);
      steps += static_cast<Node>(block.steps.size());
    }
  }
  Graph graph{std::vector<std::vector<Node>>(2 * std::size_t{steps}),
              std::vector<std::uint32_t>(2 * std::size_t{steps}, 0)};
  std::map<std::tuple<Rank, Rank, Lane>, std::pair<std::vector<Node>, std::vector<Node>>> connections;
  Rank rank = 0;
  for (const Gpu& gpu : algorithm.gpus) {
    const std::vector<Node>& first_of_block = first[static_cast<std::size_t>(rank)];
    for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
      const ThreadBlock& block = gpu.blocks[b];
      for (std::size_t i = 0; i < block.steps.size(); ++i) {
        const Node step = first_of_block[b] + static_cast<Node>(i);
        graph.edge(2 * step, 2 * step + 1);
        if (i > 0) graph.edge(2 * step - 1, 2 * step);
        const Instruction& instruction = block.steps[i];
        if (instruction.awaited_block >= 0)
          graph.edge(2 * (first_of_block[static_cast<std::size_t>(instruction.awaited_block)] +
                          static_cast<Node>(instruction.awaited_step)) +
                         1,
                     2 * step);
        if (sends(instruction.type)) connections[{rank, block.send, block.channel}].first.push_back(step);
        if (receives(instruction.type)) connections[{block.recv, rank, block.channel}].second.push_back(step);
      }
    }
    ++rank;
  }
  for (const auto& [connection, ends] : connections) {
    for (std::size_t k = 0; k < std::min(ends.first.size(), ends.second.size()); ++k) {
      graph.edge(2 * ends.first[k], 2 * ends.second[k] + 1);
      graph.edge(2 * ends.second[k], 2 * ends.first[k] + 1);
    }
  }
  return graph.has_cycle();
}

}  // namespace colltopo::msccl
