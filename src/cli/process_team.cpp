// Opening the library and calling it.
#include "cli/process_team.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include <fmt/format.h>

#include "cli/command.h"
#include "team/calls.h"

namespace colltopo::cli {

namespace {

/// Where the library may be: beside the folder of this program, as built and as installed.
std::vector<std::filesystem::path> places_of(const std::string& library) {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path folder = program.parent_path();
  if (folder.empty()) return {};  // not the current one
  return {folder / ".." / "lib" / library, folder / COLLTOPO_LIBRARY_FOLDER / library};
}

}  // namespace

std::unique_ptr<ProcessTeam> ProcessTeam::join(const Launch& launch, std::string& obstacle) {
  const std::string library = launch.mpich ? "libcolltopo_team_mpich.so" : "libcolltopo_team.so";
  std::filesystem::path found;
  for (const std::filesystem::path& place : places_of(library))
    if (std::error_code ignored; std::filesystem::exists(place, ignored)) found = place;
  if (found.empty()) {
    obstacle = library + ": not found beside the command; it was built without this MPI";
    return nullptr;
  }
  // Global: parts of an MPI that it opens in turn look for its symbols there.
  void* const handle = dlopen(found.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    obstacle = fmt::format("{}: cannot be opened: {}", library, dlerror());
    return nullptr;
  }
  const auto team = reinterpret_cast<colltopo_team_function>(dlsym(handle, "colltopo_team"));
  int rank = 0, ranks = 0;
  if (team == nullptr || team()->join(&rank, &ranks) != 0) {
    obstacle = library + ": MPI cannot be started";
    return nullptr;
  }
  if (rank != launch.rank || ranks != launch.ranks) {
    team()->leave();
    obstacle = fmt::format("{}: its MPI is not that of mpirun, and sees {} process", library, ranks);
    return nullptr;
  }
  return std::unique_ptr<ProcessTeam>(new ProcessTeam(*team(), rank, ranks));
}

void ProcessTeam::sum(std::span<double> values) { calls_.sum(values.data(), values.size()); }

std::vector<std::vector<std::byte>> ProcessTeam::gather(std::span<const std::byte> bytes) {
  std::vector<std::size_t> sizes(static_cast<std::size_t>(ranks_));
  calls_.sizes(bytes.size(), sizes.data());
  std::vector<std::vector<std::byte>> all;
  std::vector<void*> into;
  if (rank_ == 0) {
    all.resize(sizes.size());
    all.front().assign(bytes.begin(), bytes.end());
    for (std::size_t rank = 1; rank < sizes.size(); ++rank) all[rank].resize(sizes[rank]);
    for (std::vector<std::byte>& part : all) into.push_back(part.data());
  }
  calls_.gather(bytes.data(), sizes.data(), into.data());
  return all;
}

void ProcessTeam::leave() {
  if (!left_) calls_.leave();
  left_ = true;
}

int ProcessTeam::first_of(bool mine) {
  const std::vector<std::uint64_t> all = counts_by_member(this, mine ? 1 : 0);
  const auto first = std::find(all.begin(), all.end(), 1U);
  return first == all.end() ? -1 : static_cast<int>(first - all.begin());
}

void ProcessTeam::abort(const std::string& why) {
  std::cerr << fmt::format("colltopo: rank {}: {}; all ranks end\n", rank_, why) << std::flush;
  if (!left_) calls_.abort(k_usage);
  std::_Exit(k_usage);
}

int threads_of(const Launch& launch) {
  const int all = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int part = std::max(1, all / std::max(1, launch.ranks_here));
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0 || CPU_COUNT(&mine) >= all) return part;
  return std::max(1, CPU_COUNT(&mine));
}

}  // namespace colltopo::cli
