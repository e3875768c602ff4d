// Schedule files that a communicator runs: loaded by all ranks or by none.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "colltopo/algorithms.h"
#include "colltopo/segments.h"
#include "comm/agreement.h"

namespace colltopo {

/// One rank's program of a file, and what is known of the whole schedule.
struct LoadedProgram {
  std::shared_ptr<const Program> program;
  Proof proof;
  bool proved = false;  // somebody has found the proof; otherwise nothing in it is true
  bool made = false;    // the programs are an algorithm's of the table
  StepPattern pattern;  // of all ranks
  std::string path;
  bool by_host = false;  // places of the schedule are not ranks
};

class ScheduleFiles {
 public:
  struct Wanted {
    Collective collective = Collective::alltoall;
    Rank rank = 0, ranks = 1;
    std::span<const Rank> rank_at = {};  // [place of the schedule] its rank; empty: place r is rank r
    bool prove = true;                   // equal on all ranks
  };
  /// Collective over the communicator unless the file is loaded already. Null when some rank cannot use the file;
  /// *fault is then as Agreement's; of what is wrong with a file each process says so once. A rank opens the file once
  /// and reads its own section; what that is processes remember, so the next communicator reads no more than the
  /// header.
  std::shared_ptr<const LoadedProgram> load(const std::string& path, const Wanted& wanted, const Agreement& agreement,
                                            std::string* fault);

 private:
  std::map<std::string, std::shared_ptr<const LoadedProgram>> programs_;
};

}  // namespace colltopo
