// Headers of a folder's schedule files.
#include "comm/schedule_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>

#include "colltopo/text.h"
#include "comm/file_stamps.h"

namespace colltopo {

namespace {

ScheduleFolder read_folder(const std::string& path) {
  ScheduleFolder folder;
  std::vector<std::string> paths;
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator(path, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error))
    if (at->path().extension() == ".sched") paths.push_back(at->path().string());
  if (error) folder.faults.push_back(fmt::format("schedules: folder {}: {}; it is passed over", path, error.message()));
  std::ranges::sort(paths);
  for (const std::string& file : paths) try {
      const ScheduleHeader header = read_header(file);
      folder.files.push_back({file, {header.shape.collective, header.shape.ranks, header.shape.root, header.topology}});
    } catch (const std::exception& fault) {
      folder.faults.push_back(fmt::format("{}; it is passed over", fault.what()));
    }
  const std::string rules = path + "/rules.json";
  if (!std::filesystem::exists(rules, error)) return folder;
  try {
    folder.rules = Rules::read(rules);
  } catch (const std::exception& fault) {
    folder.faults.push_back(fmt::format("{}; it is passed over", fault.what()));
  }
  return folder;
}

bool serves(const ScheduleKey& file, const ScheduleKey& wanted) {
  return file.collective == wanted.collective && file.ranks == wanted.ranks && file.topology == wanted.topology &&
         (!rooted(wanted.collective) || file.root == wanted.root);
}

}  // namespace

std::shared_ptr<const ScheduleFolder> schedule_folder(const std::string& path) {
  struct Known {
    std::string stamp;
    std::shared_ptr<const ScheduleFolder> folder;
  };
  static auto* const mutex = new std::mutex;
  static auto* const folders = new std::map<std::string, Known>;
  std::string stamp = stamp_of_folder(path);
  const std::lock_guard lock(*mutex);
  Known& known = (*folders)[path];
  if (known.folder == nullptr || known.stamp != stamp)
    known = {std::move(stamp), std::make_shared<const ScheduleFolder>(read_folder(path))};
  return known.folder;
}

std::string schedule_in(const std::string& folders, const ScheduleKey& key, std::vector<std::string>* faults) {
  std::istringstream paths(folders);
  std::string best;
  for (std::string path; std::getline(paths, path, ':');) {
    if (path.empty()) continue;
    const auto folder = schedule_folder(path);
    faults->insert(faults->end(), folder->faults.begin(), folder->faults.end());
    const auto found =
        std::ranges::find_if(folder->files, [&](const FiledSchedule& file) { return serves(file.key, key); });
    if (best.empty() && found != folder->files.end()) best = found->path;
  }
  return best;
}

}  // namespace colltopo
