// colltopo verify of a schedule that repeats under symmetries.
#pragma once

#include <string>

#include "cli/command.h"

namespace colltopo::cli {

/// `on`: the topology that it must fit; empty: only that it is its collective.
void verify_symmetric_file(const SymmetricSchedule& schedule, const std::string& file, const std::string& on,
                           bool lossy, Session& session);

}  // namespace colltopo::cli
