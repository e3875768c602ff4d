// What a user can set, by name: the parameters coll_topo_X and the variables COLLTOPO_X, in one table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "colltopo/bound.h"
#include "colltopo/choice.h"
#include "colltopo/colltopo.h"
#include "comm/forced.h"
#include "transport/lane_setting.h"

namespace colltopo {

/// Which ranks share a group for tra2.
struct Grouping {
  int level = COLLTOPO_NODE;  // a COLLTOPO_ level, when size == 0
  int size = 0;               // consecutive ranks per group
};

/// Who chooses where neither a parameter nor a rule does.
enum class Choosing : std::uint8_t { measured, model, off };

struct Settings {
  std::array<Forced, k_calls> forced;
  CollectiveValues values;  // of algorithms' options, by collective: alltoall_radix
  Grouping group;
  Machine machine;
  std::string topology;            // a spec or a file
  std::vector<int> dimensions;     // of `topology`; empty: no grid
  std::vector<std::string> hosts;  // names of the topology's hosts, in its order; empty: those that it has
  std::string schedules;           // folders of schedule files, "a:b"
  std::size_t schedules_from_bytes = 1024;
  bool prove = true;                           // schedule files, before anything of them runs
  std::optional<std::size_t> aggregate_bytes;  // nothing: by the model
  int replan = 0;                              // calls of alltoallv and its like between plans; 0: none
  bool plan = false;                           // persistent ones are planned for their own traffic
  std::string rules;                           // path of a rules file
  std::optional<std::size_t> segment_bytes;    // nothing: as the schedule asks for
  Pace pace = Pace::free;
  Choosing choosing = Choosing::measured;
  std::size_t trial_after = 32;    // calls of a class that follow the model
  std::string decisions;           // path of a file of decisions
  std::string constants = "auto";  // path of a file of constants, auto or off
  double watch_s = 2;              // between looks at files; 0: none
  bool own_lanes = false;          // transport is ucx
  LaneSetting lanes;
  double connect_timeout_s = 10;
  double lane_patience_s = 2;  // with a message on a lane that others have overtaken; 0: for ever
  int verbose = 0;
  std::string canonical;  // "name=value" of everything set, for comparing ranks

  /// Sets one; throws Error naming the value and what is allowed.
  void set(std::string_view name, std::string_view value);
  /// The collective that a setting is about; nothing: all of them.
  static std::optional<Collective> concerns(std::string_view name);
};

/// All settings with defaults and descriptions, ended by a null name.
std::span<const colltopo_setting> setting_table();

}  // namespace colltopo
