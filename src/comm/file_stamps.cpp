#include "comm/file_stamps.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace colltopo {

std::string stamp_of_file(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return fmt::format("{} none\n", path);
  return fmt::format("{} {} {} {}.{:09}\n", path, found.st_ino, found.st_size, found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec);
}

std::string stamp_of_folder(const std::string& path) {
  const std::string rules = path + "/rules.json";
  std::error_code error;
  if (std::filesystem::exists(rules, error)) return stamp_of_file(rules);
  std::vector<std::string> stamps;
  for (auto at = std::filesystem::directory_iterator(path, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error))
    if (at->path().extension() == ".sched") stamps.push_back(stamp_of_file(at->path().string()));
  std::ranges::sort(stamps);
  std::string all = fmt::format("{} {}\n", path, stamps.size());
  for (const std::string& stamp : stamps) all += stamp;
  return all;
}

}  // namespace colltopo
