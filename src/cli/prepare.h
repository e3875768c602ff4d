// colltopo prepare: the parts that its files share.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/command.h"
#include "prepare/folder.h"
#include "prepare/offers.h"

namespace colltopo::cli {

/// What an earlier run left in the folder and a new one can use.
struct Earlier {
  std::set<std::string> proved;  // closed forms whose proof needs no network
  std::set<std::string> files;   // schedule files that the folder has by that run
  prepare::FlowStart start;      // routes of the all-to-all that still exist, on the network at hand
  std::string remark;            // for people: what was kept; empty: nothing
};
/// Nothing where the folder is empty, of another release or cannot be read, or where another user may have written it.
Earlier earlier_in(const std::string& folder, const Topology& network);

/// What was prepared as --json and prepared.json have it.
nlohmann::ordered_json json_of(const prepare::Prepared& prepared);

struct WrittenFolder {
  std::string page;
  bool linux_tables = false, json_tables = false;
};
/// Writes all files, rules last, so that a job that looks meanwhile finds what they name; then takes away schedules of
/// `earlier` that nothing names any more.
WrittenFolder write_folder(const prepare::Prepared& prepared, const std::string& folder, const std::string& command,
                           const FlowBound& flow, const Earlier& earlier, const prepare::Say& say);

}  // namespace colltopo::cli
