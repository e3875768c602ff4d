// All that is particular to InfiniBand and RoCE. It was written from the sources and the tables of UCX 1.13.1 and has
// met no such device; docs/ucx.md has the checklist for a site that has one.
//
// A variable UCX_{RC,UD}_{VERBS,MLX5}_X or UCX_DC_MLX5_X inherits UCX_IB_X. Settings are named without their prefix
// here; ucx/setting_names.h knows which UCX wants it.

#include "transport/fabric_settings.h"

namespace colltopo {

std::vector<UcxSetting> fabric_settings(LaneKind kind, const std::string& value) {
  switch (kind) {
    case LaneKind::lid_bits:
      // UCX_IB_LID_PATH_BITS: the messages of the context go to LID + value. The subnet manager must give each port
      // 2^LMC LIDs, and a route to each. NUM_PATHS=1 keeps UCP from using others besides.
      return {{"LID_PATH_BITS", value}, {"NUM_PATHS", "1"}};
    case LaneKind::gid_index:
      // UCX_IB_GID_INDEX: RoCE uses the address with this index of the port's table, so routers see a source and a
      // destination address of the lane, as with lanes of TCP devices.
      return {{"GID_INDEX", value}, {"NUM_PATHS", "1"}};
    case LaneKind::sl:
      // UCX_IB_SL: the service level, by which InfiniBand's switches choose a virtual lane and, where the subnet
      // manager says so (LASH, DFSSSP, Nue), a route; with RoCE v2 the Ethernet priority.
      return {{"SL", value}, {"NUM_PATHS", "1"}};
    default:
      return {};
  }
}

const char* why_no_path_index() {
  return "UCP gives an endpoint's path index away to its own striping (NUM_PATHS) and takes none from its caller; use "
         "lid-bits, gid-index or sl";
}

}  // namespace colltopo
