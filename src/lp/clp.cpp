// The solvers behind lp::Model: Clp for linear programmes, Cbc (over Clp) for integer ones.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <CbcModel.hpp>
#include <CbcSolver.hpp>
#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>

#include "lp/model.h"

namespace colltopo::lp {

namespace {

// Both solvers take a limit below 0 for none, and Cbc wants to print it.
constexpr double k_least_seconds = 0.01;

/// Clp's infinity is the largest double.
std::vector<double> finite(const std::vector<double>& bounds) {
  std::vector<double> finite = bounds;
  for (double& bound : finite) bound = std::clamp(bound, -COIN_DBL_MAX, COIN_DBL_MAX);
  return finite;
}

ClpSolve::SolveType solve_type(Method method) {
  switch (method) {
    case Method::dual:
      return ClpSolve::useDual;
    case Method::barrier:
      return ClpSolve::useBarrier;
    case Method::primal:
      break;
  }
  return ClpSolve::usePrimal;
}

}  // namespace

class Loaded {
 public:
  explicit Loaded(const Model& model)
      : model_(model),
        column_lower_(finite(model.column_lower_)),
        column_upper_(finite(model.column_upper_)),
        row_lower_(finite(model.row_lower_)),
        row_upper_(finite(model.row_upper_)) {
    std::vector<int> columns;
    std::vector<double> coefficients;
    columns.reserve(model.terms());
    coefficients.reserve(model.terms());
    for (const Term& term : model.terms_) {
      columns.push_back(term.column);
      coefficients.push_back(term.coefficient);
    }
    const std::vector<CoinBigIndex> first(model.first_term_.begin(), model.first_term_.end());
    const CoinPackedMatrix by_rows(false, width(), height(), static_cast<CoinBigIndex>(columns.size()),
                                   coefficients.data(), columns.data(), first.data(), nullptr);
    by_columns_.reverseOrderedCopyOf(by_rows);
  }

  Solution solve_linear(const SolveOptions& options) const {
    ClpSimplex clp;
    clp.setLogLevel(0);
    clp.loadProblem(by_columns_, column_lower_.data(), column_upper_.data(), model_.cost_.data(), row_lower_.data(),
                    row_upper_.data());
    if (std::isfinite(options.seconds)) clp.setMaximumSeconds(std::max(options.seconds, k_least_seconds));
    // A hundred times closer than usual: loads add up what is left open in many rows.
    clp.setPrimalTolerance(1e-9);
    clp.setDualTolerance(1e-9);
    ClpSolve how;
    how.setSolveType(solve_type(options.method));
    clp.initialSolve(how);

    Solution solution;
    if (clp.isProvenPrimalInfeasible()) solution.status = Status::infeasible;
    if (clp.isProvenDualInfeasible()) solution.status = Status::unbounded;
    if (!clp.isProvenOptimal()) return solution;
    solution.status = Status::optimal;
    solution.objective = solution.bound = clp.objectiveValue();
    solution.columns.assign(clp.primalColumnSolution(), clp.primalColumnSolution() + width());
    solution.row_prices.assign(clp.dualRowSolution(), clp.dualRowSolution() + height());
    return solution;
  }

  Solution solve_integer(const SolveOptions& options) const {
    OsiClpSolverInterface clp;
    clp.messageHandler()->setLogLevel(0);
    clp.getModelPtr()->setLogLevel(0);
    clp.loadProblem(by_columns_, column_lower_.data(), column_upper_.data(), model_.cost_.data(), row_lower_.data(),
                    row_upper_.data());
    for (const Column column : model_.integers_) clp.setInteger(column);
    // Clp's own choice of method for the relaxation may be Idiot::crossOver, which Clp 1.17.6 does not survive.
    ClpSolve how;
    how.setSolveType(ClpSolve::useDual);
    clp.setSolveOptions(how);
    // A start is given by names.
    clp.setIntParam(OsiNameDiscipline, 1);
    const auto name = [](Column column) { return std::to_string(column); };
    for (Column column = 0; column < width(); ++column) clp.setColName(column, name(column));

    CbcModel cbc(clp);
    CbcSolverUsefulData settings;
    settings.noPrinting_ = true;
    settings.useSignalHandler_ = false;
    cbc.setLogLevel(0);
    CbcMain0(cbc, settings);
    if (!options.start.empty()) {
      std::vector<std::pair<std::string, double>> start;
      start.reserve(options.start.size());
      for (Column column = 0; column < width(); ++column)
        start.emplace_back(name(column), options.start[static_cast<std::size_t>(column)]);
      cbc.setMIPStart(start);
    }
    std::vector<std::string> words{"colltopo", "-log", "0", "-ratio", std::to_string(options.gap)};
    // Cbc 2.10.8 does not survive that its time is up while it makes the problem smaller first.
    if (std::isfinite(options.seconds))
      words.insert(words.end(), {"-sec", std::to_string(std::max(options.seconds, k_least_seconds)), "-timeMode",
                                 "elapsed", "-preprocess", "off"});
    words.insert(words.end(), {"-solve", "-quit"});
    std::vector<const char*> arguments;
    arguments.reserve(words.size());
    for (const std::string& word : words) arguments.push_back(word.c_str());
    CbcMain1(
        static_cast<int>(arguments.size()), arguments.data(), cbc, [](CbcModel*, int) { return 0; }, settings);

    Solution solution;
    if (cbc.isProvenInfeasible()) solution.status = Status::infeasible;
    if (cbc.isContinuousUnbounded()) solution.status = Status::unbounded;
    if (cbc.bestSolution() == nullptr) return solution;
    if (cbc.isProvenOptimal()) solution.status = Status::optimal;
    solution.objective = cbc.getObjValue();
    solution.bound = std::min(cbc.getBestPossibleObjValue(), solution.objective);
    solution.columns.assign(cbc.bestSolution(), cbc.bestSolution() + width());
    return solution;
  }

 private:
  int width() const { return static_cast<int>(model_.columns()); }
  int height() const { return static_cast<int>(model_.rows()); }

  const Model& model_;
  std::vector<double> column_lower_, column_upper_, row_lower_, row_upper_;
  CoinPackedMatrix by_columns_;
};

Solution Model::solve(const SolveOptions& options) const {
  const Loaded loaded(*this);
  return integers_.empty() ? loaded.solve_linear(options) : loaded.solve_integer(options);
}

}  // namespace colltopo::lp
