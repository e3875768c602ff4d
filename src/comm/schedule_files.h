// Schedule files that a communicator runs: loaded by all ranks or by none.
#pragma once

#include <span>
#include <string>
#include <unordered_map>

#include "colltopo/algorithms.h"
#include "colltopo/colltopo.h"
#include "colltopo/segments.h"

namespace colltopo {

/// Whether all ranks can do something. Each says what it found; the lowest rank with a fault is named to everybody.
class Agreement {
 public:
  Agreement(Rank rank, Rank ranks, const colltopo_callbacks& callbacks)
      : rank_(rank), ranks_(ranks), callbacks_(callbacks) {}

  /// The smallest value of all ranks; the caller's own where ranks cannot be asked.
  long long least(long long value) const;
  long long largest(long long value) const { return -least(-value); }
  /// True when no rank has a fault and all have the same checksum (not negative). Otherwise *fault is what this rank
  /// should say: empty on all ranks but one.
  bool all_good(std::string* fault, long long checksum) const;
  /// Rank 0's text, on every rank.
  std::string text_of_rank_0(const std::string& text) const;

 private:
  Rank rank_, ranks_;
  colltopo_callbacks callbacks_;
};

/// One rank's program of a file, and what the whole schedule's proof found.
struct LoadedProgram {
  Program program;
  Properties properties;
  bool stepped = false;  // proved to run step by step
  StepPattern pattern;   // of all ranks
};

class ScheduleFiles {
 public:
  struct Wanted {
    Collective collective = Collective::alltoall;
    Rank rank = 0, ranks = 1;
    std::span<const Rank> rank_at = {};  // [place of the schedule] its rank; empty: place r is rank r
    bool stepped = false;                // it is to run step by step if its proof allows that
  };
  /// Collective over the communicator unless the file is loaded already. Null when some rank cannot use the file;
  /// *fault is then as Agreement's. Where it depends on all programs what a file may do (the operations that a
  /// reduction may serve, running step by step), rank 0 proves the whole schedule; other files were proved when they
  /// were made, and their seals say that they are the same.
  const LoadedProgram* load(const std::string& path, const Wanted& wanted, const Agreement& agreement,
                            std::string* fault);

 private:
  std::unordered_map<std::string, LoadedProgram> programs_;
};

}  // namespace colltopo
