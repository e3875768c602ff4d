// Folders of schedule files: what is in them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "colltopo/shape.h"
#include "comm/rules.h"

namespace colltopo {

/// What a schedule is looked up by.
struct ScheduleKey {
  Collective collective = Collective::alltoall;
  Rank ranks = 0;
  Rank root = 0;
  std::string topology;  // fingerprint
};

struct FiledSchedule {
  std::string path;
  ScheduleKey key;
};

struct ScheduleFolder {
  std::vector<FiledSchedule> files;  // by name
  std::optional<Rules> rules;        // of its rules.json
  std::vector<std::string> faults;   // files that cannot be read, and are passed over
};

/// Every `.sched` file's header, and the rules; read again when the folder is not what was read (stamp_of_folder).
std::shared_ptr<const ScheduleFolder> schedule_folder(const std::string& path);

/// The first file, in the order of `folders` ("a:b") and then of names, whose header fits; "" if none. *faults: of all
/// folders.
std::string schedule_in(const std::string& folders, const ScheduleKey& key, std::vector<std::string>* faults);

}  // namespace colltopo
