// A line on the terminal that is overwritten, for work that takes long enough to wonder about.
#pragma once

#include <chrono>
#include <string>

#include "cli/command.h"

namespace colltopo::cli {

class Progress {
 public:
  /// Silent with --json and where standard error is no terminal.
  explicit Progress(const Session& session);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// At most ten times a second.
  void show(const std::string& line);
  void clear();

 private:
  bool shown_;
  bool dirty_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace colltopo::cli
