#include "plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace colltopo::fft3d {

namespace {

BoxCopy reversed(const BoxCopy& copy) { return {copy.extents, copy.to, copy.from}; }

std::string obstacle(std::size_t points, const char* axis, int ranks, Exchanging exchanging) {
  const auto parts = static_cast<std::size_t>(ranks);
  if (exchanging != Exchanging::alltoall ? points >= parts : points % parts == 0) return {};
  if (exchanging != Exchanging::alltoall)
    return fmt::format("{} = {} points are less than {} ranks", axis, points, ranks);
  return fmt::format("{} = {} points do not divide by {} ranks", axis, points, ranks);
}

// Of z nothing is asked with equal blocks: its frequencies are padded to a multiple of the columns.
std::string obstacle(const Grid& grid, ProcessGrid processes, Exchanging exchanging) {
  for (const std::string& text :
       {obstacle(grid.nx, "x", processes.rows, exchanging), obstacle(grid.ny, "y", processes.rows, exchanging),
        obstacle(grid.ny, "y", processes.columns, exchanging)})
    if (!text.empty()) return text;
  return {};
}

/// Points of one part of a side.
struct Share {
  std::size_t first, count;
};

Share share(std::size_t points, std::size_t parts, std::size_t part) {
  const auto begin = [&](std::size_t i) { return i * (points / parts) + std::min(i, points % parts); };
  return {begin(part), begin(part + 1) - begin(part)};
}

/// Blocks of all peers in a row: part(peer) gives copy and place.
template <typename MakePart>
std::vector<Part> parts_of(std::size_t peers, const MakePart& part) {
  std::vector<Part> parts;
  std::size_t end = 0;
  for (std::size_t peer = 0; peer < peers; ++peer) {
    parts.push_back(part(peer));
    Part& last = parts.back();
    last.block = end;
    last.size = last.copy.extents[0] * last.copy.extents[1] * last.copy.extents[2];
    end += last.size;
  }
  return parts;
}

Stage stage(const Lines& lines) { return {Stage::Action::lines, lines, {}}; }
Stage stage(const Exchange& exchange) { return {Stage::Action::exchange, {}, exchange}; }

// Local arrays: [x][y][z] before, [y][z][x] after.
std::vector<Stage> slab_stages(const Grid& grid, std::size_t nz, std::size_t ranks, std::size_t rank) {
  const std::size_t x_here = share(grid.nx, ranks, rank).count, y_here = share(grid.ny, ranks, rank).count;

  const Lines along_y = {grid.ny, nz, {x_here, nz}, {grid.ny * nz, 1}};
  Exchange turn{Group::all, {}, {}};
  turn.sent = parts_of(ranks, [&](std::size_t peer) {
    const Share y = share(grid.ny, ranks, peer);
    return Part{{{x_here, y.count, nz}, {grid.ny * nz, nz, 1}, {y.count * nz, nz, 1}}, y.first * nz};
  });
  turn.received = parts_of(ranks, [&](std::size_t peer) {
    const Share x = share(grid.nx, ranks, peer);
    return Part{{{x.count, y_here, nz}, {y_here * nz, nz, 1}, {1, nz * grid.nx, grid.nx}}, x.first};
  });
  const Lines along_x = {grid.nx, 1, {y_here, nz}, {nz * grid.nx, grid.nx}};
  return {stage(along_y), stage(turn), stage(along_x)};
}

// Local arrays: [x][y][z] before, [x][z][y] between, [y][z][x] after.
std::vector<Stage> pencil_stages(const Grid& grid, std::size_t nz, std::size_t rows, std::size_t columns,
                                 std::size_t row, std::size_t column) {
  const std::size_t x_here = share(grid.nx, rows, row).count;
  const std::size_t y_first = share(grid.ny, columns, column).count;  // y points here before
  const std::size_t y_last = share(grid.ny, rows, row).count;         // and after
  const std::size_t z_here = share(nz, columns, column).count;

  Exchange in_row{Group::row, {}, {}};
  in_row.sent = parts_of(columns, [&](std::size_t peer) {
    const Share z = share(nz, columns, peer);
    return Part{{{x_here, y_first, z.count}, {y_first * nz, nz, 1}, {y_first * z.count, z.count, 1}}, z.first};
  });
  in_row.received = parts_of(columns, [&](std::size_t peer) {
    const Share y = share(grid.ny, columns, peer);
    return Part{{{x_here, y.count, z_here}, {y.count * z_here, z_here, 1}, {z_here * grid.ny, 1, grid.ny}}, y.first};
  });
  const Lines along_y = {grid.ny, 1, {x_here, z_here}, {z_here * grid.ny, grid.ny}};
  Exchange in_column{Group::column, {}, {}};
  in_column.sent = parts_of(rows, [&](std::size_t peer) {
    const Share y = share(grid.ny, rows, peer);
    return Part{{{x_here, z_here, y.count}, {z_here * grid.ny, grid.ny, 1}, {z_here * y.count, y.count, 1}}, y.first};
  });
  in_column.received = parts_of(rows, [&](std::size_t peer) {
    const Share x = share(grid.nx, rows, peer);
    return Part{{{x.count, z_here, y_last}, {z_here * y_last, y_last, 1}, {1, grid.nx, z_here * grid.nx}}, x.first};
  });
  const Lines along_x = {grid.nx, 1, {y_last, z_here}, {z_here * grid.nx, grid.nx}};
  return {stage(in_row), stage(along_y), stage(in_column), stage(along_x)};
}

}  // namespace

Exchange reversed(const Exchange& exchange) {
  Exchange back{exchange.group, exchange.received, exchange.sent};
  for (auto* parts : {&back.sent, &back.received})
    for (Part& part : *parts) part.copy = reversed(part.copy);
  return back;
}

std::size_t frequencies(const Grid& grid, Transform transform) {
  return transform == Transform::r2c ? grid.nz / 2 + 1 : grid.nz;
}

ProcessGrid process_grid(const Grid& grid, Decomposition decomposition, int ranks, ProcessGrid asked,
                         Exchanging exchanging) {
  if (decomposition == Decomposition::slab) asked = {ranks, 1};
  if (asked.rows != 0) {
    if (asked.rows * asked.columns != ranks)
      throw std::invalid_argument(
          fmt::format("a process grid of {}x{} is not {} ranks", asked.rows, asked.columns, ranks));
    if (const std::string why = obstacle(grid, asked, exchanging); !why.empty())
      throw std::invalid_argument(fmt::format("grid {}x{}x{}: {}", grid.nx, grid.ny, grid.nz, why));
    return asked;
  }
  std::string tried;
  for (int rows = ranks; rows >= 1; --rows) {
    if (ranks % rows != 0 || rows > ranks / rows) continue;
    for (const ProcessGrid candidate : {ProcessGrid{rows, ranks / rows}, ProcessGrid{ranks / rows, rows}}) {
      const std::string why = obstacle(grid, candidate, exchanging);
      if (why.empty()) return candidate;
      tried += fmt::format("{}{}x{}: {}", tried.empty() ? "" : "; ", candidate.rows, candidate.columns, why);
    }
  }
  throw std::invalid_argument(
      fmt::format("grid {}x{}x{} has no pencils for {} ranks ({})", grid.nx, grid.ny, grid.nz, ranks, tried));
}

Plan plan_for(const Grid& grid, Transform transform, Decomposition decomposition, ProcessGrid processes,
              Exchanging exchanging, int rank) {
  const auto rows = static_cast<std::size_t>(processes.rows);
  const auto columns = static_cast<std::size_t>(processes.columns);
  const std::size_t row = static_cast<std::size_t>(rank) / columns;
  const std::size_t column = static_cast<std::size_t>(rank) % columns;

  Plan plan;
  plan.grid = grid;
  plan.transform = transform;
  plan.processes = processes;
  const Share x = share(grid.nx, rows, row), y = share(grid.ny, columns, column);
  plan.extents = {x.count, y.count, grid.nz};
  plan.first = {x.first, y.first, 0};
  // Equal blocks for MPI_Alltoall: nz/2+1 frequencies seldom divide, so empty ones are added.
  const std::size_t padding = exchanging == Exchanging::alltoall ? columns : 1;
  const std::size_t nz = (frequencies(grid, transform) + padding - 1) / padding * padding;
  plan.line_length = nz;
  const Share spectrum_y = share(grid.ny, rows, row), spectrum_z = share(nz, columns, column);
  plan.spectrum_extents = {spectrum_y.count, spectrum_z.count, grid.nx};
  plan.spectrum_first = {spectrum_y.first, spectrum_z.first, 0};
  const bool slabs = decomposition == Decomposition::slab;
  plan.stages = slabs ? slab_stages(grid, nz, rows, row) : pencil_stages(grid, nz, rows, columns, row, column);
  // The points of each stage, in other orders; as many in all of them where blocks are equal.
  plan.storage = std::max(
      {x.count * y.count * nz, x.count * grid.ny * spectrum_z.count, spectrum_y.count * spectrum_z.count * grid.nx});
  return plan;
}

}  // namespace colltopo::fft3d
