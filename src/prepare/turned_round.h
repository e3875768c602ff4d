// Trees that spread, as trees that combine: on a network whose links all have one the other way, as wide, nothing needs
// to be packed again.
#pragma once

#include <optional>

#include "colltopo/forest.h"

namespace colltopo::prepare {

/// The forest of a reduce_scatter or an allreduce by the trees of an allgather, run backwards over the links the other
/// way. Nothing where a link has none that is as wide.
std::optional<Forest> turned_round(const Forest& allgather, const Topology& network, Collective collective);

}  // namespace colltopo::prepare
