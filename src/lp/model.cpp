// Columns and rows of a linear programme.
#include "lp/model.h"

#include <cassert>

namespace colltopo::lp {

Column Model::column(double cost, double lower, double upper) {
  assert(lower <= upper);
  cost_.push_back(cost);
  column_lower_.push_back(lower);
  column_upper_.push_back(upper);
  return static_cast<Column>(cost_.size()) - 1;
}

Column Model::integer_column(double cost, double lower, double upper) {
  require_integer(column(cost, lower, upper));
  return integers_.back();
}

Row Model::row(double lower, double upper, std::span<const Term> terms) {
  assert(lower <= upper);
  row_lower_.push_back(lower);
  row_upper_.push_back(upper);
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  first_term_.push_back(terms_.size());
  return static_cast<Row>(row_lower_.size()) - 1;
}

}  // namespace colltopo::lp
