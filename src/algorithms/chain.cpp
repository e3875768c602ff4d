// A chain of groups from the root's on, and one through each of them: a vector in pieces that follow each other.
//
// Every link carries every piece once, and a piece moves on while the next one arrives: with n places after the root
// and p pieces, n + p - 1 steps of a piece each. Reversed it is a reduce.

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/given_groups.h"
#include "algorithms/properties.h"
#include "algorithms/table.h"
#include "colltopo/derive.h"

namespace colltopo {

namespace {

constexpr int k_most_pieces = 1024;
constexpr int k_pieces = 16;

/// Groups counted from the root's on, members from their first on: the root in its own, else position 0.
class Chain {
 public:
  Chain(const Groups& groups, Rank root) : groups_(groups), root_(root), first_(groups.group_of(root)) {}

  Rank place_of(Rank group) const { return (group - first_ + groups_.groups()) % groups_.groups(); }
  Rank group_at(Rank place) const { return (first_ + place) % groups_.groups(); }
  Rank position_of(Rank rank) const {
    const Rank group = groups_.group_of(rank), size = groups_.size(group);
    return (groups_.position_of(rank) - start(group) + size) % size;
  }
  Rank member(Rank group, Rank position) const {
    return groups_.member(group, (start(group) + position) % groups_.size(group));
  }
  /// Ranks that a piece has come through before it gets there.
  Step depth_of(Rank rank) const { return place_of(groups_.group_of(rank)) + position_of(rank); }
  Step deepest() const {
    Step depth = 0;
    for (Rank place = 0; place < groups_.groups(); ++place)
      depth = std::max(depth, place + groups_.size(group_at(place)) - 1);
    return depth;
  }

 private:
  Rank start(Rank group) const { return group == first_ ? groups_.position_of(root_) : 0; }

  const Groups& groups_;
  Rank root_, first_;
};

Step chain_steps(const Shape& shape, Chunk pieces, const Groups& groups) {
  return shape.ranks == 1 ? 0 : Chain(groups, shape.root).deepest() + pieces - 1;
}

Program chain_bcast(const Shape& shape, Rank rank, const Groups& groups) {
  const Chain chain(groups, shape.root);
  const Rank group = groups.group_of(rank), place = chain.place_of(group), position = chain.position_of(rank);
  const Step depth = chain.depth_of(rank);
  const bool leads_on = position == 0 && place + 1 < groups.groups();
  const bool has_next = position + 1 < groups.size(group);
  const Buffer held = depth == 0 ? Buffer::input : Buffer::output;
  ProgramBuilder program(shape, rank);
  // A piece c comes in step depth + c and goes in the next.
  for (Step step = std::max(1, depth); step <= depth + shape.chunks; ++step) {
    const Chunk coming = step - depth, going = coming - 1;
    program.step(step);
    if (depth > 0 && coming < shape.chunks)
      program.recv({{Buffer::output, coming, 1}},
                   position > 0 ? chain.member(group, position - 1) : chain.member(chain.group_at(place - 1), 0));
    if (going < 0) continue;
    if (leads_on) program.send({{held, going, 1}}, chain.member(chain.group_at(place + 1), 0));
    if (has_next) program.send({{held, going, 1}}, chain.member(group, position + 1));
  }
  return std::move(program).build();
}

Chunk pieces_of(const AlgorithmOptions& options) { return options.values.value_or("pieces", k_pieces); }

Step steps(const Shape& shape, const AlgorithmOptions& options) {
  return chain_steps(shape, pieces_of(options), *given_groups(shape, options));
}

std::vector<AlgorithmOptions> variants(const Shape&, const AlgorithmOptions& given) {
  if (given.values.find("pieces")) return {given};
  std::vector<AlgorithmOptions> all;
  for (const int pieces : {4, 8, 16, 64}) {
    all.push_back(given);
    all.back().values.set("pieces", pieces);
  }
  return all;
}

}  // namespace

Algorithm chain_algorithm() {
  return {
      .name = "chain",
      .about = "a chain through the groups and one within each, a vector in pieces: once over every link",
      .collectives = {Collective::bcast, Collective::reduce},
      .options = {group_option("the ranks of a node"),
                  {.name = "pieces",
                   .least = 1,
                   .most = k_most_pieces,
                   .about = "parts of a vector that follow each other through a chain",
                   .otherwise = "16; auto: 4, 8, 16 or 64, by size"}},
      .refusal = refusal_of_groups,
      .chunks = [](const Shape&, const AlgorithmOptions& options) { return pieces_of(options); },
      .program =
          [](const Shape& shape, Rank rank, const AlgorithmOptions& options) {
            const Program bcast = chain_bcast({Collective::bcast, shape.ranks, shape.chunks, shape.root}, rank,
                                              *given_groups(shape, options));
            return reduces(shape.collective) ? reduce_from(bcast, steps(shape, options)) : bcast;
          },
      .steps = steps,
      .describe =
          [](const Shape& shape, const AlgorithmOptions& options) {
            return fmt::format("{} pieces={}", sizes_of_groups(*given_groups(shape, options)), pieces_of(options));
          },
      .properties = properties_of_derived,
      .variants = variants,
      .repeats = [](const Shape& shape, const AlgorithmOptions&) { return shape.ranks <= 2; },  // binomial
  };
}

}  // namespace colltopo
