#include "plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace colltopo::fft3d {

namespace {

BoxCopy reversed(const BoxCopy& copy) { return {copy.extents, copy.to, copy.from}; }

std::string obstacle(std::size_t points, const char* axis, int ranks) {
  if (points % static_cast<std::size_t>(ranks) == 0) return {};
  return fmt::format("{} = {} points do not divide by {} ranks", axis, points, ranks);
}

// Of z nothing is asked: its frequencies are padded to a multiple of the columns.
std::string obstacle(const Grid& grid, ProcessGrid processes) {
  for (const std::string& text : {obstacle(grid.nx, "x", processes.rows), obstacle(grid.ny, "y", processes.rows),
                                  obstacle(grid.ny, "y", processes.columns)})
    if (!text.empty()) return text;
  return {};
}

Stage stage(const Lines& lines) { return {Stage::Action::lines, lines, {}}; }
Stage stage(const Exchange& exchange) { return {Stage::Action::exchange, {}, exchange}; }

// Local arrays: [x][y][z] before, [y][z][x] after.
std::vector<Stage> slab_stages(const Grid& grid, std::size_t nz, std::size_t ranks) {
  const std::size_t x_here = grid.nx / ranks;
  const std::size_t y_here = grid.ny / ranks;

  const Lines along_y = {grid.ny, nz, {x_here, nz}, {grid.ny * nz, 1}};
  Exchange turn{Group::all, ranks, x_here * y_here * nz, {}, y_here * nz, {}, x_here};
  turn.pack = {{x_here, y_here, nz}, {grid.ny * nz, nz, 1}, {y_here * nz, nz, 1}};
  turn.unpack = {{x_here, y_here, nz}, {y_here * nz, nz, 1}, {1, nz * grid.nx, grid.nx}};
  const Lines along_x = {grid.nx, 1, {y_here, nz}, {nz * grid.nx, grid.nx}};
  return {stage(along_y), stage(turn), stage(along_x)};
}

// Local arrays: [x][y][z] before, [x][z][y] between, [y][z][x] after.
std::vector<Stage> pencil_stages(const Grid& grid, std::size_t nz, std::size_t rows, std::size_t columns) {
  const std::size_t x_here = grid.nx / rows;
  const std::size_t y_first = grid.ny / columns;  // y points here before
  const std::size_t y_last = grid.ny / rows;      // and after
  const std::size_t z_here = nz / columns;

  Exchange in_row{Group::row, columns, x_here * y_first * z_here, {}, z_here, {}, y_first};
  in_row.pack = {{x_here, y_first, z_here}, {y_first * nz, nz, 1}, {y_first * z_here, z_here, 1}};
  in_row.unpack = {{x_here, y_first, z_here}, {y_first * z_here, z_here, 1}, {z_here * grid.ny, 1, grid.ny}};
  const Lines along_y = {grid.ny, 1, {x_here, z_here}, {z_here * grid.ny, grid.ny}};
  Exchange in_column{Group::column, rows, x_here * z_here * y_last, {}, y_last, {}, x_here};
  in_column.pack = {{x_here, z_here, y_last}, {z_here * grid.ny, grid.ny, 1}, {z_here * y_last, y_last, 1}};
  in_column.unpack = {{x_here, z_here, y_last}, {z_here * y_last, y_last, 1}, {1, grid.nx, z_here * grid.nx}};
  const Lines along_x = {grid.nx, 1, {y_last, z_here}, {z_here * grid.nx, grid.nx}};
  return {stage(in_row), stage(along_y), stage(in_column), stage(along_x)};
}

}  // namespace

Exchange reversed(const Exchange& exchange) {
  Exchange back = exchange;
  back.pack = reversed(exchange.unpack);
  back.pack_step = exchange.unpack_step;
  back.unpack = reversed(exchange.pack);
  back.unpack_step = exchange.pack_step;
  return back;
}

std::size_t frequencies(const Grid& grid, Transform transform) {
  return transform == Transform::r2c ? grid.nz / 2 + 1 : grid.nz;
}

ProcessGrid process_grid(const Grid& grid, Decomposition decomposition, int ranks, ProcessGrid asked) {
  if (decomposition == Decomposition::slab) asked = {ranks, 1};
  if (asked.rows != 0) {
    if (asked.rows * asked.columns != ranks)
      throw std::invalid_argument(
          fmt::format("a process grid of {}x{} is not {} ranks", asked.rows, asked.columns, ranks));
    if (const std::string why = obstacle(grid, asked); !why.empty())
      throw std::invalid_argument(fmt::format("grid {}x{}x{}: {}", grid.nx, grid.ny, grid.nz, why));
    return asked;
  }
  std::string tried;
  for (int rows = ranks; rows >= 1; --rows) {
    if (ranks % rows != 0 || rows > ranks / rows) continue;
    for (const ProcessGrid candidate : {ProcessGrid{rows, ranks / rows}, ProcessGrid{ranks / rows, rows}}) {
      const std::string why = obstacle(grid, candidate);
      if (why.empty()) return candidate;
      tried += fmt::format("{}{}x{}: {}", tried.empty() ? "" : "; ", candidate.rows, candidate.columns, why);
    }
  }
  throw std::invalid_argument(
      fmt::format("grid {}x{}x{} has no pencils for {} ranks ({})", grid.nx, grid.ny, grid.nz, ranks, tried));
}

Plan plan_for(const Grid& grid, Transform transform, Decomposition decomposition, ProcessGrid processes, int rank) {
  const auto rows = static_cast<std::size_t>(processes.rows);
  const auto columns = static_cast<std::size_t>(processes.columns);
  const std::size_t row = static_cast<std::size_t>(rank) / columns;
  const std::size_t column = static_cast<std::size_t>(rank) % columns;

  Plan plan;
  plan.grid = grid;
  plan.transform = transform;
  plan.processes = processes;
  plan.extents = {grid.nx / rows, grid.ny / columns, grid.nz};
  plan.first = {row * plan.extents[0], column * plan.extents[1], 0};
  // Equal blocks for MPI_Alltoall: nz/2+1 frequencies seldom divide, so empty ones are added.
  const std::size_t nz = (frequencies(grid, transform) + columns - 1) / columns * columns;
  plan.line_length = nz;
  plan.spectrum_extents = {grid.ny / rows, nz / columns, grid.nx};
  plan.spectrum_first = {row * plan.spectrum_extents[0], column * plan.spectrum_extents[1], 0};
  plan.stages =
      decomposition == Decomposition::slab ? slab_stages(grid, nz, rows) : pencil_stages(grid, nz, rows, columns);
  // Every stage holds the same points in another order.
  plan.storage = plan.extents[0] * plan.extents[1] * nz;
  return plan;
}

}  // namespace colltopo::fft3d
