// What UCX calls the settings of lanes, which has changed: ucp_config_modify() took a transport's setting without the
// transport's prefix up to 1.16, for all transports at once, and takes it only with the prefix since 1.17.
#pragma once

#include <string>

namespace colltopo::ucx {

/// The name, such as TCP_PORT_RANGE, under which UCX major.minor takes a setting such as PORT_RANGE.
std::string name_in_ucx(const std::string& setting, unsigned major, unsigned minor);

/// Whether `said`, what UCX printed while a context was made, names the setting as one that it took no notice of: UCX
/// 1.17 to 1.20 say so in a warning ("invalid configurations: X=1,Y=2") and go on.
bool was_dropped(const std::string& setting, const std::string& said);

}  // namespace colltopo::ucx
