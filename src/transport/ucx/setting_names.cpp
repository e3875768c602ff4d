#include "transport/ucx/setting_names.h"

#include <string_view>

namespace colltopo::ucx {

namespace {

struct Prefixed {
  std::string_view setting, prefix;
};
// UCP's own settings (NET_DEVICES, RNDV_THRESH) have no prefix in any version.
constexpr Prefixed k_prefixed[] = {{"PORT_RANGE", "TCP_"}, {"CONN_NB", "TCP_"}, {"LID_PATH_BITS", "IB_"},
                                   {"GID_INDEX", "IB_"},   {"SL", "IB_"},       {"NUM_PATHS", "IB_"}};

}  // namespace

std::string name_in_ucx(const std::string& setting, unsigned major, unsigned minor) {
  if (major == 1 && minor < 17) return setting;
  for (const Prefixed& row : k_prefixed)
    if (row.setting == setting) return std::string(row.prefix) + setting;
  return setting;
}

bool was_dropped(const std::string& setting, const std::string& said) {
  const std::size_t list = said.find("invalid configuration");
  if (list == std::string::npos) return false;
  for (std::size_t at = said.find(setting + "=", list); at != std::string::npos; at = said.find(setting + "=", at + 1))
    if (said[at - 1] == ' ' || said[at - 1] == ',') return true;
  return false;
}

}  // namespace colltopo::ucx
