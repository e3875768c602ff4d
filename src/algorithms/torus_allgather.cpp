#include "algorithms/torus_allgather.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "algorithms/from_allgather.h"
#include "algorithms/properties.h"
#include "colltopo/derive.h"

namespace colltopo {

namespace {

using Coordinates = std::vector<Rank>;  // of one dimension, increasing

Coordinates mirrored(Rank side, Coordinates coordinates) {
  for (Rank& coordinate : coordinates) coordinate = mirror(side, coordinate);
  std::sort(coordinates.begin(), coordinates.end());
  return coordinates;
}

RingSteps mirrored(const RingAllgather& ring, Rank side, Rank coordinate) {
  RingSteps steps = ring(side, mirror(side, coordinate));
  for (auto& step : steps) {
    for (Exchange& exchange : step) {
      exchange.peer = mirror(side, exchange.peer);
      exchange.send = mirrored(side, std::move(exchange.send));
      exchange.recv = mirrored(side, std::move(exchange.recv));
    }
  }
  return steps;
}

// The turns of an allgather whose rings have these many steps, in increasing order of steps.
std::vector<Turn> turns_of(DimensionOrder order, const std::vector<int>& steps, int first) {
  std::vector<Turn> turns;
  const int dimensions = static_cast<int>(steps.size());
  if (order == DimensionOrder::alternating) {
    turns = alternating_turns(steps, first);
    const Step total = static_cast<Step>(turns.size());
    std::reverse(turns.begin(), turns.end());
    for (Turn& turn : turns) {
      turn.step = total - turn.step + 1;
      turn.ring_step = steps[static_cast<std::size_t>(turn.dimension)] - 1 - turn.ring_step;
    }
  } else {
    const int longest = steps.empty() ? 0 : *std::max_element(steps.begin(), steps.end());
    for (int phase = 0; phase < dimensions; ++phase) {
      const int dimension = (first + dimensions - 1 - phase) % dimensions;
      for (int i = 0; i < steps[static_cast<std::size_t>(dimension)]; ++i) {
        turns.push_back({phase * longest + i + 1, dimension, i});
      }
    }
  }
  return turns;
}

// Of an allgather whose rings have these many steps.
Step steps_in(DimensionOrder order, const std::vector<int>& ring_steps) {
  if (order == DimensionOrder::alternating) return std::accumulate(ring_steps.begin(), ring_steps.end(), 0);
  return ring_steps.empty() ? 0 : static_cast<Step>(ring_steps.size()) * *std::ranges::max_element(ring_steps);
}

class TorusAllgather {
 public:
  TorusAllgather(const Shape& shape, Rank rank, const Torus& torus, const RingAllgather& ring, DimensionOrder order)
      : program_(shape, rank), torus_(torus) {
    std::vector<int>& steps = ring_steps_;
    for (int d = 0; d < torus.dimensions(); ++d) {
      const Rank side = torus.side(d), coordinate = torus.coordinate(rank, d);
      rings_[0].push_back(ring(side, coordinate));
      steps.push_back(static_cast<int>(rings_[0].back().size()));
      if (shape.chunks > 1) rings_[1].push_back(mirrored(ring, side, coordinate));
    }
    const int dimensions = torus.dimensions();
    for (int port = 0; port < shape.chunks; ++port) {
      Port p;
      p.mirrored = port >= dimensions && dimensions > 0;
      p.turns = turns_of(order, steps, dimensions == 0 ? 0 : port % dimensions);
      for (int d = 0; d < dimensions; ++d) p.held.push_back({torus.coordinate(rank, d)});
      p.arrived.resize(p.held.size());
      ports_.push_back(std::move(p));
    }
    steps_ = steps_in(order, steps);
  }

  Step steps() const { return steps_; }
  const std::vector<int>& ring_steps() const { return ring_steps_; }

  /// Leaves out the blocks of all ranks but one.
  void only(Rank origin) {
    for (int d = 0; d < torus_.dimensions(); ++d) {
      const Rank wanted = torus_.coordinate(origin, d);
      for (auto& rings : rings_) {
        if (rings.empty()) continue;
        for (auto& step : rings[static_cast<std::size_t>(d)]) {
          for (Exchange& exchange : step) {
            keep(exchange.send, wanted);
            keep(exchange.recv, wanted);
          }
        }
      }
      for (Port& port : ports_) keep(port.held[static_cast<std::size_t>(d)], wanted);
    }
  }

  Program run() && {
    const Chunk chunks = program_.shape().chunks;
    program_.copy({{Buffer::input, 0, chunks}}, {{Buffer::output, program_.rank() * chunks, chunks}});
    for (Step step = 1; step <= steps_; ++step) {
      program_.step(step);
      for (std::size_t port = 0; port < ports_.size(); ++port) {
        Port& p = ports_[port];
        if (p.next < p.turns.size() && p.turns[p.next].step == step)
          take(p, static_cast<Lane>(port), p.turns[p.next++]);
      }
    }
    return std::move(program_).build();
  }

 private:
  struct Port {
    bool mirrored = false;
    std::vector<Turn> turns;
    std::size_t next = 0;
    std::vector<Coordinates> held;     // [dimension], but for
    std::vector<Coordinates> arrived;  // [dimension] in any order
  };

  static void keep(Coordinates& coordinates, Rank wanted) {
    const bool present = std::binary_search(coordinates.begin(), coordinates.end(), wanted);
    coordinates.assign(present ? 1 : 0, wanted);
  }

  void take(Port& port, Lane lane, const Turn& turn) {
    const auto d = static_cast<std::size_t>(turn.dimension);
    const auto& exchanges = rings_[port.mirrored ? 1 : 0][d][static_cast<std::size_t>(turn.ring_step)];
    for (std::size_t other = 0; other < port.held.size(); ++other) {
      if (other != d) settle(port, other);
    }
    for (const Exchange& exchange : exchanges) {
      const Rank peer = torus_.moved(program_.rank(), turn.dimension, exchange.peer);
      program_.send(from_input_if_own(blocks(port, lane, d, exchange.send), lane), peer, lane);
      program_.recv(blocks(port, lane, d, exchange.recv), peer, lane);
      port.arrived[d].insert(port.arrived[d].end(), exchange.recv.begin(), exchange.recv.end());
    }
  }

  // Adds what has arrived in dimension d to what is held there, once steps in other dimensions need it.
  static void settle(Port& port, std::size_t d) {
    if (port.arrived[d].empty()) return;
    port.held[d].insert(port.held[d].end(), port.arrived[d].begin(), port.arrived[d].end());
    std::sort(port.held[d].begin(), port.held[d].end());
    port.arrived[d].clear();
  }

  // The port's chunks of all blocks whose coordinate is one of `here` in `dimension` and held in the others.
  Runs blocks(const Port& port, Lane lane, std::size_t dimension, const Coordinates& here) const {
    std::vector<Rank> places = {0};
    for (std::size_t d = 0; d < port.held.size(); ++d) {
      const Coordinates& coordinates = d == dimension ? here : port.held[d];
      std::vector<Rank> further;
      further.reserve(places.size() * coordinates.size());
      for (const Rank place : places) {
        for (const Rank c : coordinates) further.push_back(place + c * torus_.stride(static_cast<int>(d)));
      }
      places = std::move(further);
    }
    Runs runs;
    runs.reserve(places.size());
    for (const Rank place : places) runs.push_back({Buffer::output, place * program_.shape().chunks + lane, 1});
    return runs;
  }

  // A message of nothing but the rank's own block need not wait for the copy into output.
  Runs from_input_if_own(Runs runs, Lane lane) const {
    if (runs.size() == 1 && runs[0].first == program_.rank() * program_.shape().chunks + lane) {
      runs[0] = {Buffer::input, lane, 1};
    }
    return runs;
  }

  ProgramBuilder program_;
  const Torus& torus_;
  std::array<std::vector<RingSteps>, 2> rings_;  // [plain, mirrored][dimension]
  std::vector<Port> ports_;
  std::vector<int> ring_steps_;  // [dimension]
  Step steps_ = 0;
};

// A single port's products of sets with an odd side among them are as contiguous in rank order, or more so.
bool keeps_rank_order_of_blocks(const Shape& shape, const Torus& torus) {
  bool odd = false;
  for (int d = 0; d < torus.dimensions(); ++d) odd = odd || torus.side(d) % 2 != 0;
  return odd && shape.chunks == 1 && torus.dimensions() > 1;
}

// [vector chunk] its place in an allreduce, in which what a port sends together lies together.
std::vector<Chunk> places_in_vector(const Shape& shape, const Torus& torus, DimensionOrder order,
                                    const std::vector<int>& steps, const RingOrder& places) {
  struct Block {
    std::uint64_t key;
    Rank rank;
  };
  const int dimensions = torus.dimensions();
  std::vector<std::vector<std::uint32_t>> codes;
  codes.reserve(static_cast<std::size_t>(dimensions));
  for (int d = 0; d < dimensions; ++d) codes.push_back(places(torus.side(d)));
  std::vector<Chunk> place(static_cast<std::size_t>(shape.ranks) * static_cast<std::size_t>(shape.chunks));
  std::vector<Block> blocks(static_cast<std::size_t>(shape.ranks));
  std::vector<std::uint64_t> code(static_cast<std::size_t>(dimensions));  // of a rank's coordinates
  for (Chunk port = 0; port < shape.chunks; ++port) {
    const int first = dimensions == 0 ? 0 : port % dimensions;
    std::vector<Turn> turns = turns_of(order, steps, first);
    std::reverse(turns.begin(), turns.end());
    for (Rank rank = 0; rank < shape.ranks; ++rank) {
      for (int d = 0; d < dimensions; ++d) {
        const Rank side = torus.side(d), coordinate = torus.coordinate(rank, d);
        const Rank plain = port >= dimensions ? mirror(side, coordinate) : coordinate;
        code[static_cast<std::size_t>(d)] = codes[static_cast<std::size_t>(d)][static_cast<std::size_t>(plain)];
      }
      std::uint64_t key = 0;
      if (order == DimensionOrder::alternating) {
        for (const Turn& turn : turns)
          key = key << 1 | (code[static_cast<std::size_t>(turn.dimension)] >> turn.ring_step & 1);
      } else {
        for (int i = 0; i < dimensions; ++i) {
          const int d = (first + i) % dimensions;
          key = key << log2_ceiling(torus.side(d)) | code[static_cast<std::size_t>(d)];
        }
      }
      blocks[static_cast<std::size_t>(rank)] = {key, rank};
    }
    std::sort(blocks.begin(), blocks.end(),
              [](const Block& a, const Block& b) { return a.key != b.key ? a.key < b.key : a.rank < b.rank; });
    Chunk next = port * shape.ranks;
    for (const Block& block : blocks) {
      const Chunk chunk = block.rank * shape.chunks + port;
      place[static_cast<std::size_t>(chunk)] = next++;
    }
  }
  return place;
}

}  // namespace

Program collective_from_allgather(const Shape& shape, Step steps, const MakeAllgather& allgather) {
  const Program program =
      allgather(allgather_shape(shape), rooted(shape.collective) ? std::optional(shape.root) : std::nullopt);
  return from_allgathers(shape.collective, shape.root, &program, &program, steps);
}

Program torus_collective(const Shape& shape, Rank rank, const Torus& torus, DimensionOrder order,
                         const RingAllgather& ring, const RingOrder& places) {
  TorusAllgather whole(allgather_shape(shape), rank, torus, ring, order);
  std::vector<Chunk> place;
  if (combines_and_spreads(shape.collective) && !keeps_rank_order_of_blocks(shape, torus))
    place = places_in_vector(shape, torus, order, whole.ring_steps(), places);
  Program program = collective_from_allgather(shape, whole.steps(), [&](const Shape&, std::optional<Rank> origin) {
    if (origin) whole.only(*origin);
    return std::move(whole).run();
  });
  return place.empty() ? program : relabelled(program, place);
}

Algorithm torus_algorithm(std::string_view name, std::string_view about, DimensionOrder order, RingAllgather ring,
                          RingStepCount count, RingOrder places) {
  Algorithm row;
  row.name = name;
  row.about = about;
  row.collectives = {Collective::allgather, Collective::reduce_scatter, Collective::allreduce, Collective::bcast,
                     Collective::reduce};
  row.options = {multiport_option()};
  row.refusal = torus_refusal;
  row.chunks = chunks_for_ports;
  row.program = [order, ring = std::move(ring), places = std::move(places)](const Shape& shape, Rank rank,
                                                                            const AlgorithmOptions& options) {
    return torus_collective(shape, rank, Torus(shape, options), order, ring, places);
  };
  row.steps = [order, count](const Shape& shape, const AlgorithmOptions& options) {
    const Torus torus(shape, options);
    std::vector<int> ring_steps;
    for (int d = 0; d < torus.dimensions(); ++d) ring_steps.push_back(count(torus.side(d)));
    return steps_from_allgather(shape.collective, steps_in(order, ring_steps));
  };
  row.describe = torus_description;
  row.properties = properties_of_derived;
  row.programs_take_all_ranks = true;
  row.variants = variants_by_ports;
  return row;
}

}  // namespace colltopo
