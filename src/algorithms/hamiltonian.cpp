// Ring collectives on Hamiltonian cycles of a 2-D torus (De Sensi et al. 2024, 2.3.1; Hoefler et al. 2022).
//
// An r x c torus with r = k c has two cycles without a common link when gcd(r, c - 1) = 1. The first goes along each
// row and down a column at its end, one column earlier in every row; it closes because c divides r. The second is what
// is left: down a column for c - 1 links, then one row link to the right. Its r stretches start at rows that are c - 1
// apart, so it passes through all of them exactly when gcd(r, c - 1) = 1. A ring in each direction on each cycle uses
// every port. A ring of ranks has one cycle. Links between the same two nodes of a side of 2 count as two.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "algorithms/from_allgather.h"
#include "algorithms/properties.h"
#include "algorithms/table.h"
#include "algorithms/torus_allgather.h"

namespace colltopo {

namespace {

bool has_two_cycles(Rank rows, Rank columns) { return rows % columns == 0 && std::gcd(rows, columns - 1) == 1; }

// Hamiltonian cycles without a common link; one when there is a single port.
std::vector<std::vector<Rank>> cycles_of(const Torus& torus, Rank ranks, bool multiport) {
  std::vector<Rank> first(static_cast<std::size_t>(ranks)), second;
  std::iota(first.begin(), first.end(), 0);
  if (torus.dimensions() < 2) return {first};

  const int down = has_two_cycles(torus.side(0), torus.side(1)) ? 0 : 1;
  const Rank rows = torus.side(down), columns = torus.side(1 - down);
  const auto at = [&](Rank row, Rank column) {
    return row % rows * torus.stride(down) + column % columns * torus.stride(1 - down);
  };
  for (Rank i = 0; i < ranks; ++i) {
    const Rank row = i / columns, along = i % columns;
    first[static_cast<std::size_t>(i)] = at(row, along + rows - row);  // rows is a multiple of columns
  }
  if (!multiport) return {first};
  for (Rank stretch = 0, row = 0; stretch < rows; ++stretch, row = (row + columns - 1) % rows) {
    for (Rank i = 0; i < columns; ++i) second.push_back(at(row + i, stretch));
  }
  return {first, second};
}

std::string hamiltonian_refusal(const Shape& shape, const AlgorithmOptions& options) {
  if (std::string refusal = torus_refusal(shape, options); !refusal.empty()) return refusal;
  const Torus torus(shape, options);
  const std::string sides = fmt::format("{}", fmt::join(options.dimensions, "x"));
  if (torus.dimensions() > 2) {
    return fmt::format("dimensions {}: Hamiltonian cycles that share no link are made on rings and 2-D tori only",
                       sides);
  }
  if (torus.dimensions() == 2 && !has_two_cycles(torus.side(0), torus.side(1)) &&
      !has_two_cycles(torus.side(1), torus.side(0))) {
    return fmt::format(
        "dimensions {}: two Hamiltonian cycles that share no link need one side r to be a multiple of the other side c "
        "with gcd(r, c - 1) = 1",
        sides);
  }
  return {};
}

// Port k goes forward on cycle k; the ports of the second half go backward.
Program hamiltonian(const Shape& shape, Rank rank, const AlgorithmOptions& options) {
  const auto cycles = cycles_of(Torus(shape, options), shape.ranks, shape.chunks > 1);
  const auto count = static_cast<Chunk>(cycles.size());
  const Rank ranks = shape.ranks;
  std::vector<Rank> places;
  places.reserve(cycles.size());
  for (const auto& cycle : cycles) {
    places.push_back(static_cast<Rank>(std::find(cycle.begin(), cycle.end(), rank) - cycle.begin()));
  }
  return collective_from_allgather(shape, ranks - 1, [&](const Shape& gather, std::optional<Rank> origin) {
    const auto block = [&](Rank owner, Chunk port) {
      if (owner == rank) return Runs{{Buffer::input, port, 1}};
      return Runs{{Buffer::output, owner * gather.chunks + port, 1}};
    };
    ProgramBuilder program(gather, rank);
    program.copy({{Buffer::input, 0, gather.chunks}}, {{Buffer::output, rank * gather.chunks, gather.chunks}});
    for (Step step = 1; step < ranks; ++step) {
      program.step(step);
      for (Chunk port = 0; port < gather.chunks; ++port) {
        const auto& cycle = cycles[static_cast<std::size_t>(port % count)];
        const Rank place = places[static_cast<std::size_t>(port % count)];
        const Rank forward = port < count ? 1 : ranks - 1;
        const auto ahead = [&](Rank steps) {
          return cycle[static_cast<std::size_t>((place + std::int64_t{steps} * forward) % ranks)];
        };
        const Rank sent = ahead(ranks - step + 1), received = ahead(ranks - step);
        if (!origin || sent == *origin) program.send(block(sent, port), ahead(1), port);
        if (!origin || received == *origin) program.recv(block(received, port), ahead(ranks - 1), port);
      }
    }
    return std::move(program).build();
  });
}

}  // namespace

Algorithm hamiltonian_algorithm() {
  Algorithm row;
  row.name = "hamiltonian";
  row.about = "rings on edge-disjoint Hamiltonian cycles of a 2-D torus (De Sensi et al. 2024, 2.3.1)";
  row.collectives = {Collective::allgather, Collective::reduce_scatter, Collective::allreduce, Collective::bcast,
                     Collective::reduce};
  row.options = {multiport_option()};
  row.refusal = hamiltonian_refusal;
  row.chunks = chunks_for_ports;
  row.program = hamiltonian;
  row.programs_take_all_ranks = true;
  row.steps = [](const Shape& shape, const AlgorithmOptions&) {
    return steps_from_allgather(shape.collective, shape.ranks - 1);
  };
  row.describe = torus_description;
  row.properties = properties_of_derived;
  row.variants = variants_by_ports;
  row.repeats = [](const Shape& shape, const AlgorithmOptions& given) {  // ring, which has no root
    return !rooted(shape.collective) && is_plain_ring(given);
  };
  return row;
}

}  // namespace colltopo
