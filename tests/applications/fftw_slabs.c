/* A 3D transform in slabs of which the last is thinner, by FFTW and the transpositions of its MPI library, which are
 * MPI_Alltoallv.
 *
 *   fftw_slabs ITERATIONS
 *
 * The values are powers r^x s^y t^z of complex numbers, whose coefficients are geometric series: neither has any near
 * zero, which could be lost unseen. Prints the largest errors of the coefficients and, forward and back, of the values,
 * the largest of which is 1; and the seconds of all iterations of the slowest rank. */
#include <complex.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ptrdiff_t sides[3] = {61, 53, 50}; /* planes on 4 ranks: 16, 16, 16, 13; turned round: 14, 14, 14, 11 */
static const double complex bases[3] = {0.98 + 0.1 * I, 0.96 - 0.2 * I, 0.97 + 0.15 * I};

/* Along the sides: powers[side][x], and their transforms over points, coefficients_of[side][k]. */
enum { longest = 61 };
static double complex powers[3][longest], coefficients_of[3][longest];

static void fill_tables(void) {
  for (int side = 0; side < 3; ++side) {
    const double n = (double)sides[side];
    for (int k = 0; k < sides[side]; ++k) {
      powers[side][k] = cpow(bases[side], k);
      coefficients_of[side][k] = (1 - cpow(bases[side], n)) / (1 - bases[side] * cexp(-2 * acos(-1.0) * I * k / n)) / n;
    }
  }
}

static double complex at_point(double complex tables[3][longest], ptrdiff_t x, ptrdiff_t y, ptrdiff_t z) {
  return tables[0][x] * tables[1][y] * tables[2][z];
}

/* The planes of all ranks turned round, from [x][y][z] to [y][x][z] or back. FFTW measures MPI_Alltoallv against
 * messages of its own, and either may win; what is looked for is a plan with the first. */
static fftw_plan turned(ptrdiff_t from_side, ptrdiff_t to_side, fftw_complex* from, fftw_complex* to) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    fftw_plan found =
        fftw_mpi_plan_many_transpose(from_side, to_side, 2 * sides[2], FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK,
                                     (double*)from, (double*)to, MPI_COMM_WORLD, FFTW_MEASURE | FFTW_DESTROY_INPUT);
    char* text = fftw_sprint_plan(found);
    const int has_call = strstr(text, "alltoall") != NULL;
    free(text);
    if (has_call) return found;
    fftw_destroy_plan(found);
    fftw_forget_wisdom();
  }
  fprintf(stderr, "fftw_slabs: no plan of 100 calls MPI_Alltoallv; on 2 ranks and more some do\n");
  MPI_Abort(MPI_COMM_WORLD, 1);
  return NULL;
}

/* In place: y and z of every plane; and of one plane that was turned round, x. */
static fftw_plan planes_yz(ptrdiff_t planes, fftw_complex* data, int sign) {
  const int n[2] = {(int)sides[1], (int)sides[2]};
  return fftw_plan_many_dft(2, n, (int)planes, data, NULL, 1, n[0] * n[1], data, NULL, 1, n[0] * n[1], sign,
                            FFTW_ESTIMATE);
}

static fftw_plan lines_x(fftw_complex* data, int sign) {
  const int n[1] = {(int)sides[0]}, z = (int)sides[2];
  return fftw_plan_many_dft(1, n, z, data, NULL, z, 1, data, NULL, z, 1, sign, FFTW_ESTIMATE | FFTW_UNALIGNED);
}

int main(int argc, char** argv) {
  const int iterations = argc > 1 ? atoi(argv[1]) : 10;
  const double points = (double)(sides[0] * sides[1] * sides[2]);
  double errors[3] = {0, 0, 0}, largest[3]; /* of the coefficients, of the values; seconds */
  ptrdiff_t planes, first, turned_planes, first_turned;
  int rank;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fftw_mpi_init();
  fill_tables();
  const ptrdiff_t room = fftw_mpi_local_size_3d_transposed(sides[0], sides[1], sides[2], MPI_COMM_WORLD, &planes,
                                                           &first, &turned_planes, &first_turned);
  fftw_complex *values = fftw_alloc_complex((size_t)room), *coefficients = fftw_alloc_complex((size_t)room);
  fftw_plan turn = turned(sides[0], sides[1], values, coefficients);
  fftw_plan turn_back = turned(sides[1], sides[0], coefficients, values);
  fftw_plan yz = planes_yz(planes, values, FFTW_FORWARD), yz_back = planes_yz(planes, values, FFTW_BACKWARD);
  fftw_plan x_lines = lines_x(coefficients, FFTW_FORWARD), x_lines_back = lines_x(coefficients, FFTW_BACKWARD);

  for (int iteration = 0; iteration < iterations; ++iteration) {
    fftw_complex* at = values;
    for (ptrdiff_t x = first; x < first + planes; ++x)
      for (ptrdiff_t y = 0; y < sides[1]; ++y)
        for (ptrdiff_t z = 0; z < sides[2]; ++z) *at++ = at_point(powers, x, y, z);
    MPI_Barrier(MPI_COMM_WORLD);
    errors[2] -= MPI_Wtime();
    fftw_execute(yz);
    fftw_execute(turn);
    for (ptrdiff_t y = 0; y < turned_planes; ++y) {
      fftw_complex* plane = coefficients + y * sides[0] * sides[2];
      fftw_execute_dft(x_lines, plane, plane);
    }
    errors[2] += MPI_Wtime();
    at = coefficients;
    for (ptrdiff_t y = first_turned; y < first_turned + turned_planes; ++y)
      for (ptrdiff_t x = 0; x < sides[0]; ++x)
        for (ptrdiff_t z = 0; z < sides[2]; ++z)
          errors[0] = fmax(errors[0], cabs(*at++ / points - at_point(coefficients_of, x, y, z)));
    MPI_Barrier(MPI_COMM_WORLD);
    errors[2] -= MPI_Wtime();
    for (ptrdiff_t y = 0; y < turned_planes; ++y) {
      fftw_complex* plane = coefficients + y * sides[0] * sides[2];
      fftw_execute_dft(x_lines_back, plane, plane);
    }
    fftw_execute(turn_back);
    fftw_execute(yz_back);
    errors[2] += MPI_Wtime();
    at = values;
    for (ptrdiff_t x = first; x < first + planes; ++x)
      for (ptrdiff_t y = 0; y < sides[1]; ++y)
        for (ptrdiff_t z = 0; z < sides[2]; ++z)
          errors[1] = fmax(errors[1], cabs(*at++ / points - at_point(powers, x, y, z)));
  }
  MPI_Reduce(errors, largest, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("coefficients %.3g\nvalues %.3g\nseconds %.6f\n", largest[0], largest[1], largest[2]);
  fftw_plan plans[] = {turn, turn_back, yz, yz_back, x_lines, x_lines_back};
  for (size_t i = 0; i < sizeof plans / sizeof plans[0]; ++i) fftw_destroy_plan(plans[i]);
  fftw_free(values);
  fftw_free(coefficients);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return 0;
}
