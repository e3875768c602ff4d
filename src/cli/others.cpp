// The commands that a demonstration does without.
#include "cli/command.h"

namespace colltopo::cli {

void add_others(CLI::App& app, Session& session) {
  add_cost(app, session);
  add_explain(app, session);
  add_tune(app, session);
  add_convert(app, session);
  add_prepare(app, session);
  add_simulate(app, session);
  add_rules(app, session);
  add_doctor(app, session);
}

}  // namespace colltopo::cli
