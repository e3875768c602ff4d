#include "cli/progress.h"

#include <unistd.h>

#include <iostream>

namespace colltopo::cli {

Progress::Progress(const Session& session) : shown_(!session.json && isatty(STDERR_FILENO) != 0) {}

void Progress::show(const std::string& line) {
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  dirty_ = true;
  std::cerr << "\r\033[K" << line << std::flush;
}

void Progress::clear() {
  if (dirty_) std::cerr << "\r\033[K" << std::flush;
  dirty_ = false;
}

}  // namespace colltopo::cli
