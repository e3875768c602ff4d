// The setting `lanes`: how many lanes there are, and what makes the messages of each take a route of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "colltopo/shape.h"

namespace colltopo {

/// What lanes differ in.
enum class LaneKind : std::uint8_t {
  one,         // "" or auto: one lane, set up as UCX itself does
  shared,      // one lane that serves all lanes of a schedule
  device,      // network device
  ports,       // range of TCP ports
  lid_bits,    // InfiniBand: low bits of the destination's LID
  gid_index,   // RoCE: index of the address
  sl,          // InfiniBand: service level; RoCE: priority
  path_index,  // UCT's path index
};

struct LaneSetting {
  LaneKind kind = LaneKind::one;
  std::vector<std::string> values = {""};  // [lane]
  std::string text;                        // as it was set

  Lane lanes() const { return static_cast<Lane>(values.size()); }
  /// The lane that serves a schedule's lane; -1: none does.
  Lane serving(Lane lane) const { return kind == LaneKind::shared ? 0 : lane < lanes() ? lane : -1; }
};

/// Throws Error naming the value and what is allowed.
LaneSetting lane_setting(std::string_view text);

/// A variable of UCX without its prefix UCX_ and without the name of a transport.
struct UcxSetting {
  std::string name;
  std::string value;
};

/// What is set in the context of a lane.
std::vector<UcxSetting> ucx_settings(const LaneSetting& setting, Lane lane);

/// What no UCX can do, as far as known here; empty: nothing speaks against the setting.
std::string lane_fault(const LaneSetting& setting);

}  // namespace colltopo
