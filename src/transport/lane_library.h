// Finding libcolltopo_ucx.so: beside the library that this code is in, one folder above it (the component of a build
// folder), or where it is installed.
#pragma once

#include <string>

#include "transport/lane_calls.h"

namespace colltopo {

/// Opened at the first call, for the rest of the process. Null with *fault: why not.
const LaneCalls* lane_library(std::string* fault);

}  // namespace colltopo
