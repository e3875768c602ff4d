#include "options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace colltopo::fft3d {

namespace {

constexpr const char* k_about =
    "Transforms a 3D field forward and backward (FFTW for the lines, MPI_Alltoall or MPI_Alltoallv for the exchanges) "
    "and says where "
    "the\n"
    "time went and, where coll/topo served the exchanges, how many messages crossed nodes. Run it under mpirun.\n"
    "Exit status: 0 good, 1 the transform is wrong, 2 usage or a grid that does not divide.";

constexpr std::size_t k_side_most = std::numeric_limits<int>::max();

std::vector<std::size_t> sides_from(const std::string& option, const std::string& text, std::size_t sides) {
  std::vector<std::size_t> values;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::size_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    const bool separated = next == end || (*next == 'x' && next + 1 != end);
    if (error != std::errc{} || value == 0 || value > k_side_most || !separated) break;
    values.push_back(value);
    at = next == end ? end : next + 1;
  }
  if (at != end || values.size() != sides)
    throw std::invalid_argument(fmt::format("{} \"{}\" is not {} numbers above 0, as {}", option, text, sides,
                                            sides == 3 ? "64x64x64" : "2x4"));
  return values;
}

}  // namespace

Parsed parse(int argc, char** argv, int rank, int ranks) {
  Options options;
  std::string grid = "64x64x64";
  std::string processes;
  const std::map<std::string, Decomposition> decompositions = {{"slab", Decomposition::slab},
                                                               {"pencil", Decomposition::pencil}};
  const std::map<std::string, Transform> transforms = {{"c2c", Transform::c2c}, {"r2c", Transform::r2c}};

  const std::map<std::string, Exchanging> exchangings = {{"alltoall", Exchanging::alltoall},
                                                         {"alltoallv", Exchanging::alltoallv},
                                                         {"ialltoallv", Exchanging::ialltoallv},
                                                         {"persistent", Exchanging::persistent}};

  CLI::App app{k_about, "colltopo-fft3d"};
  app.add_option("--grid", grid, "points along x, y and z")->capture_default_str();
  app.add_option("--decomposition", options.decomposition, "slab (x shared by all) or pencil (x and y shared)")
      ->transform(CLI::CheckedTransformer(decompositions));
  app.add_option("--transform", options.transform, "c2c or r2c")->transform(CLI::CheckedTransformer(transforms));
  app.add_option("--exchange", options.exchanging,
                 "alltoall (equal blocks: the grid must divide); for any grid with a point for each rank alltoallv, "
                 "ialltoallv (begun and waited for) or persistent (MPI_Alltoallv_init once, then starts)")
      ->transform(CLI::CheckedTransformer(exchangings));
  app.add_option("--process-grid", processes, "rows x columns of a pencil decomposition, as 2x4; else chosen");
  app.add_option("--iterations", options.iterations, "timed pairs of transforms")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--warmup", options.warmup, "pairs before them")->check(CLI::Range(0, 1000000))->capture_default_str();
  app.add_option("--counted", options.counted, "pairs after them whose messages are counted")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_flag("--verify", options.verify, "compare with a serial transform of the whole field on rank 0");
  app.add_flag("--json", options.json, "one JSON object on standard output");
  try {
    app.parse(argc, argv);
    const auto sides = sides_from("--grid", grid, 3);
    options.grid = {sides[0], sides[1], sides[2]};
    if (!processes.empty()) {
      if (options.decomposition == Decomposition::slab)
        throw std::invalid_argument("--process-grid needs --decomposition pencil: slabs have one row per rank");
      const auto rows = sides_from("--process-grid", processes, 2);
      options.processes = {static_cast<int>(rows[0]), static_cast<int>(rows[1])};
    }
    options.processes = process_grid(options.grid, options.decomposition, ranks, options.processes, options.exchanging);
    const Plan plan =
        plan_for(options.grid, options.transform, options.decomposition, options.processes, options.exchanging, 0);
    if (plan.storage > k_side_most)
      throw std::invalid_argument(fmt::format(
          "grid {} leaves {} points per rank, more than an int counts; use more ranks", grid, plan.storage));
  } catch (const CLI::ParseError& error) {
    if (rank == 0) app.exit(error);
    return {std::nullopt, error.get_exit_code() == 0 ? 0 : 2};
  } catch (const std::invalid_argument& error) {
    if (rank == 0) std::cerr << "colltopo-fft3d: " << error.what() << "\n";
    return {std::nullopt, 2};
  }
  return {options, 0};
}

}  // namespace colltopo::fft3d
