// Which build this is: ranks of a job may load another one on another node.
#pragma once

namespace colltopo {

/// Of the library that holds this function: its version, the linker's build id where it has one, and the algorithm
/// table. Not negative.
long long build_checksum();

}  // namespace colltopo
