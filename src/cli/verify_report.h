// What verify says of a schedule, whatever its form.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "colltopo/cost.h"
#include "colltopo/verify.h"

namespace colltopo::cli {

struct Examined {
  std::string name;
  Shape shape;
  std::vector<Violation> violations;  // none: it is valid
  nlohmann::ordered_json properties;
  std::string valid_text;  // for people, behind "FILE: valid: NAME is COLLECTIVE on N ranks, free of deadlock"
};

/// What the file says of its proof and this one does not find is one more violation: a job would believe it.
void check_claims(const std::optional<Proof>& claimed, Verdict& verdict);

nlohmann::ordered_json properties_of(const Verdict& verdict);

/// A schedule that fits a network.
struct OnNetwork {
  const Cost& cost;
  std::span<const double> loads;  // [link]
  std::size_t routes = 0, layers = 0;
};
/// What links carry, next to what the file claims (`bound`): for people, and added to `properties`.
std::string network_text(const OnNetwork& on, const Topology& topology, const std::string& bound,
                         nlohmann::ordered_json& properties);

/// Of a verdict, for people.
std::string properties_text(const Verdict& verdict, Collective collective);

void report_examined(const Examined& examined, const std::string& file, Session& session);

}  // namespace colltopo::cli
