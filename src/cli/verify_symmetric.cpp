#include "cli/verify_symmetric.h"

#include <fmt/format.h>

#include "cli/verify_report.h"
#include "colltopo/verify_symmetric.h"

namespace colltopo::cli {

namespace {

/// What the file says of its proof and a symmetric schedule never has.
void check_claims(const SymmetricSchedule& schedule, std::vector<Violation>& violations) {
  if (!schedule.proof || *schedule.proof == proof_of_symmetric()) return;
  violations.push_back({-1, -1, "its proof claims other than stepped and independent, which is not so"});
}

}  // namespace

void verify_symmetric_file(const SymmetricSchedule& schedule, const std::string& file, const std::string& on,
                           bool lossy, Session& session) {
  SymmetricVerdict verdict;
  std::string on_text;
  nlohmann::ordered_json properties = {{"in_place", false},
                                       {"keeps_rank_order", false},
                                       {"same_on_all_ranks", false},
                                       {"stepped", true},
                                       {"symmetries", schedule.symmetry.elements()},
                                       {"orbits", schedule.symmetry.orbits()}};
  if (on.empty()) {
    verdict.violations = verify_symmetric(schedule);
  } else {
    const Topology topology = topology_of_schedule(schedule, on);
    verdict = verify_symmetric_on(schedule, topology, lossy ? Fabric::lossy : Fabric::lossless);
    properties["routes"] = verdict.routes;
    properties["layers"] = verdict.layers;
    properties["messages_on_a_link_per_step"] = verdict.most_messages_on_a_link;
    properties["busiest_link"] = verdict.busiest_link;
    properties["busiest_link_load"] = verdict.busiest_link_load;
    properties["mean_link_load"] = verdict.mean_link_load;
    if (verdict.violations.empty())
      on_text = fmt::format(
          "on {}: {} in {}, moved by {} automorphisms; at most {} on a link\n"
          "loads: {:.6g} times the bytes of a call over the busiest link, {}, {:.6g} on average{}\n",
          topology.name(), counted(verdict.routes, "route"), counted(verdict.layers, "layer"),
          schedule.symmetry.elements(), counted(verdict.most_messages_on_a_link, "message"), verdict.busiest_link_load,
          topology.link_name(verdict.busiest_link), verdict.mean_link_load,
          schedule.bound.empty() ? "" : "; the file says: " + schedule.bound);
  }
  if (verdict.violations.empty()) check_claims(schedule, verdict.violations);
  const std::string text =
      fmt::format("; proved for {} of {}\nin place: no, may run step by step: yes\n{}",
                  counted(static_cast<std::size_t>(schedule.symmetry.orbits()), "orbit"),
                  counted(static_cast<std::size_t>(schedule.symmetry.elements()), "rank"), on_text);
  report_examined({schedule.name, schedule.shape, std::move(verdict.violations), std::move(properties), text}, file,
                  session);
}

}  // namespace colltopo::cli
