// Which algorithm of ours is which of theirs.
#pragma once

#include <limits>
#include <span>
#include <string_view>

#include "tuning/tuning.h"

namespace colltopo::tuning {

/// Of a rule: however many there are.
constexpr Rank k_any_ranks = std::numeric_limits<Rank>::max();
constexpr std::size_t k_any_bytes = std::numeric_limits<std::size_t>::max();

/// An algorithm of another library.
struct Theirs {
  Dialect dialect;  // tuned for both of its formats
  Collective collective;
  std::string_view name;
  int number;             // in classic files; UCC has names alone
  std::string_view ours;  // as our table describes it; empty: we have none like it
};
std::span<const Theirs> all_theirs();

/// The collective's number in classic files (coll_base_functions.h).
int tuned_number(Collective collective);

/// By our name or by theirs with their library's before it; null: the library has none like it.
const Theirs* theirs_like(Dialect dialect, Collective collective, std::string_view algorithm);
const Theirs* theirs_numbered(Collective collective, int number);
const Theirs* theirs_named(Dialect dialect, Collective collective, std::string_view name);

/// Bytes as they count them, of a call of `bytes` as we do.
double their_bytes(Collective collective, Rank ranks, double bytes);

}  // namespace colltopo::tuning
