#include "comm/present_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace colltopo {

int PresentTransport::look(Rank peer, bool* is_present) const noexcept {
  colltopo_peer found{};
  const int code = callbacks_.peer(callbacks_.context, peer, &found);
  *is_present = found.kind == COLLTOPO_PEER_ALIKE;
  return code;
}

int PresentTransport::send(const std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept {
  bool is_present = false;
  *request = nullptr;
  const int code = look(peer, &is_present);
  return code != 0 || !is_present ? code : messages_.send(data, bytes, peer, lane, request);
}

int PresentTransport::recv(std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept {
  bool is_present = false;
  *request = nullptr;
  if (const int code = look(peer, &is_present); code != 0) return code;
  if (is_present) return messages_.recv(data, bytes, peer, lane, request);
  for (std::size_t at = 0; at < bytes; at += sizeof(long long)) {
    const long long value = at == 0 ? static_cast<long long>(peer) - ranks_ : std::numeric_limits<long long>::max();
    std::memcpy(data + at, &value, sizeof value);
  }
  return 0;
}

std::string fault_of_missing(const colltopo_callbacks& callbacks, Rank rank, Rank ranks, std::optional<Rank> met) {
  constexpr Rank k_most_looked_at = 64;  // what is not known yet takes 15 us
  colltopo_peer found{};
  const auto kind_of = [&](Rank peer) {
    return callbacks.peer(callbacks.context, peer, &found) == 0 ? found.kind : COLLTOPO_PEER_ALIKE;
  };
  for (Rank lower = 0; lower < rank; ++lower)
    if (kind_of(lower) != COLLTOPO_PEER_ABSENT) return "";
  std::optional<Rank> first = met;
  if (rank > 0) first = 0;
  for (Rank other = 1; rank == 0 && other < std::min(ranks, k_most_looked_at); ++other) {
    if (kind_of(other) == COLLTOPO_PEER_ALIKE) continue;
    first = other;
    break;
  }
  if (!first || kind_of(*first) == COLLTOPO_PEER_ALIKE) return "";
  return fmt::format("{}; all ranks must have the same", found.difference);
}

}  // namespace colltopo
