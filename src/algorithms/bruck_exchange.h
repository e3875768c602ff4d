// What the rounds of Bruck's exchange move, and where bundles lie between them.
//
// A bundle that is on its way is in bank 0 after its first, third ... hop and in bank 1 after its second, fourth ...
// hop. Two banks, because a round sends a bundle from the slot it came to and receives the one of the same distance: in
// one slot, no receive could be posted before the send is over, which under rendezvous waits for the peer's receive.
//
// A Traffic says what the bundles hold, as one member sees it. A bundle is cut into parcels, which may take different
// ways, columns, through groups of unequal sizes; all ranks list the parcels of a bundle in the same order.
//
//   parcels(distance, unit, hop, visit)   visit(column, chunks) for what is at this rank of a bundle that has travelled
//                                         distance % unit + hop
//   rank_at(offset, column)               who holds that column `offset` members further; -size < offset < size
//   source, target(distance, column, runs)   append where a parcel lies before its first hop, belongs after its last
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "algorithms/bruck.h"

namespace colltopo {

/// Slots of scratch for parcels in transit.
class BruckTransit {
 public:
  template <typename Traffic>
  BruckTransit(Rank size, const std::vector<BruckRound>& rounds, const Traffic& traffic, Chunk first)
      : hops_(index(size), 0) {
    for (auto& bank : bundles_) bank.resize(index(size));
    visit(rounds, traffic, [](Bundle& bundle, Chunk chunks) { bundle.chunks = std::max(bundle.chunks, chunks); });
    visit(rounds, traffic, [&](Bundle& bundle, Chunk) {
      if (bundle.first >= 0) return;
      bundle.first = first;
      first += bundle.chunks;
    });
  }

  bool at_source(Rank distance) const { return hops_[index(distance)] == 0; }
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

  static std::size_t index(Rank i) { return static_cast<std::size_t>(i); }

  template <typename Traffic, typename Visit>
  void visit(const std::vector<BruckRound>& rounds, const Traffic& traffic, Visit visit_bundle) {
    for (const BruckRound& round : rounds) {
      for (const Rank d : round.distances) {
        if (!round.arrives(d)) {
          Chunk sum = 0;
          traffic.parcels(d, round.unit, round.hop, [&](Rank, Chunk chunks) { sum += chunks; });
          visit_bundle(bundles_[index(hops_[index(d)] % 2)][index(d)], sum);
        }
        ++hops_[index(d)];
      }
    }
    std::fill(hops_.begin(), hops_.end(), std::uint8_t{0});
  }

  std::vector<std::uint8_t> hops_;  // [distance] hops of the bundle so far
  std::array<std::vector<Bundle>, 2> bundles_;
};

/// The messages of a round, by peer: one when every way through the groups is alike.
class BruckMessages {
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

/// Appends this member's part of the rounds as steps before+1, before+2, ...; parcels in transit take scratch from slot
/// `scratch` on.
template <typename Traffic>
void add_bruck_rounds(ProgramBuilder& program, Rank size, const std::vector<BruckRound>& rounds, const Traffic& traffic,
                      Step before, Chunk scratch) {
  BruckTransit transit(size, rounds, traffic, scratch);
  BruckMessages sent, received;
  std::size_t bundles = 0;
  for (const BruckRound& round : rounds) bundles += round.distances.size();
  program.reserve(2 * rounds.size() + 1, 2 * bundles + 1);
  for (std::size_t number = 0; number < rounds.size(); ++number) {
    const BruckRound& round = rounds[number];
    sent.clear();
    received.clear();
    for (const Rank d : round.distances) {
      const bool leaves = transit.at_source(d), arrives = round.arrives(d);
      Chunk slot = transit.before_hop(d);
      traffic.parcels(d, round.unit, 0, [&](Rank column, Chunk chunks) {
        Runs& runs = sent.with(traffic.rank_at(round.hop, column));
        if (leaves) return traffic.source(d, column, runs);
        runs.push_back({Buffer::scratch, slot, chunks});
        slot += chunks;
      });
      slot = transit.after_hop(d);
      traffic.parcels(d, round.unit, round.hop, [&](Rank column, Chunk chunks) {
        Runs& runs = received.with(traffic.rank_at(-round.hop, column));
        if (arrives) return traffic.target(d, column, runs);
        runs.push_back({Buffer::scratch, slot, chunks});
        slot += chunks;
      });
      transit.hop(d);
    }
    program.step(before + static_cast<Step>(number) + 1);
    sent.each([&](Rank peer, const Runs& runs) { program.send(runs, peer); });
    received.each([&](Rank peer, const Runs& runs) { program.recv(runs, peer); });
  }
}

}  // namespace colltopo
