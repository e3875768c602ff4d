// The rounds, and where bundles lie between them.
//
// A bundle that is on its way is in bank 0 after its first, third ... hop and in bank 1 after its second, fourth ...
// hop. Two banks, because a round sends a bundle from the slot it came to and receives the one of the same distance: in
// one slot, no receive could be posted before the send is over, which under rendezvous waits for the peer's receive.

#include "algorithms/bruck.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace colltopo {

namespace {

constexpr std::int32_t k_never = std::numeric_limits<std::int32_t>::max();

std::size_t index(Rank i) { return static_cast<std::size_t>(i); }

// Puts a round's distances in the order of the message. `hops[d]` counts the hops of bundle d before the round,
// `first_round[bank][d]` is the round in which it came to the bank first.
class MessageOrder {
 public:
  explicit MessageOrder(Rank size) : hops_(index(size), 0) {
    for (auto& bank : first_round_) bank.assign(index(size), k_never);
  }

  void arrange(BruckRound& round, std::int32_t number) {
    const auto arrives = [&](Rank d) { return d % round.unit + round.hop == d; };
    const auto middle = std::stable_partition(round.distances.begin(), round.distances.end(), arrives);
    std::reverse(round.distances.begin(), middle);
    bool all_new = true;
    for (auto d = middle; d != round.distances.end(); ++d) {
      auto& first = first_round_[index(hops_[index(*d)] % 2)][index(*d)];
      if (first == k_never) first = number;
      all_new = all_new && first == number;
    }
    const auto came = [&](Rank d) {  // those that come to new slots in front
      const std::int32_t first = first_round_[index(hops_[index(d)] % 2)][index(d)];
      return first == number ? -1 : first;
    };
    if (!all_new) std::stable_sort(middle, round.distances.end(), [&](Rank a, Rank b) { return came(a) < came(b); });
    for (const Rank d : round.distances) ++hops_[index(d)];
  }

 private:
  std::vector<std::int32_t> hops_;
  std::array<std::vector<std::int32_t>, 2> first_round_;
};

// Slots of scratch for parcels in transit.
class Transit {
 public:
  Transit(Rank size, const std::vector<BruckRound>& rounds, const BruckTraffic& traffic, Chunk first)
      : hops_(index(size), 0) {
    for (auto& bank : bundles_) bank.resize(index(size));
    visit(rounds, traffic, [](Bundle& bundle, Chunk chunks) { bundle.chunks = std::max(bundle.chunks, chunks); });
    visit(rounds, traffic, [&](Bundle& bundle, Chunk) {
      if (bundle.first >= 0) return;
      bundle.first = first;
      first += bundle.chunks;
    });
  }

  /// Where the bundle lies that has done so many hops already.
  Chunk before_hop(Rank distance) const {
    return bundles_[index((hops_[index(distance)] + 1) % 2)][index(distance)].first;
  }
  Chunk after_hop(Rank distance) const { return bundles_[index(hops_[index(distance)] % 2)][index(distance)].first; }
  void hop(Rank distance) { ++hops_[index(distance)]; }

 private:
  struct Bundle {
    Chunk first = -1;
    Chunk chunks = 0;  // the most that it holds while it is at this rank in this bank
  };

  template <typename Visit>
  void visit(const std::vector<BruckRound>& rounds, const BruckTraffic& traffic, Visit visit_bundle) {
    std::vector<BruckTraffic::Parcel> parcels;
    for (const BruckRound& round : rounds) {
      for (const Rank d : round.distances) {
        const Rank travelled = d % round.unit + round.hop;
        if (travelled != d) {
          parcels.clear();
          traffic.parcels(d, travelled, parcels);
          Chunk chunks = 0;
          for (const BruckTraffic::Parcel& parcel : parcels) chunks += parcel.chunks;
          visit_bundle(bundles_[index(hops_[index(d)] % 2)][index(d)], chunks);
        }
        ++hops_[index(d)];
      }
    }
    std::fill(hops_.begin(), hops_.end(), 0);
  }

  std::vector<Rank> hops_;  // [distance] hops of the bundle so far
  std::array<std::vector<Bundle>, 2> bundles_;
};

// The messages of a round, by peer: one when every way through the groups is alike.
class Messages {
 public:
  void clear() { used_ = 0; }
  Runs& with(Rank peer) {
    for (std::size_t i = used_; i-- > 0;) {
      if (messages_[i].peer == peer) return messages_[i].runs;
    }
    if (used_ == messages_.size()) messages_.emplace_back();
    messages_[used_].peer = peer;
    messages_[used_].runs.clear();
    return messages_[used_++].runs;
  }
  template <typename Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < used_; ++i) visit(messages_[i].peer, messages_[i].runs);
  }

 private:
  struct Message {
    Rank peer = 0;
    Runs runs;
  };
  std::vector<Message> messages_;
  std::size_t used_ = 0;
};

}  // namespace

std::vector<BruckRound> bruck_rounds(Rank size, int radix) {
  std::vector<BruckRound> rounds;
  MessageOrder order(size);
  for (std::int64_t unit = 1; unit < size; unit *= radix) {
    for (std::int64_t hop = unit; hop < size && hop < unit * radix; hop += unit) {
      BruckRound round{static_cast<Rank>(hop), static_cast<Rank>(unit), {}};
      for (std::int64_t first = hop; first < size; first += unit * radix) {
        const std::int64_t end = std::min<std::int64_t>(first + unit, size);
        for (std::int64_t d = first; d < end; ++d) round.distances.push_back(static_cast<Rank>(d));
      }
      order.arrange(round, static_cast<std::int32_t>(rounds.size()));
      rounds.push_back(std::move(round));
    }
  }
  return rounds;
}

int balanced_radix(Rank size) {
  int radix = 2;
  while (std::int64_t{radix} * radix < size) ++radix;
  return radix;
}

void add_bruck_rounds(ProgramBuilder& program, Rank size, const std::vector<BruckRound>& rounds,
                      const BruckTraffic& traffic, Step before, Chunk scratch) {
  Transit transit(size, rounds, traffic, scratch);
  Messages sent, received;
  std::vector<BruckTraffic::Parcel> parcels;
  for (std::size_t number = 0; number < rounds.size(); ++number) {
    const BruckRound& round = rounds[number];
    sent.clear();
    received.clear();
    for (const Rank d : round.distances) {
      const Rank travelled = d % round.unit;
      parcels.clear();
      traffic.parcels(d, travelled, parcels);
      Chunk slot = transit.before_hop(d);
      for (const auto& [column, chunks] : parcels) {
        Runs& runs = sent.with(traffic.rank_at(round.hop, column));
        if (travelled == 0) {
          traffic.source(d, column, runs);
        } else {
          runs.push_back({Buffer::scratch, slot, chunks});
          slot += chunks;
        }
      }
      parcels.clear();
      traffic.parcels(d, travelled + round.hop, parcels);
      slot = transit.after_hop(d);
      for (const auto& [column, chunks] : parcels) {
        Runs& runs = received.with(traffic.rank_at(-round.hop, column));
        if (travelled + round.hop == d) {
          traffic.target(d, column, runs);
        } else {
          runs.push_back({Buffer::scratch, slot, chunks});
          slot += chunks;
        }
      }
      transit.hop(d);
    }
    program.step(before + static_cast<Step>(number) + 1);
    sent.each([&](Rank peer, const Runs& runs) { program.send(runs, peer); });
    received.each([&](Rank peer, const Runs& runs) { program.recv(runs, peer); });
  }
}

}  // namespace colltopo
