// Folders of schedule files: which of them serves a collective on a given network.
#pragma once

#include <string>
#include <vector>

#include "colltopo/shape.h"

namespace colltopo {

/// What a schedule is looked up by.
struct ScheduleKey {
  Collective collective = Collective::alltoall;
  Rank ranks = 0;
  Rank root = 0;
  std::string topology;  // fingerprint
};

/// The first file, in the order of `folders` ("a:b") and then of names, whose header fits; "" if none. Every `.sched`
/// file's header is read once per process and folder; files that cannot be read are passed over and named in *faults.
std::string schedule_in(const std::string& folders, const ScheduleKey& key, std::vector<std::string>* faults);

}  // namespace colltopo
