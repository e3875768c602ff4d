#include "cli/verify_sections.h"

#include <fmt/format.h>

#include <numeric>

#include "cli/verify_report.h"
#include "colltopo/text.h"
#include "colltopo/verify_sections.h"

namespace colltopo::cli {

namespace {

std::string loads_text(const SectionsOn& on, const Schedule& facts, const Topology& topology,
                       nlohmann::ordered_json& properties) {
  std::size_t most = 0;
  for (const StepCost& step : on.cost.steps) most = std::max(most, step.most_messages_on_a_link);
  properties["neighbours_only"] = on.cost.neighbours_only;
  properties["messages_on_a_link_per_step"] = most;
  std::string text =
      fmt::format("on {}: {}; at most {} on a link in a step\n", topology.name(),
                  on.cost.neighbours_only ? "all messages between neighbours" : "messages pass other hosts",
                  counted(most, "message"));
  if (on.cost.busiest_link < 0) return text;
  const double busiest = on.loads[static_cast<std::size_t>(on.cost.busiest_link)];
  const double mean = std::accumulate(on.loads.begin(), on.loads.end(), 0.0) / static_cast<double>(on.loads.size());
  properties["busiest_link"] = on.cost.busiest_link;
  properties["busiest_link_load"] = busiest;
  properties["mean_link_load"] = mean;
  if (on.routes > 0) {
    properties["routes"] = on.routes;
    properties["layers"] = on.layers.size();
    text += fmt::format("routes: {} in {}\n", on.routes, counted(on.layers.size(), "layer"));
  }
  return text + fmt::format("loads: {:.6g} times the bytes of a call over the busiest link, {}, {:.6g} on average{}\n",
                            busiest, topology.link_name(on.cost.busiest_link), mean,
                            facts.bound.empty() ? "" : "; the file says: " + facts.bound);
}

}  // namespace

void verify_sections_file(const std::string& path, const std::string& on, bool lossy, Session& session) {
  ScheduleFile file(path);
  const SectionedSchedule schedule = *file.sections();
  const Schedule& facts = schedule.facts;
  Verdict verdict = verify(schedule);
  check_claims(facts.proof, verdict);
  nlohmann::ordered_json properties = {{"in_place", verdict.in_place},
                                       {"keeps_rank_order", verdict.keeps_rank_order},
                                       {"same_on_all_ranks", verdict.same_on_all_ranks},
                                       {"stepped", verdict.stepped}};
  std::string on_text;
  if (!on.empty()) {
    const Topology topology = topology_of_schedule(facts, on);
    const SectionsOn found = examine_on(schedule, topology, lossy ? Fabric::lossy : Fabric::lossless);
    verdict.violations.insert(verdict.violations.end(), found.violations.begin(), found.violations.end());
    if (found.violations.empty()) on_text = loads_text(found, facts, topology, properties);
  }
  const std::string text = '\n' + properties_text(verdict, facts.shape.collective) + '\n' + on_text;
  report_examined({facts.name, facts.shape, std::move(verdict.violations), std::move(properties), text}, path, session);
}

}  // namespace colltopo::cli
