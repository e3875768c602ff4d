// What a communicator says, and to whom.
#pragma once

#include <new>
#include <string>

#include "base/plain.h"
#include "colltopo/colltopo.h"
#include "colltopo/shape.h"

namespace colltopo {

class Voice {
 public:
  Voice(Rank rank, const colltopo_callbacks& callbacks) : callbacks_(callbacks), rank_(rank) {}

  void set_verbose(int level) { verbose_ = level; }
  /// One line from this rank. Level 0: a warning; 1: per communicator and collective; 2: per call.
  void say(int level, const std::string& line) const noexcept {
    if (callbacks_.say == nullptr || level > verbose_) return;
    if (is_plain(line)) return callbacks_.say(callbacks_.context, level, line.c_str());
    // Names of files, and what they say, reach terminals and logs of others.
    try {
      callbacks_.say(callbacks_.context, level, plain_text(line).c_str());
    } catch (const std::bad_alloc&) {
    }
  }
  /// The same for what all ranks know.
  void say_once(int level, const std::string& line) const noexcept {
    if (rank_ == 0) say(level, line);
  }
  /// Whether anybody would hear say_once(): lines are made for listeners alone.
  bool heard(int level) const noexcept { return rank_ == 0 && level <= verbose_; }
  /// What lines call the previous implementation.
  const char* previous() const noexcept {
    return callbacks_.previous == nullptr ? "the previous implementation" : callbacks_.previous;
  }

 private:
  const colltopo_callbacks& callbacks_;
  Rank rank_;
  int verbose_ = 0;
};

}  // namespace colltopo
