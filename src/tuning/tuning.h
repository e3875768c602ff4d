// What was measured, as rules for the libraries that would serve otherwise: Open MPI's tuned component, in the classic
// format (4.1 and later) and in JSON (6.0), and UCC. docs/rules.md says how to measure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/shape.h"

namespace colltopo::tuning {

enum class Dialect : std::uint8_t { tuned, tuned_json, ucc };
std::optional<Dialect> dialect_named(std::string_view name);
std::string_view name(Dialect dialect);

/// An algorithm took so long. `algorithm`: as our table calls it ("tra radix=2"), or "tuned:NAME" and "ucc:NAME" as
/// those do.
struct Measured {
  Collective collective = Collective::alltoall;
  Rank ranks = 0;
  std::size_t bytes = 0;  // per shard, or of the vector
  std::string algorithm;
  double seconds = 0;
};

/// A file of colltopo-bench --json, or of colltopo explain --json (whose prices are predictions). `native`: the
/// algorithm of `dialect` that the rows "native" ran, empty: they are left out. Throws Error naming file and place.
std::vector<Measured> measured_in(const std::string& text, const std::string& name_for_errors,
                                  const std::string& native, Dialect dialect);

/// Communicators and sizes, both ends included, as the other library counts bytes: of all shards together, or of the
/// vector.
struct Rule {
  Collective collective = Collective::alltoall;
  Rank least_ranks = 0, most_ranks = 0;
  std::size_t least_bytes = 0, most_bytes = 0;
  std::string algorithm;  // the other library's name

  friend bool operator==(const Rule&, const Rule&) = default;
};

/// The fastest of what the library has, for each number of ranks and each size measured; between two sizes their
/// geometric mean parts them, and a number of ranks counts up to the next measured. Sorted.
std::vector<Rule> rules_from(const std::vector<Measured>& measured, Dialect dialect);

std::string written(const std::vector<Rule>& rules, Dialect dialect);
/// What written() wrote; the dialect is told by the text. Throws Error naming file and line.
struct ReadRules {
  Dialect dialect = Dialect::tuned;
  std::vector<Rule> rules;
};
ReadRules read_rules(const std::string& text, const std::string& name_for_errors);

/// The names that a library has for a collective's algorithms, for messages.
std::string algorithms_of(Dialect dialect, Collective collective);

}  // namespace colltopo::tuning
