#include "cli/verify_sections.h"

#include "cli/verify_report.h"
#include "colltopo/text.h"
#include "colltopo/verify_sections.h"

namespace colltopo::cli {

void verify_sections_file(const std::string& path, const std::string& on, bool lossy, Session& session) {
  ScheduleFile file(path);
  const SectionedSchedule schedule = *file.sections();
  const Schedule& facts = schedule.facts;
  Verdict verdict = verify(schedule);
  check_claims(facts.proof, verdict);
  nlohmann::ordered_json properties = properties_of(verdict);
  std::string on_text;
  if (!on.empty()) {
    const Topology topology = topology_of_schedule(facts, on);
    const SectionsOn found = examine_on(schedule, topology, lossy ? Fabric::lossy : Fabric::lossless);
    verdict.violations.insert(verdict.violations.end(), found.violations.begin(), found.violations.end());
    if (found.violations.empty())
      on_text =
          network_text({found.cost, found.loads, found.routes, found.layers.size()}, topology, facts.bound, properties);
  }
  const std::string text = '\n' + properties_text(verdict, facts.shape.collective) + '\n' + on_text;
  report_examined({facts.name, facts.shape, std::move(verdict.violations), std::move(properties), text}, path, session);
}

}  // namespace colltopo::cli
