// A UCP context for a lane.
#pragma once

#include <ucp/api/ucp.h>

#include <string>
#include <vector>

#include "transport/ucx/lane.h"

namespace colltopo::ucx {

struct Context {
  ucp_context_h context = nullptr;
  bool shares_memory = false;
};

/// Settings of the lane go before the environment's, COLLTOPO_UCX_X before UCX_X. Null context with *fault.
Context make_context(const Settings& settings, std::string* fault);

}  // namespace colltopo::ucx
