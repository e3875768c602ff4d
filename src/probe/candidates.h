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

/// The likeliest of every collective first. The settings are those of this process's environment, as mpirun passes them
/// on. Throws Error, as for a topology that cannot be read.
std::vector<Contender> contenders(const Places& places, const ConstantsRecord& record);

}  // namespace colltopo::probe
