// The paths that a method chooses among: the set P of pMCF (Basu et al., 3.1.4) and of the integer program (5.2).
#pragma once

#include "colltopo/synthesis.h"

namespace colltopo::synthesis {

/// A pair gets at most so many shortest or bounded paths: their number grows exponentially on tori. Disjoint paths are
/// few: a maximal set, and where that is not a largest one, the paths of a largest one besides.
inline constexpr std::size_t k_most_candidates = 64;

struct CandidatePaths {
  Routing paths;                  // all of them, every pair's with equal weights
  std::int64_t capped_pairs = 0;  // have more than k_most_candidates

  /// For people; empty when nothing was left out.
  std::string remark() const;
};

/// By options.path_set and options.most_links, on options.threads. Throws Error naming hosts that cannot be reached.
CandidatePaths candidate_paths(const Topology& topology, const SynthesisOptions& options);

/// Why there are no candidates: a bound on the links of a path that leaves some pair without any. Empty if there are.
std::string candidate_refusal(const Topology& topology, const SynthesisOptions& options);

}  // namespace colltopo::synthesis
