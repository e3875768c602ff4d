// A linear programme: columns (variables) with bounds and costs, rows (constraints) with bounds, some columns integer.
//
// What the exact methods of Basu et al. are written in. The cost is minimised. The solver behind it is known to clp.cpp
// alone: Clp for linear programmes, Cbc where a column is an integer.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace colltopo::lp {

inline constexpr double k_infinity = std::numeric_limits<double>::infinity();

using Column = int;  // in the order in which they were added
using Row = int;

struct Term {
  Column column = 0;
  double coefficient = 0;
};

enum class Method : unsigned char { primal, dual, barrier };  // barrier crosses over to a vertex

struct SolveOptions {
  Method method = Method::primal;  // of linear programmes
  double seconds = k_infinity;
  double gap = 0;                      // of integer programmes: stop when objective <= bound * (1 + gap)
  std::span<const double> start = {};  // [column] of integer programmes: a feasible point to begin with
};

enum class Status : unsigned char { optimal, infeasible, unbounded, stopped };  // stopped: the time was up

struct Solution {
  Status status = Status::stopped;  // of an integer programme optimal means within the gap
  double objective = 0;
  double bound = -k_infinity;      // no point costs less
  std::vector<double> columns;     // the point; empty where none was found
  std::vector<double> row_prices;  // [row] change of the objective per unit of the bound that holds; linear only
};

class Model {
 public:
  Column column(double cost, double lower = 0, double upper = k_infinity);
  Column integer_column(double cost, double lower, double upper);
  void require_integer(Column column) { integers_.push_back(column); }
  /// lower <= sum of coefficient * column <= upper; every column at most once.
  Row row(double lower, double upper, std::span<const Term> terms);

  std::size_t columns() const { return cost_.size(); }
  std::size_t rows() const { return row_lower_.size(); }
  std::size_t terms() const { return terms_.size(); }

  /// Prints nothing. The same answer every time for the same model, unless the time is up.
  Solution solve(const SolveOptions& options = {}) const;

 private:
  friend class Loaded;  // the model as the solver takes it
  std::vector<double> cost_, column_lower_, column_upper_;
  std::vector<Column> integers_;
  std::vector<double> row_lower_, row_upper_;
  std::vector<Term> terms_;
  std::vector<std::size_t> first_term_{0};  // [row] into terms_, and the end
};

}  // namespace colltopo::lp
