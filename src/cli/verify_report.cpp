#include "cli/verify_report.h"

#include <fmt/format.h>

#include <iostream>

namespace colltopo::cli {

void report_examined(const Examined& examined, const std::string& file, Session& session) {
  const bool valid = examined.violations.empty();
  if (!valid) session.status = k_examined_is_wrong;
  nlohmann::ordered_json violations = nlohmann::ordered_json::array();
  for (const Violation& violation : examined.violations) violations.push_back(to_string(violation));
  if (session.json) {
    Report()
        .add("valid", valid)
        .add("name", examined.name)
        .add("collective", std::string(name(examined.shape.collective)))
        .add("ranks", examined.shape.ranks)
        .add("violations", violations)
        .add("properties", examined.properties)
        .print(session);
    return;
  }
  for (const auto& violation : violations) std::cout << file << ": " << violation.get<std::string>() << '\n';
  if (!valid) {
    std::cout << file << ": invalid: " << counted(violations.size(), "violation") << '\n';
    return;
  }
  std::cout << fmt::format("{}: valid: {} is {} on {}, free of deadlock", file, examined.name,
                           name(examined.shape.collective),
                           counted(static_cast<std::size_t>(examined.shape.ranks), "rank"))
            << examined.valid_text;
}

}  // namespace colltopo::cli
