// How results are told: a table as they come, one JSON object, a CSV file.
#pragma once

#include <string>
#include <vector>

#include "options.h"

namespace colltopo::bench {

struct Result {
  Mark asked;
  Figures figures;
  double load = 0;  // the machine's, of the minute before it was taken

  bool has_mark() const { return !std::isnan(asked.most); }
  bool met() const { return !(read(asked.reading, figures) > asked.most); }
};

void print_table_head(bool marks);
void print_table_row(bool marks, const Result& result);
void print_json(const std::vector<Result>& results);
/// Throws std::runtime_error when the file cannot be written.
void write_csv(const std::string& file, const std::vector<Result>& results);

}  // namespace colltopo::bench
