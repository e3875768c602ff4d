// Cholesky's method by LAPACK.
#include "synthesis/interior_point/dense_system.h"

#include <algorithm>
#include <cassert>

#include <cblas.h>

#include "base/parallel.h"

// LAPACK's Fortran symbols: OpenBLAS has them all, but its package no C header for them.
extern "C" {
void dpotrf_(const char* triangle, const int* size, double* entries, const int* stride, int* fault);
void dpotrs_(const char* triangle, const int* size, const int* columns, const double* entries, const int* stride,
             double* values, const int* values_stride, int* fault);
}

namespace colltopo::synthesis {

namespace {
constexpr std::size_t k_small = 1000;  // rows up to which threads wait for each other longer than they work
}

DenseSystem::DenseSystem(std::size_t size, int threads) : size_(size), entries_(size * size) {
  openblas_set_num_threads(size <= k_small ? 1 : static_cast<int>(worker_count(threads)));
}

void DenseSystem::clear() { std::fill(entries_.begin(), entries_.end(), 0.0); }

bool DenseSystem::factor() {
  const int size = static_cast<int>(size_);
  int fault = 0;
  dpotrf_("L", &size, entries_.data(), &size, &fault);
  return fault == 0;
}

void DenseSystem::solve(std::span<double> values) const {
  assert(values.size() == size_);
  const int size = static_cast<int>(size_);
  const int one = 1;
  int fault = 0;
  dpotrs_("L", &size, &one, entries_.data(), &size, values.data(), &size, &fault);
  assert(fault == 0);
}

}  // namespace colltopo::synthesis
