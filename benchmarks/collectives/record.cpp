#include "record.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/replace_file.h"
#include "probe/meet.h"

namespace colltopo::bench {

namespace {

constexpr long k_calls_in_turn = 26;  // as many as the blocks of choosing policies and more

double load_of_the_machine() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

}  // namespace

void record(const std::string& file, const std::string& about, std::span<const SeriesRow> rows, long calls,
            MPI_Comm control) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(control, &rank);
  MPI_Comm_size(control, &ranks);
  const double load = load_of_the_machine();
  const long turns = (calls + k_calls_in_turn - 1) / k_calls_in_turn;
  std::vector<std::vector<double>> seconds(rows.size());
  for (const SeriesRow& row : rows)
    for (long call = 0; call < k_calls_in_turn; ++call) row.call();  // makes ready
  meet(control);
  for (long turn = 0; turn < turns; ++turn)
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (long call = 0; call < k_calls_in_turn; ++call) {
        const double begin = MPI_Wtime();
        rows[r].call();
        seconds[r].push_back(MPI_Wtime() - begin);
      }
  std::string text =
      fmt::format("# {}\n# load of the machine {:.1f} before, {:.1f} after\n", about, load, load_of_the_machine());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<double> sums(seconds[r].size());
    MPI_Reduce(seconds[r].data(), sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, 0, control);
    text += rows[r].name;
    for (const double sum : sums) text += fmt::format(" {:.2f}", sum * 1e6 / ranks);
    text += "\n";
  }
  if (rank == 0) replace_file(file, text);
}

}  // namespace colltopo::bench
