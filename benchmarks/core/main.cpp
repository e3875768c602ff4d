// colltopo-bench-core: what does the core itself cost, without messages? One rank of a made-up communicator of any
// size: first calls, new sizes and roots, one size again and two in turn, polling, memory held. One process per
// measurement.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "options.h"
#include "report.h"

namespace colltopo::bench {
namespace {

double load_of_the_machine() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

int run(const Options& options) {
  const bool listed = !options.cases.front().row.empty();
  std::vector<Result> results;
  bool all_met = true;
  if (!options.json) print_table_head(listed);
  for (const Mark& asked : options.cases) {
    Result result{asked, {}, load_of_the_machine()};
    result.figures = measure(asked.one, options.repeats);
    all_met = all_met && result.met();
    if (!options.json) print_table_row(listed, result);
    results.push_back(std::move(result));
  }
  if (options.json) print_json(results);
  if (!options.csv.empty()) write_csv(options.csv, results);
  if (std::fflush(stdout) != 0 || !std::cout.flush()) throw std::runtime_error("standard output: cannot be written");
  return options.marks && !all_met ? 1 : 0;
}

}  // namespace
}  // namespace colltopo::bench

int main(int argc, char** argv) {
  using namespace colltopo::bench;
  const Parsed parsed = parse(argc, argv);
  if (!parsed.options) return parsed.status;
  try {
    return run(*parsed.options);
  } catch (const std::exception& error) {
    std::cerr << "colltopo-bench-core: " << error.what() << "\n";
    return 2;
  }
}
