// colltopo-probe: measures the constants of the model on the hosts of a job and remembers them for the component, the
// shim and `colltopo explain`.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "colltopo/error.h"
#include "comm/conclusion.h"
#include "comm/constants.h"
#include "probe/algorithms.h"
#include "probe/candidates.h"
#include "probe/counters.h"
#include "probe/measure.h"
#include "probe/measured.h"
#include "probe/steady_heap.h"
#include "shell.h"

namespace {

using namespace colltopo;

constexpr double k_least_for_algorithms = 0.3;  // of the seconds, where the constants take nearly all

std::string constant_text(const std::string& name, double value) {
  return name.starts_with("bandwidth") ? fmt::format("{:.3g} GB/s", value * 1e-9)
                                       : fmt::format("{:.3g} us", value * 1e6);
}

nlohmann::ordered_json json_of(const Conclusion& conclusion) {
  return {{"collective", conclusion.collective},
          {"bytes", conclusion.bytes},
          {"gain", conclusion.gain},
          {"sure", conclusion.is_sure},
          {"collectives", conclusion.collectives},
          {"not_sure", conclusion.unsure},
          {"seconds_more", conclusion.seconds_more}};
}

void print(const ConstantsRecord& record, const std::string& why_no_times, const std::string& path, bool json) {
  if (json) {
    nlohmann::ordered_json all = json_of(record);
    all["file"] = path;
    if (!why_no_times.empty()) all["why_no_times"] = why_no_times;
    if (!record.times.empty()) all["conclusion"] = json_of(conclusion_of(record));
    std::cout << all.dump(1) << '\n';
    return;
  }
  std::cout << fmt::format("{} hosts, {} ranks on each, {}, transport {}: {:.2f} s\n", record.hosts.size(),
                           record.ranks_per_host, record.library, record.transport, record.seconds);
  std::cout << fmt::format("{:<20} {:>14} {:>14}\n", "", "all at once", "one pair");
  for (const auto& [name, value] : record.constants) {
    const auto alone = record.alone.find(name);
    std::cout << fmt::format("{:<20} {:>14} {:>14}\n", name, constant_text(name, value),
                             alone == record.alone.end() ? "" : constant_text(name, alone->second));
  }
  if (!record.times.empty()) std::cout << '\n';
  for (const ConstantsRecord::Times& one : record.times) {
    const std::string by = one.component.empty() ? one.algorithm : fmt::format("{} ({})", one.algorithm, one.component);
    std::cout << fmt::format("{:<15} {:<36}", one.collective, by);
    for (const auto& [bytes, seconds] : one.seconds)
      std::cout << fmt::format("{:>8} B {:>10.4g} us", bytes, seconds * 1e6);
    std::cout << '\n';
  }
  if (!why_no_times.empty()) std::cout << "no algorithm was measured: " << why_no_times << '\n';
  std::cout << "written to " << path << "; found by itself unless coll_topo_constants says otherwise\n";
  if (!record.times.empty()) std::cout << "stored; " << text_of(conclusion_of(record)) << '\n';
}

// Rank 0's, on all ranks.
std::string told_by_rank_0(std::string text) {
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

// A record of constants for the component to read while algorithms are measured; gone with this. Rank 0's.
class ScratchRecord {
 public:
  explicit ScratchRecord(const ConstantsRecord& record) {
    std::string folder = (std::filesystem::temp_directory_path() / "colltopo-probe.XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw Error(fmt::format("{}: cannot be made", folder));
    folder_ = folder;
    write_constants(path(), record);
  }
  ~ScratchRecord() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ScratchRecord(const ScratchRecord&) = delete;
  ScratchRecord& operator=(const ScratchRecord&) = delete;
  std::string path() const { return (folder_ / "constants.json").string(); }

 private:
  std::filesystem::path folder_;
};

// Adds the times of what the model finds best with the record's constants. `end`: when to be done, by MPI_Wtime of rank
// 0. `why`: what kept it from that.
void measure_algorithms(const probe::Places& places, double end, ConstantsRecord& record, std::string& why) {
  std::string text;
  std::optional<ScratchRecord> scratch;
  // One process's: to open the tools interface takes a quarter of a second of its processor.
  std::optional<Counters> counters;
  if (places.rank == 0 && places.ranks > 1) {
    counters.emplace();
    try {
      if (!has_parameter("coll_topo_priority")) throw Error("coll/topo is not loaded in this job");
      scratch.emplace(record);
      const probe::Contenders all = probe::contenders(places, scratch->path(), parameter_text("coll_topo_previous"));
      record.by_lanes = all.by_lanes;
      for (const probe::Contender& one : all.list)
        text += fmt::format("{} {} {} {}\n", name(one.collective), one.algorithm,
                            one.component.empty() ? "-" : one.component, fmt::join(one.sizes, " "));
    } catch (const std::exception& error) {
      text.clear();
      why = error.what();
    }
  }
  std::istringstream lines(told_by_rank_0(text));
  const std::string constants = told_by_rank_0(scratch ? scratch->path() : "");
  std::vector<probe::Contender> all;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string collective, algorithm, component;
    words >> collective >> algorithm >> component;
    all.push_back({*collective_named(collective), algorithm, component == "-" ? "" : component, {}});
    for (std::size_t bytes = 0; words >> bytes;) all.back().sizes.push_back(bytes);
  }
  record.times = probe::measure(all, constants, end - MPI_Wtime(), counters ? &*counters : nullptr);
  record.places = places_of(places.node_of);
  if (record.times.empty() && why.empty() && !all.empty())
    why = MPI_Wtime() >= end ? "no time was left for them; expected more --seconds"
                             : "coll/topo served none of the calls; --mca coll_topo_verbose 1 says why";
}

int run(std::string path, double seconds, bool json) {
  const double start = MPI_Wtime();
  const probe::Places places;
  if (places.ranks == 1 && seconds > 0) {
    std::cerr << "colltopo-probe: the job has 1 rank, and nothing is between ranks; expected mpirun with the hosts and "
                 "ranks of real jobs, or --constants-only; nothing is written\n";
    return 2;
  }
  const probe::Measurements found = probe::measure(places);
  ConstantsRecord record{
      places.hosts, places.ranks_per_host(), transport_of_environment(), this_version(), found.loaded, found.alone};
  record.library = shell_library(MPI_Get_library_version);
  std::string why_no_times;
  const double end = std::max(start + seconds, MPI_Wtime() + k_least_for_algorithms * seconds);
  if (seconds > 0) measure_algorithms(places, end, record, why_no_times);
  if (places.rank != 0) return 0;
  record.seconds = MPI_Wtime() - start;
  try {
    if (path.empty()) path = default_constants_path();
    if (path.empty()) throw Error("neither XDG_CACHE_HOME nor HOME is set; expected -o FILE");
    write_constants(path, record);
    print(record, why_no_times, path, json);
    if (!std::cout.flush()) throw Error("standard output: cannot be written");
    return 0;
  } catch (const Error& error) {
    std::cerr << "colltopo-probe: " << error.what() << '\n';
    return 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  colltopo::keep_freed_memory();
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string path;
  bool json = false, constants_only = false;
  double seconds = 1.8;
  CLI::App app{"Measures the constants of colltopo's model, under mpirun on the hosts and with the ranks of real jobs"};
  app.add_option("-o,--output", path, "File to add them to; by default one that jobs find by themselves");
  app.add_option("--seconds", seconds, "To take in all, most of it for the times of algorithms; 0: constants only")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--constants-only", constants_only, "No times of algorithms, as --seconds 0");
  app.add_flag("--json", json, "One JSON object on standard output");
  int status = 0;
  try {
    app.parse(argc, argv);
    status = run(path, constants_only ? 0 : seconds, json);
  } catch (const CLI::ParseError& error) {
    status = rank == 0 ? app.exit(error) : 0;
    if (status != 0) status = 2;
  }
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
}
