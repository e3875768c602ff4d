#include "verify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace colltopo::fft3d {

namespace {

constexpr int k_tag = 1;

// A number in -1..1 for each part of each point: no symmetry for a wrong permutation to hide in.
double value_at(std::size_t x, std::size_t y, std::size_t z, std::uint64_t part) {
  std::uint64_t bits = x * 0x9E3779B97F4A7C15U + y * 0xC2B2AE3D27D4EB4FU + z * 0x165667B19E3779F9U + part;
  bits ^= bits >> 29;
  bits *= 0xBF58476D1CE4E5B9U;
  bits ^= bits >> 32;
  bits *= 0x94D049BB133111EBU;
  return static_cast<double>(bits >> 11) * 0x1.0p-52 - 1.0;
}

using Box = std::array<std::uint64_t, 6>;  // first and extents along y, z, x

Box spectrum_box(const Plan& plan) {
  Box box{};
  std::copy(plan.spectrum_first.begin(), plan.spectrum_first.end(), box.begin());
  std::copy(plan.spectrum_extents.begin(), plan.spectrum_extents.end(), box.begin() + 3);
  return box;
}

// The whole spectrum by FFTW alone, [x][y][z].
std::vector<Complex> serial_spectrum(const Grid& grid, Transform transform) {
  const std::size_t points = grid.nx * grid.ny * grid.nz;
  const std::size_t nz = frequencies(grid, transform);
  const std::size_t parts = transform == Transform::r2c ? 1 : 2;
  std::vector<double> field(points * parts);
  for (std::size_t point = 0; point < points; ++point)
    for (std::size_t part = 0; part < parts; ++part)
      field[point * parts + part] =
          value_at(point / (grid.ny * grid.nz), point / grid.nz % grid.ny, point % grid.nz, part);

  std::vector<Complex> spectrum(grid.nx * grid.ny * nz);
  const auto side = [](std::size_t points_along) { return static_cast<int>(points_along); };
  auto* out = reinterpret_cast<fftw_complex*>(spectrum.data());
  const fftw_plan plan =
      transform == Transform::r2c
          ? fftw_plan_dft_r2c_3d(side(grid.nx), side(grid.ny), side(grid.nz), field.data(), out, FFTW_ESTIMATE)
          : fftw_plan_dft_3d(side(grid.nx), side(grid.ny), side(grid.nz), reinterpret_cast<fftw_complex*>(field.data()),
                             out, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return spectrum;
}

double largest_difference(const Box& box, std::span<const Complex> part, const Grid& grid, std::size_t nz,
                          const std::vector<Complex>& serial) {
  double largest = 0;
  const auto [y0, z0, x0, y_count, z_count, x_count] = box;
  for (std::size_t y = 0; y < y_count; ++y)
    for (std::size_t z = 0; z < z_count && z0 + z < nz; ++z)
      for (std::size_t x = 0; x < x_count; ++x) {
        const Complex expected = serial[((x0 + x) * grid.ny + y0 + y) * nz + z0 + z];
        const double difference = std::abs(part[(y * z_count + z) * x_count + x] - expected);
        // A comparison with NaN is false: it must not pass for a small difference.
        if (!(difference <= largest))
          largest = std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
      }
  return largest;
}

double spectrum_error(const Distributed& transform, MPI_Comm comm) {
  const Plan& plan = transform.plan();
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const Box mine = spectrum_box(plan);
  const auto points = [](const Box& box) { return static_cast<std::size_t>(box[3] * box[4] * box[5]); };
  if (rank != 0) {
    MPI_Send(mine.data(), static_cast<int>(mine.size()), MPI_UINT64_T, 0, k_tag, comm);
    MPI_Send(transform.spectrum().data(), static_cast<int>(points(mine)), MPI_C_DOUBLE_COMPLEX, 0, k_tag, comm);
    return 0;
  }
  const std::vector<Complex> serial = serial_spectrum(plan.grid, plan.transform);
  const std::size_t nz = frequencies(plan.grid, plan.transform);
  double scale = 0;
  for (const Complex& value : serial) scale = std::max(scale, std::abs(value));
  double largest = largest_difference(mine, transform.spectrum(), plan.grid, nz, serial);
  std::vector<Complex> part;
  for (int from = 1; from < ranks; ++from) {
    Box box{};
    MPI_Recv(box.data(), static_cast<int>(box.size()), MPI_UINT64_T, from, k_tag, comm, MPI_STATUS_IGNORE);
    part.resize(points(box));
    MPI_Recv(part.data(), static_cast<int>(points(box)), MPI_C_DOUBLE_COMPLEX, from, k_tag, comm, MPI_STATUS_IGNORE);
    largest = std::max(largest, largest_difference(box, part, plan.grid, nz, serial));
  }
  return largest / scale;
}

}  // namespace

void fill_field(Distributed& transform) {
  const Plan& plan = transform.plan();
  const std::size_t parts = plan.transform == Transform::r2c ? 1 : 2;
  double* to = transform.field().data();
  for (std::size_t x = 0; x < plan.extents[0]; ++x)
    for (std::size_t y = 0; y < plan.extents[1]; ++y)
      for (std::size_t z = 0; z < plan.extents[2]; ++z)
        for (std::size_t part = 0; part < parts; ++part)
          *to++ = value_at(plan.first[0] + x, plan.first[1] + y, plan.first[2] + z, part);
}

Errors verify(Distributed& transform, MPI_Comm comm) {
  fill_field(transform);
  const std::vector<double> before(transform.field().begin(), transform.field().end());
  transform.forward();
  Errors errors;
  errors.spectrum = spectrum_error(transform, comm);
  transform.backward();
  const Grid& grid = transform.plan().grid;
  const auto points = static_cast<double>(grid.nx * grid.ny * grid.nz);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double difference = std::abs(transform.field()[i] / points - before[i]);
    if (!(difference <= errors.round_trip))
      errors.round_trip = std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
  }
  MPI_Allreduce(MPI_IN_PLACE, &errors.round_trip, 1, MPI_DOUBLE, MPI_MAX, comm);
  MPI_Bcast(&errors.spectrum, 1, MPI_DOUBLE, 0, comm);
  return errors;
}

double tolerance(const Grid& grid) {
  const auto points = static_cast<double>(grid.nx * grid.ny * grid.nz);
  return 10 * std::numeric_limits<double>::epsilon() * std::max(1.0, std::log2(points));
}

}  // namespace colltopo::fft3d
