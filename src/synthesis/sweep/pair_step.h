// Moving flow of one pair from its longer paths to its shortest by Newton steps on the potential.
#pragma once

#include <span>
#include <vector>

#include "synthesis/sweep/flow_instance.h"
#include "synthesis/sweep/link_potential.h"

namespace colltopo::synthesis {

/// A path of the pair that is being looked at.
struct Candidate {
  std::span<const LinkId> links;
  double weight = 0;
  double length = 0;
};

/// One per thread.
class PairStep {
 public:
  explicit PairStep(const FlowInstance& instance);

  double length(std::span<const LinkId> links, const LinkPotential& potential) const;
  /// Adds this load to the links.
  void put(std::span<const LinkId> links, double load, LinkPotential& potential) const;
  /// Lengths of the candidates must be set; their weights change, their sum does not. Returns the index of the
  /// shortest.
  std::size_t balance(std::span<Candidate> candidates, double demand, LinkPotential& potential);

 private:
  double move(const Candidate& from, const Candidate& to, double demand, LinkPotential& potential);
  void count(std::span<const LinkId> links, int times);

  const std::vector<std::int32_t>& link_class_;
  std::vector<int> difference_;        // [class] how many more links of it the target path has; all 0 between calls
  std::vector<std::int32_t> touched_;  // classes of either path
  std::vector<char> is_touched_;
};

}  // namespace colltopo::synthesis
