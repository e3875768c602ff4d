#include "cli/machine.h"

#include <fmt/format.h>

#include "base/lines.h"
#include "colltopo/error.h"
#include "colltopo/node_network.h"
#include "comm/settings.h"

namespace colltopo::cli {

Machine machine_on(const Topology& network, const std::vector<std::string>& settings) {
  Settings told;
  told.machine = colltopo::machine_on(link_constants(network), told.machine);
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos)
      throw Error(fmt::format("--set {}; expected NAME=VALUE, as in --set message_overhead=1us", in_quotes(setting)));
    told.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return told.machine;
}

}  // namespace colltopo::cli
