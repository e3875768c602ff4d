// colltopo-probe: measures the constants of the model on the hosts of a job and remembers them for the component, the
// shim and `colltopo explain`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "colltopo/error.h"
#include "comm/constants.h"
#include "probe/measure.h"

namespace {

using namespace colltopo;

std::string constant_text(const std::string& name, double value) {
  return name.starts_with("bandwidth") ? fmt::format("{:.3g} GB/s", value * 1e-9)
                                       : fmt::format("{:.3g} us", value * 1e6);
}

void print(const ConstantsRecord& record, const std::string& path, bool json) {
  if (json) {
    nlohmann::ordered_json all = {{"hosts", record.hosts},         {"ranks_per_host", record.ranks_per_host},
                                  {"transport", record.transport}, {"version", record.version},
                                  {"constants", record.constants}, {"alone", record.alone},
                                  {"seconds", record.seconds},     {"file", path}};
    std::cout << all.dump(1) << '\n';
    return;
  }
  std::cout << fmt::format("{} hosts, {} ranks on each, transport {}: {:.2f} s\n", record.hosts.size(),
                           record.ranks_per_host, record.transport, record.seconds);
  std::cout << fmt::format("{:<20} {:>14} {:>14}\n", "", "all at once", "one pair");
  for (const auto& [name, value] : record.constants) {
    const auto alone = record.alone.find(name);
    std::cout << fmt::format("{:<20} {:>14} {:>14}\n", name, constant_text(name, value),
                             alone == record.alone.end() ? "" : constant_text(name, alone->second));
  }
  std::cout << "written to " << path << "; found by itself unless coll_topo_constants says otherwise\n";
}

int run(std::string path, bool json) {
  const probe::Places places;
  const double start = MPI_Wtime();
  const probe::Measurements found = probe::measure(places);
  if (places.rank != 0) return 0;
  ConstantsRecord record{
      places.hosts, places.ranks_per_host(), transport_of_environment(), this_version(), found.loaded,
      found.alone,  MPI_Wtime() - start};
  try {
    if (path.empty()) path = default_constants_path();
    if (path.empty()) throw Error("neither XDG_CACHE_HOME nor HOME is set; expected -o FILE");
    write_constants(path, record);
    print(record, path, json);
    return 0;
  } catch (const Error& error) {
    std::cerr << "colltopo-probe: " << error.what() << '\n';
    return 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string path;
  bool json = false;
  CLI::App app{"Measures the constants of colltopo's model, under mpirun on the hosts and with the ranks of real jobs"};
  app.add_option("-o,--output", path, "File to add them to; by default one that jobs find by themselves");
  app.add_flag("--json", json, "One JSON object on standard output");
  int status = 0;
  try {
    app.parse(argc, argv);
    status = run(path, json);
  } catch (const CLI::ParseError& error) {
    status = rank == 0 ? app.exit(error) : 0;
    if (status != 0) status = 2;
  }
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
}
