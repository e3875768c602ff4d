// Lanes on InfiniBand and RoCE: which variables of UCX make the messages of a context take a route.
#pragma once

#include <string>
#include <vector>

#include "transport/lane_setting.h"

namespace colltopo {

/// For the kinds lid_bits, gid_index and sl; nothing for others.
std::vector<UcxSetting> fabric_settings(LaneKind kind, const std::string& value);

const char* why_no_path_index();

}  // namespace colltopo
