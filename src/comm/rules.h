// A rules file: which algorithm serves which call, as data (docs/rules.md).
//
// The vocabulary is that of the JSON rules of Open MPI 6's tuned component, with `topology` added and algorithms by the
// names of our table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/forced.h"

namespace colltopo {

/// How the ranks of a communicator lie on nodes.
enum class Distribution : std::uint8_t { any, one_per_node, single_node };

struct Rule {
  Collective collective = Collective::alltoall;
  Rank least_ranks = 0, most_ranks = 0;
  Distribution distribution = Distribution::any;
  std::string topology;  // the setting, or a fingerprint; empty: any
  Lane lanes = 0;        // that the communicator must have at least
  std::size_t least_bytes = 0, most_bytes = 0;
  Forced choice;
  std::string text;               // what the choice was made of: the value of `alg`
  std::size_t segment_bytes = 0;  // 0: the setting's
  std::string place;              // "rules.json: collectives.alltoall[0].rules[1]"
};

/// What a rule is matched against.
struct RuleQuery {
  Collective collective = Collective::alltoall;
  Rank ranks = 0;
  bool one_per_node = false, single_node = false;
  std::string topology;          // the setting; empty: none
  std::size_t bytes = 0;         // as Request::bytes
  std::string fingerprint = {};  // of the ranks on the network; empty: not known
  Lane lanes = 0;                // endpoints of its own with routes of their own
};

class Rules {
 public:
  /// A schedule file that lies in the folder of the rules may be named without it. Throws Error: "FILE: place in it:
  /// fact, expectation".
  static Rules read(const std::string& path);

  /// The first rule that fits; null: none.
  const Rule* match(const RuleQuery& query) const;
  /// Whether the rule is for the communicator and collective of the query, whatever its bytes.
  static bool fits(const Rule& rule, const RuleQuery& query);
  const std::vector<Rule>& all() const { return rules_; }
  /// Of the file's text, for comparing ranks; not negative.
  long long checksum() const { return checksum_; }

 private:
  std::vector<Rule> rules_;
  long long checksum_ = 0;
};

}  // namespace colltopo
