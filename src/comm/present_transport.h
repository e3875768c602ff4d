// Messages of an agreement among those ranks that take part: a rank of the communicator may have no colltopo, or
// another one, and takes what it is sent for its own program's data.
//
// Nothing is sent to such a rank. What would come from it is written here instead, and says that it is missing: the
// smallest of all values in an agreement's first place. In an all-reduce each rank's result hangs on each rank's
// contribution by a way of messages. The last rank missing on a way from a missing rank is found so by the next one on
// it, which takes the word on. So all that take part learn it, however many are missing.
#pragma once

#include <optional>
#include <string>

#include "colltopo/colltopo.h"
#include "colltopo/transport.h"

namespace colltopo {

class PresentTransport final : public Transport {
 public:
  PresentTransport(Transport& messages, const colltopo_callbacks& callbacks, Rank ranks)
      : messages_(messages), callbacks_(callbacks), ranks_(ranks) {}

  int send(const std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept override;
  /// From a missing rank: its number less `ranks`, and in all other places what is larger than any value.
  int recv(std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept override;
  int test(Request* request) noexcept override { return messages_.test(request); }
  int wait(Request* request) noexcept override { return messages_.wait(request); }
  void abandon(Request* request) noexcept override { messages_.abandon(request); }
  void progress() noexcept override { messages_.progress(); }

 private:
  int look(Rank peer, bool* is_present) const noexcept;

  Transport& messages_;
  const colltopo_callbacks& callbacks_;
  Rank ranks_;
};

/// What the lowest rank that takes part is to say: the first one that does not among the first, or else the one that it
/// has met. Empty: on all other ranks, and where it finds none. Asks nobody.
std::string fault_of_missing(const colltopo_callbacks& callbacks, Rank rank, Rank ranks, std::optional<Rank> met);

}  // namespace colltopo
