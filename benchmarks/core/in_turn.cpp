// What does an allreduce of one and of two doubles in turn cost over MPI, with coll/topo and with Open MPI without it,
// in alternating blocks of one job? And of one double again and again?
//
//   mpirun -np 2 colltopo-bench-in-turn [ALGORITHM]        one JSON object
#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <stdexcept>
#include <string>

#include "collectives/contender.h"
#include "collectives/timing.h"

namespace {

using namespace colltopo;
using namespace colltopo::bench;

/// Allreduces of 1 to `most` doubles in turn.
std::function<void()> allreduces(MPI_Comm comm, int most) {
  return [comm, most, count = 0]() mutable {
    std::array<double, 2> in{1, 1}, out{};
    count = count % most + 1;
    MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, comm);
  };
}

void run(const std::string& algorithm) {
  const Contender topo(algorithm, Kind::allreduce), stock("native", Kind::allreduce), control("native", Kind::bcast);
  const Counters counters;
  const ServedSince since(counters);
  const auto measured = [&](int most) {
    const std::array calls = {allreduces(topo.comm(), most), allreduces(stock.comm(), most)};
    return measure(calls, {.calls = 0, .warmup = 100, .seconds = 1}, control.comm());
  };
  const Measured one = measured(1), in_turn = measured(2);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Served served = since.now();
  if (rank != 0) return;
  fmt::print("{{\"algorithm\": \"{}\", \"served_by\": \"{}\", \"ranks\": {}", algorithm,
             served.by_topo > 0 ? served.algorithm : "open-mpi", ranks);
  const auto print = [](const char* name, const Measured& what) {
    fmt::print(", \"{}_us\": {:.4f}, \"{}_stock_us\": {:.4f}, \"{}_ratio\": {:.4f}", name,
               what.timings[0].call_us.median, name, what.timings[1].call_us.median, name, what.timings[0].ratio);
  };
  print("one_size", one);
  print("in_turn", in_turn);
  fmt::print("}}\n");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    run(argc > 1 ? argv[1] : "auto");
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "colltopo-bench-in-turn: {}\n", error.what());
    status = 2;
  }
  MPI_Finalize();
  return status;
}
