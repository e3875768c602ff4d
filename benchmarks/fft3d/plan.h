// The plan of a distributed 3D Fourier transform for one rank: lines to transform and blocks to exchange, as plain data
// that follows from the grid alone. No MPI and no FFTW here; field.h runs it. (The structure is that of heFFTe: a pure
// function fills a plan, executors only read it.)
//
// A field of nx x ny x nz points is stored with z contiguous. Slabs: ranks share x, so y and z are transformed at home
// and one all-to-all turns x home. Pencils: rows x columns ranks share x and y; z is at home, one all-to-all within a
// row turns y home, one within a column turns x home.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace colltopo::fft3d {

enum class Decomposition { slab, pencil };
enum class Transform { c2c, r2c };
/// By MPI_Alltoall, for which all blocks must be equal, or for any grid by MPI_Alltoallv, MPI_Ialltoallv with its wait,
/// or a start and a wait of MPI_Alltoallv_init.
enum class Exchanging { alltoall, alltoallv, ialltoallv, persistent };
/// Which ranks exchange: all, those with the same x (a row of the process grid), those with the same y or z (a column).
enum class Group { all, row, column };

struct Grid {
  std::size_t nx = 0;
  std::size_t ny = 0;
  std::size_t nz = 0;
};

struct ProcessGrid {
  int rows = 0;     // share x
  int columns = 0;  // share y (and z after the first exchange); 1 with slabs
};

/// Copies a box: element (i,j,k) at i*from[0]+j*from[1]+k*from[2] goes to i*to[0]+j*to[1]+k*to[2].
struct BoxCopy {
  std::array<std::size_t, 3> extents{};
  std::array<std::size_t, 3> from{};
  std::array<std::size_t, 3> to{};
};

/// Lines along one axis: `length` elements `stride` apart; one line for each pair of steps of the two loops.
struct Lines {
  std::size_t length = 0;
  std::size_t stride = 0;
  std::array<std::size_t, 2> loop_count{};
  std::array<std::size_t, 2> loop_stride{};
};

/// What goes to a peer, or comes from it: a box of the local array and a block of the message buffer.
struct Part {
  BoxCopy copy;           // between the box's first point and the block
  std::size_t local = 0;  // where the box begins
  std::size_t block = 0;  // where the block begins
  std::size_t size = 0;   // complex numbers
};

/// An all-to-all between a packing and an unpacking copy per peer.
struct Exchange {
  Group group = Group::all;
  std::vector<Part> sent, received;  // [peer]; blocks follow each other
};

/// The same exchange the other way round.
Exchange reversed(const Exchange& exchange);

struct Stage {
  enum class Action { lines, exchange } action = Action::lines;
  Lines lines;
  Exchange exchange;
};

struct Plan {
  Grid grid;
  Transform transform = Transform::c2c;
  ProcessGrid processes;
  std::array<std::size_t, 3> first{};             // x, y, z of this rank's first point of the field
  std::array<std::size_t, 3> extents{};           // of its part of the field
  std::size_t line_length = 0;                    // complex numbers that a transformed z line takes, with padding
  std::vector<Stage> stages;                      // after the z lines, forward
  std::array<std::size_t, 3> spectrum_first{};    // y, z, x: the spectrum has x contiguous
  std::array<std::size_t, 3> spectrum_extents{};  // y, z, x; z with padding
  std::size_t storage = 0;                        // complex numbers that any stage needs
};

/// How many z frequencies there are: nz, or nz/2+1 of a real field.
std::size_t frequencies(const Grid& grid, Transform transform);

/// The process grid nearest to a square that divides the field, or, with alltoallv, leaves nobody without points;
/// `asked` with rows 0 leaves the choice. Throws std::invalid_argument saying which side is not divided by what.
ProcessGrid process_grid(const Grid& grid, Decomposition decomposition, int ranks, ProcessGrid asked,
                         Exchanging exchanging);

Plan plan_for(const Grid& grid, Transform transform, Decomposition decomposition, ProcessGrid processes,
              Exchanging exchanging, int rank);

}  // namespace colltopo::fft3d
