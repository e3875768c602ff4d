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

void report_examined(const Examined& examined, const std::string& file, Session& session);

}  // namespace colltopo::cli
