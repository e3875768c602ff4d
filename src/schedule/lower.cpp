// Lowering of transfers to programs: one message per (step, from, to, lane), chunks in transit in scratch.

#include "colltopo/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "colltopo/error.h"

namespace colltopo {

namespace {

using Value = std::int64_t;  // a chunk of a shard, numbered over the whole collective

std::string words(const Transfer& t) {
  return fmt::format("step {}: chunk {} of {} for {} from {} to {}", t.step, t.chunk, t.origin, t.destination, t.from,
                     t.to);
}

class Lowering {
 public:
  Lowering(const Shape& shape, std::vector<Transfer> transfers)
      : shape_(shape), row_(row(shape.collective)), transfers_(std::move(transfers)) {
    if (row_.combines || !row_.counts_shards())
      throw Error(fmt::format("transfers lower to collectives that move shards, such as alltoall, not {}", row_.name));
    std::ranges::sort(transfers_, {}, [](const Transfer& t) {
      return std::tuple(t.step, t.from, t.to, t.lane, t.origin, t.destination, t.chunk);
    });
    places_.resize(static_cast<std::size_t>(shape.ranks));
    free_.resize(static_cast<std::size_t>(shape.ranks));
    for (auto& lists : free_) lists.resize(static_cast<std::size_t>(shape.chunks));
    used_.assign(static_cast<std::size_t>(shape.ranks), std::vector<Chunk>(static_cast<std::size_t>(shape.chunks), 0));
    for (Rank rank = 0; rank < shape.ranks; ++rank) builders_.emplace_back(shape, rank);
  }

  std::vector<Program> run() {
    check();
    copy_own_shards();
    count_uses();
    for (std::size_t i = 0; i < transfers_.size();) {
      std::size_t end = i;
      while (end < transfers_.size() && transfers_[end].step == transfers_[i].step) ++end;
      lower_step(i, end);
      i = end;
    }
    std::vector<Program> programs;
    for (ProgramBuilder& builder : builders_) programs.push_back(std::move(builder).build());
    return programs;
  }

 private:
  /// Whether a rank has a shard for every destination, or one for all that are to get it.
  bool sends_many() const { return row_.input.holds == Holds::shards; }

  Value value_of(const Transfer& t) const {
    const Value shard = sends_many() ? Value{t.origin} * shape_.ranks + t.destination : t.origin;
    return shard * shape_.chunks + t.chunk;
  }

  void check() const {
    const auto is_rank = [&](Rank r) { return r >= 0 && r < shape_.ranks; };
    for (const Transfer& t : transfers_) {
      const bool ends =
          is_rank(t.from) && is_rank(t.to) && is_rank(t.origin) && (row_.spreads || is_rank(t.destination));
      if (!ends || t.from == t.to || t.step < 1 || t.chunk < 0 || t.chunk >= shape_.chunks || t.lane < 0) {
        throw Error(words(t) + fmt::format(": ranks must be different ones of 0..{}, steps from 1, chunks in 0..{}",
                                           shape_.ranks - 1, shape_.chunks - 1));
      }
    }
  }

  void copy_own_shards() {
    for (Rank rank = 0; rank < shape_.ranks; ++rank) {
      if (shape_.input_chunks(rank) == 0 || shape_.output_chunks(rank) == 0) continue;
      builder(rank).step(0).copy({{Buffer::input, input_of(rank), shape_.chunks}},
                                 {{Buffer::output, output_of(rank), shape_.chunks}});
    }
  }

  /// First chunk of the shard for a destination, and of that from an origin.
  Chunk input_of(Rank destination) const { return sends_many() ? destination * shape_.chunks : 0; }
  Chunk output_of(Rank origin) const { return row_.output.holds == Holds::shards ? origin * shape_.chunks : 0; }

  void count_uses() {
    for (const Transfer& t : transfers_) ++departures_[{t.from, value_of(t)}];
  }

  // Where `rank` has a value before this step; throws when it does not.
  Run place(const Transfer& t) const {
    if (t.from == t.origin) {
      return {Buffer::input, input_of(t.destination) + t.chunk, 1};
    }
    const auto& held = places_[static_cast<std::size_t>(t.from)];
    const auto found = held.find(value_of(t));
    if (found == held.end()) throw Error(words(t) + ": the chunk is not there before this step");
    return found->second;
  }

  // Where an arriving value goes: to output at its destination, else to a scratch slot of its size class.
  Run home(const Transfer& t) {
    if (row_.spreads || t.to == t.destination) return {Buffer::output, output_of(t.origin) + t.chunk, 1};
    const auto to = static_cast<std::size_t>(t.to), c = static_cast<std::size_t>(t.chunk);
    if (auto& slots = free_[to][c]; !slots.empty()) {
      const Chunk slot = slots.back();
      slots.pop_back();
      return {Buffer::scratch, slot, 1};
    }
    return {Buffer::scratch, used_[to][c]++ * shape_.chunks + t.chunk, 1};
  }

  // The transfers of a step that go the same way on the same lane stand together.
  std::size_t end_of_message(std::size_t first, std::size_t end) const {
    const auto way = [](const Transfer& t) { return std::tie(t.from, t.to, t.lane); };
    std::size_t stop = first;
    while (stop < end && way(transfers_[stop]) == way(transfers_[first])) ++stop;
    return stop;
  }

  void lower_step(std::size_t begin, std::size_t end) {
    std::vector<std::pair<std::size_t, Chunk>> freed;  // (rank, slot): usable again from the next step on
    std::vector<Run> sources, targets;
    for (std::size_t i = begin; i < end; ++i) {
      const Transfer& t = transfers_[i];
      sources.push_back(place(t));
      if (--departures_[{t.from, value_of(t)}] == 0 && sources.back().buffer == Buffer::scratch) {
        freed.emplace_back(static_cast<std::size_t>(t.from), sources.back().first);
      }
    }
    for (std::size_t i = begin; i < end; ++i) {
      const Transfer& t = transfers_[i];
      targets.push_back(home(t));
      const bool returns = t.to == t.origin;
      if (returns || !places_[static_cast<std::size_t>(t.to)].emplace(value_of(t), targets.back()).second) {
        throw Error(words(t) + ": the chunk is at its target already");
      }
    }
    // Receives after all of the step's sends: a chunk that arrives in a step can leave only in a later one.
    for (const bool sends : {true, false}) {
      for (std::size_t i = begin; i < end;) {
        const Transfer& t = transfers_[i];
        const std::size_t stop = end_of_message(i, end);
        const Runs& all = sends ? sources : targets;
        const Runs runs(all.begin() + static_cast<std::ptrdiff_t>(i - begin),
                        all.begin() + static_cast<std::ptrdiff_t>(stop - begin));
        if (sends)
          builder(t.from).step(t.step).send(runs, t.to, t.lane);
        else
          builder(t.to).step(t.step).recv(runs, t.from, t.lane);
        i = stop;
      }
    }
    for (const auto& [rank, slot] : freed) free_[rank][static_cast<std::size_t>(slot % shape_.chunks)].push_back(slot);
  }

  ProgramBuilder& builder(Rank rank) { return builders_[static_cast<std::size_t>(rank)]; }

  Shape shape_;
  const CollectiveRow& row_;
  std::vector<Transfer> transfers_;
  std::vector<ProgramBuilder> builders_;
  std::vector<std::unordered_map<Value, Run>> places_;  // [rank] value -> where it lies
  std::map<std::pair<Rank, Value>, int> departures_;    // sends of a value that a rank has still to do
  std::vector<std::vector<std::vector<Chunk>>> free_;   // [rank][size class] scratch slots
  std::vector<std::vector<Chunk>> used_;                // [rank][size class] slots ever used
};

}  // namespace

Schedule lower(std::string name, const Shape& shape, std::vector<Transfer> transfers) {
  Schedule schedule;
  schedule.name = std::move(name);
  schedule.shape = shape;
  schedule.programs = Lowering(shape, std::move(transfers)).run();
  return schedule;
}

}  // namespace colltopo
