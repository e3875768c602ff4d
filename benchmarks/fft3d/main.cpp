// colltopo-fft3d: a distributed 3D Fourier transform whose exchanges are MPI_Alltoall or MPI_Alltoallv, the application
// of paper 001 (Fan et al., VI) in three dimensions. It knows nothing of coll/topo: how the exchanges run is the MPI
// library's business.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "distributed.h"
#include "options.h"
#include "traffic.h"
#include "verify.h"

namespace colltopo::fft3d {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Medians over the iterations for a forward and a backward transform, each part of its own slowest rank: the parts
// need not add up to the total.
struct Medians {
  Times parts;
  double total = 0;
};

Medians timed(Distributed& transform, const Options& options, MPI_Comm comm) {
  std::vector<std::vector<double>> parts(4);
  for (int iteration = -options.warmup; iteration < options.iterations; ++iteration) {
    fill_field(transform);  // not normalised: values would grow out of range
    MPI_Barrier(comm);
    transform.take_times();
    transform.forward();
    transform.backward();
    const Times times = transform.take_times();
    double slowest[4] = {times.compute, times.pack, times.exchange, times.total()};
    MPI_Allreduce(MPI_IN_PLACE, slowest, 4, MPI_DOUBLE, MPI_MAX, comm);
    for (std::size_t part = 0; iteration >= 0 && part < parts.size(); ++part) parts[part].push_back(slowest[part]);
  }
  return {{median(parts[0]), median(parts[1]), median(parts[2])}, median(parts[3])};
}

// Nothing but the exchanges happens here: whoever counts messages outside of this program (pml/monitoring) can take the
// difference of two runs.
TrafficReport counted(Distributed& transform, int pairs, MPI_Comm comm) {
  TrafficMeter meter(comm);
  meter.begin();
  for (int pair = 0; pair < pairs; ++pair) {
    fill_field(transform);
    transform.forward();
    transform.backward();
  }
  return meter.end(static_cast<unsigned long long>(pairs * transform.exchanges()));
}

nlohmann::ordered_json json_of(const Traffic& traffic) {
  return {{"messages", traffic.messages},
          {"bytes", traffic.bytes},
          {"messages_between_nodes", traffic.messages_between_nodes},
          {"bytes_between_nodes", traffic.bytes_between_nodes}};
}

struct Result {
  int ranks = 0;
  int exchanges = 0;
  Medians times;
  TrafficReport traffic;
  Errors errors;
  bool correct = true;
};

const char* name_of(Exchanging exchanging) {
  constexpr const char* k_names[] = {"alltoall", "alltoallv", "ialltoallv", "persistent"};
  return k_names[static_cast<std::size_t>(exchanging)];
}

void print_json(const Options& options, const Result& result) {
  const TrafficReport& traffic = result.traffic;
  nlohmann::ordered_json out = {{"program", "colltopo-fft3d"},
                                {"grid", {options.grid.nx, options.grid.ny, options.grid.nz}},
                                {"decomposition", options.decomposition == Decomposition::slab ? "slab" : "pencil"},
                                {"exchange", name_of(options.exchanging)},
                                {"transform", options.transform == Transform::c2c ? "c2c" : "r2c"},
                                {"process_grid", {options.processes.rows, options.processes.columns}},
                                {"ranks", result.ranks},
                                {"nodes", traffic.nodes},
                                {"iterations", options.iterations},
                                {"total_s", result.times.total},
                                {"compute_s", result.times.parts.compute},
                                {"pack_s", result.times.parts.pack},
                                {"exchange_s", result.times.parts.exchange},
                                {"exchanges", result.exchanges},
                                {"alltoall_calls", traffic.calls},
                                {"topo_calls", traffic.topo_calls},
                                {"topo_algorithm", traffic.topo_algorithm}};
  if (traffic.has_topo) out["topo"] = json_of(traffic.topo);
  if (options.verify) {
    out["spectrum_error"] = result.errors.spectrum;
    out["round_trip_error"] = result.errors.round_trip;
    out["tolerance"] = tolerance(options.grid);
    out["correct"] = result.correct;
  }
  std::cout << out.dump(2) << "\n";
}

void print_text(const Options& options, const Result& result) {
  const TrafficReport& traffic = result.traffic;
  const Times& parts = result.times.parts;
  fmt::print("{} of {}x{}x{} points, {} on a {}x{} process grid, {} ranks on {} node{}\n",
             options.transform == Transform::c2c ? "c2c" : "r2c", options.grid.nx, options.grid.ny, options.grid.nz,
             options.decomposition == Decomposition::slab ? "slabs" : "pencils", options.processes.rows,
             options.processes.columns, result.ranks, traffic.nodes, traffic.nodes == 1 ? "" : "s");
  fmt::print(
      "forward and backward, median of {}, slowest rank: {:.3f} ms (compute {:.3f}, pack {:.3f}, exchange {:.3f})\n",
      options.iterations, result.times.total * 1e3, parts.compute * 1e3, parts.pack * 1e3, parts.exchange * 1e3);
  if (traffic.topo_calls > 0)
    fmt::print(
        "exchanges: {} all-to-all per rank, by coll/topo ({}; {} of {} calls): {} messages with {} bytes, of them\n"
        "  {} messages with {} bytes between nodes\n",
        result.exchanges, traffic.topo_algorithm, traffic.topo_calls, traffic.calls, traffic.topo.messages,
        traffic.topo.bytes, traffic.topo.messages_between_nodes, traffic.topo.bytes_between_nodes);
  else
    fmt::print("exchanges: {} all-to-all per rank, by Open MPI without coll/topo\n", result.exchanges);
  if (options.verify)
    fmt::print("verified: spectrum error {:.2e}, round trip error {:.2e}, allowed {:.2e}: {}\n", result.errors.spectrum,
               result.errors.round_trip, tolerance(options.grid), result.correct ? "right" : "WRONG");
}

int run(const Options& options, int rank, int ranks) {
  Result result;
  result.ranks = ranks;
  Distributed transform(
      plan_for(options.grid, options.transform, options.decomposition, options.processes, options.exchanging, rank),
      options.exchanging, MPI_COMM_WORLD);
  result.exchanges = transform.exchanges();
  if (options.verify) {
    result.errors = verify(transform, MPI_COMM_WORLD);
    const double allowed = tolerance(options.grid);
    result.correct = result.errors.spectrum <= allowed && result.errors.round_trip <= allowed;
  }
  result.times = timed(transform, options, MPI_COMM_WORLD);
  result.traffic = counted(transform, options.counted, MPI_COMM_WORLD);
  if (rank == 0) {
    if (options.json)
      print_json(options, result);
    else
      print_text(options, result);
  }
  return result.correct ? 0 : 1;
}

}  // namespace
}  // namespace colltopo::fft3d

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto parsed = colltopo::fft3d::parse(argc, argv, rank, ranks);
  int status = parsed.options ? colltopo::fft3d::run(*parsed.options, rank, ranks) : parsed.status;
  // All ranks come here before any ends: the first that ends badly has the others killed, with what they have not
  // written.
  if (std::fflush(stdout) != 0 || !std::cout.flush()) {
    std::cerr << "colltopo-fft3d: standard output: cannot be written\n";
    status = 2;
  }
  MPI_Finalize();
  return status;
}
