#include "cli/steps_report.h"

namespace colltopo::cli {

nlohmann::ordered_json steps_json(const Cost& cost) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const StepCost& step : cost.steps)
    steps.push_back({{"step", step.step},
                     {"messages", step.messages},
                     {"most_messages_of_a_rank", step.most_messages_of_a_rank},
                     {"most_messages_on_a_link", step.most_messages_on_a_link},
                     {"longest_latency_s", step.longest_latency_s},
                     {"busiest_link", step.busiest_link},
                     {"busiest_link_s_per_byte", step.busiest_link_s_per_byte}});
  return steps;
}

}  // namespace colltopo::cli
