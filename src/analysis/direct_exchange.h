// The proof of an all-to-all in which everybody sends every shard straight to its rank.
#pragma once

#include <optional>

#include "colltopo/sections.h"
#include "colltopo/verify.h"

namespace colltopo::direct_exchange {

/// As verify() finds it; nothing when programs do more than send from input, receive into output and copy the own
/// shard, each chunk once. Programs are asked for one at a time per thread; about 40 bytes stay of every message.
std::optional<Verdict> verified(const SectionedSchedule& schedule);

}  // namespace colltopo::direct_exchange
