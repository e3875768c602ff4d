// colltopo verify for binary files, which are read a section at a time.
#pragma once

#include <string>

#include "cli/command.h"

namespace colltopo::cli {

/// `on`: a topology, or empty.
void verify_sections_file(const std::string& path, const std::string& on, bool lossy, Session& session);

}  // namespace colltopo::cli
