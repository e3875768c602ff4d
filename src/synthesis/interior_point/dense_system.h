// A dense symmetric positive definite system of equations, factored by LAPACK (OpenBLAS).
#pragma once

#include <span>
#include <vector>

namespace colltopo::synthesis {

class DenseSystem {
 public:
  /// Threads for factoring: 0 = all.
  DenseSystem(std::size_t size, int threads);

  void clear();
  /// Entry of the lower triangle: row >= column.
  double& at(std::size_t row, std::size_t column) { return entries_[column * size_ + row]; }
  /// Overwrites the entries by their Cholesky factor; false when they are not positive definite to rounding.
  bool factor();
  /// After factor(): replaces `values` by the solution of K solution = values.
  void solve(std::span<double> values) const;

 private:
  std::size_t size_;
  std::vector<double> entries_;  // by columns
};

}  // namespace colltopo::synthesis
