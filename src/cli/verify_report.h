// What verify says of a schedule, whatever its form.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
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

/// Of a verdict, for people.
std::string properties_text(const Verdict& verdict, Collective collective);

void report_examined(const Examined& examined, const std::string& file, Session& session);

}  // namespace colltopo::cli
