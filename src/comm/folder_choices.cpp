#include "comm/folder_choices.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/trusted_file.h"
#include "colltopo/topology.h"
#include "comm/schedule_folders.h"

namespace colltopo {

namespace {

namespace files = std::filesystem;

constexpr const char* k_rules = "rules.json";

bool fits(const FiledSchedule& file, const RuleQuery& query) {
  return file.key.collective == query.collective && file.key.ranks == query.ranks &&
         file.key.topology == query.fingerprint;
}

Rank root_of(const FiledSchedule& file) { return rooted(file.key.collective) ? file.key.root : -1; }

// Whoever owns the library that runs could have it do anything.
unsigned owner_of_this_library() {
  Dl_info place{};
  struct stat found {};
  if (dladdr(reinterpret_cast<const void*>(&standard_folders), &place) == 0 || place.dli_fname == nullptr ||
      place.dli_fname[0] != '/' || stat(place.dli_fname, &found) != 0)
    return 0;
  return found.st_uid;
}

std::string distrust_in_folder(const std::string& path) {
  return path.starts_with(COLLTOPO_SCHEDULES_FOLDER "/") ? distrust_of(path, owner_of_this_library())
                                                         : distrust_of(path);
}

/// Whether a file of a folder that nobody named counts.
bool counts(const std::string& path, std::vector<std::string>* distrusted) {
  const std::string why = distrusted == nullptr ? "" : distrust_in_folder(path);
  if (!why.empty())
    distrusted->push_back(
        fmt::format("{} {}; coll_topo_schedules does not name its folder, so it does not count", path, why));
  return why.empty();
}

void add_rules(const ScheduleFolder& folder, const RuleQuery& query, std::vector<FolderChoice>& choices,
               std::vector<std::string>* distrusted) {
  if (!folder.rules) return;
  for (const Rule& rule : folder.rules->all()) {
    // A folder is for any job; only rules that say which network they are for are this one's.
    if (rule.topology.empty() || !Rules::fits(rule, query)) continue;
    FolderChoice choice{rule.least_bytes, rule.most_bytes, -1, rule.text};
    if (rule.choice.kind == Forced::Kind::file) {
      const auto file = std::ranges::find(folder.files, rule.choice.path, &FiledSchedule::path);
      if (file == folder.files.end() || !fits(*file, query) || !counts(file->path, distrusted)) continue;
      choice.root = root_of(*file);
      choice.choice = "file:" + file->path;
    }
    choices.push_back(std::move(choice));
  }
}

void add_prepared(const files::path& place, std::string& folders) {
  std::vector<std::string> found;
  std::error_code error;
  for (auto at = files::directory_iterator(place, error); !error && at != files::directory_iterator();
       at.increment(error))
    if (files::exists(at->path() / k_rules, error)) found.push_back(at->path().string());
  std::ranges::sort(found);
  for (const std::string& folder : found) folders += (folders.empty() ? "" : ":") + folder;
}

}  // namespace

std::vector<FolderChoice> choices_in(const std::string& folders, const RuleQuery& query, std::size_t from_bytes,
                                     std::vector<std::string>* faults, std::vector<std::string>* distrusted) {
  std::vector<FolderChoice> choices;
  std::istringstream paths(folders);
  for (std::string path; std::getline(paths, path, ':');) {
    if (path.empty() || !counts(path + "/" + k_rules, distrusted)) continue;
    const auto folder = schedule_folder(path);
    faults->insert(faults->end(), folder->faults.begin(), folder->faults.end());
    add_rules(*folder, query, choices, distrusted);
    for (const FiledSchedule& file : folder->files)
      if (fits(file, query) && counts(file.path, distrusted))
        choices.push_back({from_bytes, std::numeric_limits<std::size_t>::max(), root_of(file), "file:" + file.path});
  }
  return choices;
}

std::string text_of(std::span<const FolderChoice> choices) {
  std::string text;
  for (const FolderChoice& one : choices)
    text += fmt::format("{} {} {} {}\n", one.least, one.most, one.root, one.choice);
  return text;
}

std::vector<FolderChoice> folder_choices_of(const std::string& text) {
  std::vector<FolderChoice> choices;
  std::istringstream lines(text);
  for (FolderChoice one; lines >> one.least >> one.most >> one.root && std::getline(lines >> std::ws, one.choice);)
    choices.push_back(one);
  return choices;
}

std::string standard_folders(const std::string& topology) {
  std::string folders;
  std::error_code error;
  if (const std::size_t end = end_of_file_name(topology); end > 0) {
    files::path beside = files::path(topology.substr(0, end)).parent_path();
    if (beside.empty()) beside = ".";
    // A path with the separator in it would be two others.
    const bool is_one = beside.string().find(':') == std::string::npos;
    if (is_one && files::exists(beside / k_rules, error)) folders = beside.string();
  }
  if (const char* const home = std::getenv("HOME"); home != nullptr)
    add_prepared(files::path(home) / ".colltopo" / "schedules", folders);
  add_prepared(COLLTOPO_SCHEDULES_FOLDER, folders);
  return folders;
}

}  // namespace colltopo
