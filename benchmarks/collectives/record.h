// A series of what calls took, for colltopo-replay: contenders in turns of calls, in one job.
#pragma once

#include <mpi.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace colltopo::bench {

struct SeriesRow {
  std::string name;
  std::function<void()> call;
};

/// Collective: at least `calls` of each. Rank 0 writes `file`: after lines that begin with '#' (`about`, and the load
/// of the machine before and after) one line per row, its name and the microseconds of each call, the mean over the
/// ranks. Throws Error on rank 0 where it cannot be written.
void record(const std::string& file, const std::string& about, std::span<const SeriesRow> rows, long calls,
            MPI_Comm control);

}  // namespace colltopo::bench
