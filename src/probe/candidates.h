// Which algorithms are worth measuring: those that the model finds cheapest with the constants just measured.
#pragma once

#include <string>
#include <vector>

#include "colltopo/choice.h"
#include "comm/constants.h"
#include "probe/measure.h"

namespace colltopo::probe {

struct Contender {
  Collective collective = Collective::alltoall;
  std::string algorithm;  // its name: of its variants the component takes the cheapest
};

/// Sizes at which they are measured, ascending: a message, one of middling size, one whose bytes count.
std::vector<std::size_t> sizes_of(Collective collective, int ranks);

struct Contenders {
  std::vector<Contender> list;  // the likeliest of every collective first
  bool by_lanes = false;        // messages of the component go by lanes of its own
};

/// With the constants of this file, and the settings of this process's environment, as mpirun passes them on. Throws
/// Error, as for a topology that cannot be read.
Contenders contenders(const Places& places, const std::string& constants);

}  // namespace colltopo::probe
