// The closed-form algorithms, in one table: what each is called, what it needs, how to make one rank's program, what it
// costs. Adding an algorithm is one file and one line here.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/schedule.h"

namespace colltopo {

/// What an algorithm may depend on besides the shape. Zero or empty: the algorithm's own default.
struct AlgorithmOptions {
  int radix = 0;                     // tra; bruck
  int intra_radix = 0;               // tra2
  int inter_radix = 0;               // tra2
  std::vector<int> group_of = {};    // tra2: [rank] group number; empty: groups of `group` consecutive ranks
  int group = 0;                     // tra2: ranks per group when group_of is empty
  std::vector<int> dimensions = {};  // sides of the torus (swing and the like), row-major ranks; empty: a ring
  bool multiport = true;             // swing, bucket, mirrored: 2D concurrent collectives, one per port
};

/// What the verifier finds for every schedule of an algorithm and shape (colltopo/verify.h); tests hold it to that.
struct Properties {
  bool in_place = false;
  bool keeps_rank_order = false;
  bool same_on_all_ranks = false;

  friend bool operator==(const Properties&, const Properties&) = default;
};

/// One row of the table.
struct Algorithm {
  std::string_view name;
  std::string_view about;               // one line, with the paper
  std::vector<Collective> collectives;  // that it can do
  /// Empty when it can serve the shape; otherwise why not ("radix 1 is not in 2..8").
  std::function<std::string(const Shape&, const AlgorithmOptions&)> refusal;
  /// Chunks per shard that its programs use (Shape::chunks is ignored).
  std::function<Chunk(const Shape&, const AlgorithmOptions&)> chunks;
  /// The program of one rank, in time and memory proportional to itself; shape.chunks must be chunks(shape, options).
  std::function<Program(const Shape&, Rank, const AlgorithmOptions&)> program;
  /// Options as in the name of a file or a report: "radix=4".
  std::function<std::string(const Shape&, const AlgorithmOptions&)> describe;
  /// For reductions: decides which calls it may serve. in_place: whether the input needs no copy under MPI_IN_PLACE.
  std::function<Properties(const Shape&, const AlgorithmOptions&)> properties = {};
};

std::span<const Algorithm> algorithms();
const Algorithm* algorithm_named(std::string_view name);
bool serves(const Algorithm& algorithm, Collective collective);

/// The whole schedule; throws Error with the refusal.
Schedule generate(const Algorithm& algorithm, Shape shape, const AlgorithmOptions& options);

}  // namespace colltopo
