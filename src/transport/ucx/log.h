// What UCX would print while lanes are set up and tried: kept, so that the one line that colltopo says can quote it.
#pragma once

#include <string>

namespace colltopo::ucx {

/// Calls nest; what is heard goes to all that listen.
void listen_begin();
/// The first line heard since the outermost listen_begin.
std::string listen_end();
/// The same while listening goes on.
std::string heard();
/// The first line since then that names settings of which UCX took no notice.
std::string heard_of_settings();

}  // namespace colltopo::ucx
