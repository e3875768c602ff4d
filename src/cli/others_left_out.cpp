// In place of the commands that a demonstration does without: their names, and how to get them.
#include <fmt/format.h>

#include "cli/command.h"
#include "colltopo/error.h"

namespace colltopo::cli {

void add_others(CLI::App& app, Session& session) {
  for (const std::string name : {"cost", "explain", "tune", "convert", "prepare", "simulate", "rules", "doctor"}) {
    CLI::App* command = subcommand(app, session, name, "left out of this build");
    command->allow_extras();
    command->callback([name] {
      throw Error(
          fmt::format("{}: left out of this build, which scripts/demo made in a hurry; `cmake --preset release && "
                      "cmake --build build/release` builds all commands",
                      name));
    });
  }
}

}  // namespace colltopo::cli
