// Which algorithm serves which call: every candidate is priced by a model, the cheapest wins.
//
// The price comes from the programs themselves. A few ranks' programs are read once per algorithm into a profile (per
// step: messages, and chunks moved within the node, over the network and through reductions); with bytes and the
// machine's parameters a profile gives seconds. Everything here depends only on what is equal on all ranks.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "colltopo/algorithms.h"

namespace colltopo {

/// The machine, per locality class. Defaults are those of a current node with one 100 Gbit/s interface.
struct Machine {
  double latency_node = 0.4e-6;     // s, one message between ranks of a node
  double latency_network = 2.0e-6;  // s, one message between nodes
  double overhead = 0.15e-6;        // s, each further message of a rank in the same step
  double bandwidth_node = 8e9;      // bytes/s, one rank to another of its node
  double bandwidth_network = 12e9;  // bytes/s, of a node's interface (of each link of a torus)
  double bandwidth_copy = 10e9;     // bytes/s, local copies, packing
  double bandwidth_reduce = 6e9;    // bytes/s, of operand, local reductions
};

/// Where the ranks are.
struct Placement {
  std::vector<int> node_of;     // [rank]
  std::vector<int> dimensions;  // sides of the torus that the nodes form (row-major by rank); empty: a crossbar

  int nodes() const;
  int ranks_per_node() const;  // of the fullest node
};

/// What a call asks for, as far as it may decide: equal on all ranks.
struct Request {
  Collective collective = Collective::alltoall;
  Rank root = 0;
  std::size_t bytes = 0;         // per shard (alltoall, allgather, reduce_scatter: the largest), or of the vector
  bool commutative = true;       // reductions
  bool associative_bits = true;  // reductions: any order gives the same bits
};

/// An algorithm with its options, and what it would cost.
struct Candidate {
  const Algorithm* algorithm = nullptr;  // null: the previous component
  AlgorithmOptions options;
  std::string name;  // "tra radix=4", "fallback"
  double seconds = 0;
  std::string excluded;  // why it may not serve the call; empty: it may
};

/// Why a schedule with these properties may not serve the request; empty: it may.
std::string unfit_for(const Properties& properties, const Request& request);

class Chooser {
 public:
  Chooser(Rank ranks, Placement placement, Machine machine, AlgorithmOptions options);
  ~Chooser();

  /// Candidates by predicted seconds, excluded ones last. The previous component is among them, priced as the algorithm
  /// that Open MPI's tuned component would take.
  std::vector<Candidate> candidates(const Request& request);
  /// The first of candidates(), unless it is less than 5% ahead of the previous component.
  Candidate choose(const Request& request);
  /// A named algorithm for this request: its options made complete, its price, and why it is excluded if it is.
  Candidate price(const Algorithm& algorithm, const AlgorithmOptions& options, const Request& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace colltopo
