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
  std::string algorithm;           // its name: of its variants the component takes the cheapest; with options, one of
                                   // these ("tra:radix=4"); or k_previous
  std::string component;           // that serves what is declined, if that is meant
  std::vector<std::size_t> sizes;  // at which it is measured, ascending; ours of sizes_of()
};
inline constexpr const char* k_previous = "fallback";

/// Of every collective; vectors have a longer one after them.
constexpr std::size_t k_common_sizes = 8;

/// Sizes at which algorithms are measured first, ascending, from a message to one whose bytes count.
std::vector<std::size_t> sizes_of(Collective collective, int ranks);

struct Contenders {
  std::vector<Contender> list;  // the likeliest of every collective first
  bool by_lanes = false;        // messages of the component go by lanes of its own
};

/// With the constants of this file, and the settings of this process's environment, as mpirun passes them on.
/// `previous`: which components serve what is declined, "alltoall=tuned ...". Throws Error, as for a topology that
/// cannot be read.
Contenders contenders(const Places& places, const std::string& constants, const std::string& previous);

}  // namespace colltopo::probe
