// The folder of a prepared network: schedules that are proved, tables, rules.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "colltopo/forwarding.h"
#include "prepare/plan.h"

namespace colltopo::prepare {

/// A schedule file of the folder.
struct FiledSchedule {
  const Offer* offer = nullptr;
  std::string file;  // "alltoall-mcf.sched"
  Schedule schedule;
  std::int32_t layers = 0;
};

struct Prepared {
  Ground ground;
  std::vector<CollectivePlan> plans;
  std::vector<FiledSchedule> files;  // proved
  std::vector<std::string> proved;   // closed forms that rules name: "allreduce swing ports=4"
  std::int32_t planes = 0;           // of the tables for all files; 0: no tables are needed
};

/// Proves what the plans name: files with the planes of one set of tables and layers of their own, closed forms by all
/// ranks' programs, unless `known` has them. Sets Offer::choice of files. Throws Error when a proof fails, which no
/// algorithm of ours should let happen.
void prove(Prepared& prepared, const std::set<std::string>& known, int threads, const Say& say);

/// rules.json: the plans' intervals, for ranks on this network alone.
std::string rules_of(const Prepared& prepared);

/// Tables for all files together; only with planes. Every lane of every file has been followed through them.
ForwardingTables tables_of(const Prepared& prepared, Schedule* routes);

}  // namespace colltopo::prepare
