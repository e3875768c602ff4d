#include "cli/verify_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <numeric>

namespace colltopo::cli {

void check_claims(const std::optional<Proof>& claimed, Verdict& verdict) {
  if (!claimed || !verdict.valid()) return;
  const auto check = [&](bool claims, bool is_so, std::string_view word) {
    if (claims && !is_so)
      verdict.violations.push_back({-1, -1, fmt::format("its proof claims {}, which is not so", word)});
  };
  check(claimed->in_place, verdict.in_place, "in-place");
  check(claimed->keeps_rank_order, verdict.keeps_rank_order, "rank-order");
  check(claimed->same_on_all_ranks, verdict.same_on_all_ranks, "equal-bits");
  check(claimed->stepped, verdict.stepped, "stepped");
  check(claimed->independent, verdict.independent, "independent");
}

nlohmann::ordered_json properties_of(const Verdict& verdict) {
  return {{"in_place", verdict.in_place},
          {"keeps_rank_order", verdict.keeps_rank_order},
          {"same_on_all_ranks", verdict.same_on_all_ranks},
          {"stepped", verdict.stepped}};
}

std::string network_text(const OnNetwork& on, const Topology& topology, const std::string& bound,
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
    properties["layers"] = on.layers;
    text += fmt::format("routes: {} in {}\n", on.routes, counted(on.layers, "layer"));
  }
  return text + fmt::format("loads: {:.6g} times the bytes of a call over the busiest link, {}, {:.6g} on average{}\n",
                            busiest, topology.link_name(on.cost.busiest_link), mean,
                            bound.empty() ? "" : "; the file says: " + bound);
}

std::string properties_text(const Verdict& verdict, Collective collective) {
  std::string text = fmt::format("in place: {}", verdict.in_place ? "yes" : "no");
  if (reduces(collective))
    text += fmt::format(", keeps rank order: {}, same on all ranks: {}", verdict.keeps_rank_order ? "yes" : "no",
                        verdict.same_on_all_ranks ? "yes" : "no");
  return text + fmt::format(", may run step by step: {}", verdict.stepped ? "yes" : "no");
}

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
