// Linear and integer programmes: values, prices, and what is said when there is no answer.
#include <gmock/gmock.h>

#include <cmath>

#include "lp/model.h"

namespace colltopo::lp {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

/// Make x and y at a profit of 3 and 5 with x <= 4, 2 y <= 12, 3 x + 2 y <= 18: x = 2, y = 6, profit 36.
Model workshop(bool integer = false) {
  Model model;
  for (const double profit : {3.0, 5.0}) {
    if (integer)
      model.integer_column(-profit, 0, 100);
    else
      model.column(-profit);
  }
  model.row(-k_infinity, 4, std::vector<Term>{{0, 1}});
  model.row(-k_infinity, 12, std::vector<Term>{{1, 2}});
  model.row(-k_infinity, 18, std::vector<Term>{{0, 3}, {1, 2}});
  return model;
}

TEST(LinearProgramme, every_method_finds_the_optimum_and_its_prices) {
  for (const Method method : {Method::primal, Method::dual, Method::barrier}) {
    SolveOptions options;
    options.method = method;
    const Solution solution = workshop().solve(options);
    ASSERT_EQ(solution.status, Status::optimal);
    EXPECT_NEAR(solution.objective, -36, 1e-7);
    EXPECT_THAT(solution.columns, ElementsAre(DoubleNear(2, 1e-7), DoubleNear(6, 1e-7)));
    // A unit more of the second and third bound is worth 1.5 and 1.
    EXPECT_THAT(solution.row_prices, ElementsAre(DoubleNear(0, 1e-7), DoubleNear(-1.5, 1e-7), DoubleNear(-1, 1e-7)));
  }
}

TEST(LinearProgramme, says_when_there_is_no_point_or_no_optimum) {
  Model impossible;
  impossible.column(1);
  impossible.row(-k_infinity, -1, std::vector<Term>{{0, 1}});
  EXPECT_EQ(impossible.solve().status, Status::infeasible);
  EXPECT_THAT(impossible.solve().columns, IsEmpty());

  Model endless;
  endless.column(-1);
  endless.row(0, k_infinity, std::vector<Term>{{0, 1}});
  EXPECT_EQ(endless.solve().status, Status::unbounded);
}

/// The least of 1 x0 + ... with x_i + x_j >= 1 around an odd cycle: halves are best, integers need one more.
Model odd_cycle(int nodes) {
  Model model;
  for (int i = 0; i < nodes; ++i) model.integer_column(1, 0, 1);
  for (int i = 0; i < nodes; ++i) model.row(1, k_infinity, std::vector<Term>{{i, 1}, {(i + 1) % nodes, 1}});
  return model;
}

TEST(IntegerProgramme, is_solved_in_integers) {
  const Solution solution = odd_cycle(9).solve();
  ASSERT_EQ(solution.status, Status::optimal);
  EXPECT_NEAR(solution.objective, 5, 1e-9);
  EXPECT_NEAR(solution.bound, 5, 1e-6);
  for (const double x : solution.columns) EXPECT_NEAR(x, std::round(x), 1e-6);

  const Solution made = workshop(true).solve();
  ASSERT_EQ(made.status, Status::optimal);
  EXPECT_NEAR(made.objective, -36, 1e-7);
}

TEST(IntegerProgramme, a_wide_gap_accepts_the_start) {
  SolveOptions options;
  options.gap = 1;
  const std::vector<double> all(9, 1.0);
  options.start = all;
  const Solution solution = odd_cycle(9).solve(options);
  ASSERT_EQ(solution.status, Status::optimal);
  EXPECT_LE(solution.objective, 9);
  EXPECT_LE(solution.objective, 2 * solution.bound + 1e-9);
}

TEST(IntegerProgramme, says_when_there_is_no_point) {
  Model impossible;
  impossible.integer_column(1, 0, 1);
  impossible.row(0.4, 0.6, std::vector<Term>{{0, 1}});
  EXPECT_EQ(impossible.solve().status, Status::infeasible);
}

}  // namespace
}  // namespace colltopo::lp
