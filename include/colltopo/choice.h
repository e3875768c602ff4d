// Which algorithm serves which call: every variant of every row that does the collective is priced by a model, the
// cheapest wins.
//
// The price comes from the programs themselves. They are read once per variant into a profile (per step: messages, and
// chunks moved within the node, over the busiest link and through reductions); with bytes and the machine's parameters
// a profile gives seconds. All ranks' programs where the links of the network are known, otherwise those of a few.
// Everything here depends only on what is equal on all ranks. A process has one chooser for all communicators whose
// ranks lie alike.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/algorithms.h"

namespace colltopo {

/// The machine, per locality class. Defaults are those of a current node with one 100 Gbit/s interface.
struct Machine {
  double latency_node = 0.4e-6;     // s, one message between ranks of a node
  double latency_network = 2.0e-6;  // s, one message between nodes that are near
  double latency_hop = 1.0e-6;      // s, each link more that a message takes
  double overhead = 0.15e-6;        // s, each further message of a rank in the same step
  double bandwidth_node = 8e9;      // bytes/s, one rank to another of its node
  double bandwidth_network = 12e9;  // bytes/s, of a node's interface (of each link of a torus)
  double bandwidth_copy = 10e9;     // bytes/s, local copies, packing
  double bandwidth_reduce = 6e9;    // bytes/s, of operand, local reductions
  double eager_bytes = 4096;        // messages up to this are sent before their receive is known
  int window = 64;                  // messages that the executor has under way per rank, each way

  friend bool operator==(const Machine&, const Machine&) = default;
};

class NodeNetwork;  // colltopo/node_network.h

/// Where the ranks are.
struct Placement {
  std::vector<int> node_of;     // [rank]
  std::vector<int> dimensions;  // sides of the grid that the nodes form (row-major by rank); empty: none
  /// The links between nodes. Null: unknown, or too many; prices are then those of the torus of the dimensions, or of a
  /// crossbar.
  std::shared_ptr<const NodeNetwork> network = nullptr;

  int nodes() const;
  int ranks_per_node() const;  // of the fullest node

  /// Networks by what they are.
  friend bool operator==(const Placement& a, const Placement& b);
};

/// What a call asks for, as far as it may decide: equal on all ranks.
struct Request {
  Collective collective = Collective::alltoall;
  Rank root = 0;
  std::size_t bytes = 0;         // per shard (alltoall, allgather, reduce_scatter: the largest), or of the vector
  bool commutative = true;       // reductions
  bool associative_bits = true;  // reductions: any order gives the same bits
  bool fallback_allowed = true;  // false: the previous component is known to be wrong for this call
  bool in_place = false;         // on all ranks: of a rooted collective only the root can be
  bool tried = true;             // a trial corrects the choice; where none does, a candidate must be further ahead
  /// Name of the component that would serve the call: "tuned", "han", "basic". Of others nothing is known but times
  /// that were measured; without, what is neither forced nor filed is theirs.
  std::string_view previous = "tuned";
};

/// An algorithm with its options, and what it would cost.
struct Candidate {
  const Algorithm* algorithm = nullptr;  // null: the previous component
  AlgorithmOptions options;
  std::string name;  // "tra radix=4", "fallback"
  double seconds = 0;
  std::string excluded;  // why it may not serve the call; empty: it may
};

inline constexpr std::size_t k_any_bytes = std::numeric_limits<std::size_t>::max();

/// A decision, and the sizes for which it is kept: `from` up to, but not including, `to`.
struct Choice : Candidate {
  std::size_t from = 0, to = k_any_bytes;
};

/// Sizes that are decided alike, four to an octave, and priced as the least of them: programs have powers of two.
struct SizeClass {
  std::size_t from = 0, to = 1;
};
SizeClass size_class_of(std::size_t bytes);

/// Why a schedule with these properties may not serve the request; empty: it may.
std::string unfit_for(const Properties& properties, const Request& request);

/// What settings fix for one collective ("alltoall_radix"), on top of what holds for all.
using CollectiveValues = std::array<OptionValues, k_collectives>;

/// What calls of one algorithm took on the ranks of a chooser, with the variant that is cheapest at each size or one of
/// its variants; or calls of a previous component.
struct MeasuredRow {
  struct Time {
    std::size_t bytes = 0;  // as in Request
    double seconds = 0;
    double error = 1;  // standard error of that, as a part of it; 1: not known

    friend bool operator==(const Time&, const Time&) = default;
  };
  Collective collective = Collective::alltoall;
  const Algorithm* algorithm = nullptr;  // null: the previous component
  std::vector<Time> times;               // by bytes, ascending
  std::string previous = {};             // its name
  OptionValues values = {};              // of the variant; none: the cheapest
};
/// Null: nothing was measured. Choosers are shared by those who have the same one.
using MeasuredRows = std::shared_ptr<const std::vector<MeasuredRow>>;

/// Thread-safe.
class Chooser {
 public:
  /// `options`: groups for rows that know any (none: the ranks of a node), and values that hold for all collectives.
  /// `measured`: what prices are fitted to.
  Chooser(Rank ranks, Placement placement, Machine machine, AlgorithmOptions options, CollectiveValues values = {},
          MeasuredRows measured = nullptr);
  ~Chooser();
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;

  /// Made once, for all who share the chooser.
  const Placement& placement() const;
  int nodes() const;
  int ranks_per_node() const;  // of the fullest node
  /// What the rows are told: with the node's ranks as groups, and dimensions where the ranks form the torus themselves.
  const AlgorithmOptions& options() const;

  /// Candidates that are worth a price (a row's variants that are clearly behind another are not), by predicted seconds
  /// at the least of the request's class of sizes, excluded ones last. The previous component is among them, unless it
  /// is not allowed or not known, priced as what it is known to do.
  std::vector<Candidate> candidates(const Request& request);
  /// The first of candidates(), unless it is less than lead_over_previous() ahead of the previous component. The answer
  /// lives as long as the chooser; a class that is known costs a look-up.
  const Choice& choose(const Request& request);
  /// The part of the previous component's time that a candidate must stay below: a model is wrong somewhere, less where
  /// both have been measured.
  double lead_over_previous(const Request& request, const Algorithm* candidate);
  /// Whether prices of this collective, the previous component's too, are fitted to what calls took on such ranks; of
  /// calls that are smaller than all that were measured they are not.
  bool has_measured(const Request& request);
  /// The cheapest candidate of each row of our own, by price, `most` of them; none that is excluded.
  std::vector<Candidate> leading(const Request& request, std::size_t most);
  /// Other variants of a leading one's row, by price, none above `seconds`; none that is excluded.
  std::vector<Candidate> siblings(const Request& request, const Candidate& leading, double seconds);
  /// A named algorithm for this request: the cheapest of its variants with these options, its price, and why it is
  /// excluded if it is. One without variants is decided for all sizes, priced for this one.
  const Choice& price(const Algorithm& algorithm, const AlgorithmOptions& options, const Request& request);
  struct Measured {
    double seconds = 0;
    double error = 1;  // as in MeasuredRow::Time, the larger one of the sizes around
  };
  /// Seconds of price() and, without an algorithm, of the previous component, where has_measured(). Nothing: it has
  /// not, or it is excluded or not allowed.
  std::optional<Measured> measured(const Algorithm* algorithm, const AlgorithmOptions& options, const Request& request);
  /// A line for each variant so far whose programs cannot be made: it is a candidate no longer.
  std::vector<std::string> unmade();
  /// Half of all prices are off by less, as far as sizes that are left out of a fit say: 0.2 is 20%. Nothing: none do.
  /// Prices all that was measured, which may take as long as a first choice for each collective.
  std::optional<double> expected_error();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The process's chooser for these facts. A few that nobody uses are kept for the next communicator.
std::shared_ptr<Chooser> shared_chooser(Rank ranks, const Placement& placement, const Machine& machine,
                                        const AlgorithmOptions& options, const CollectiveValues& values = {},
                                        const MeasuredRows& measured = nullptr);

}  // namespace colltopo
