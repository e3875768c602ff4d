#include "transport/lane_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace colltopo {

namespace {

constexpr const char* k_name = "libcolltopo_ucx.so";

struct Found {
  const LaneCalls* calls = nullptr;
  std::string fault;
};

std::vector<std::string> candidates() {
  std::vector<std::string> paths;
  Dl_info place{};
  if (dladdr(reinterpret_cast<const void*>(&lane_library), &place) != 0 && place.dli_fname != nullptr) {
    // A program that was found in PATH is known by its name alone, which is no file of the current folder.
    const bool named = std::strchr(place.dli_fname, '/') != nullptr;
    char file[PATH_MAX];
    if (realpath(named ? place.dli_fname : "/proc/self/exe", file) != nullptr) {
      const std::string folder(file, static_cast<std::size_t>(std::strrchr(file, '/') - file));
      paths.push_back(folder + "/" + k_name);
      paths.push_back(folder + "/../" + k_name);
    }
  }
  paths.push_back(std::string(COLLTOPO_LIBRARY_FOLDER) + "/" + k_name);
  return paths;
}

// Never closed: UCX's threads and exit handlers stay.
Found find() {
  for (const std::string& path : candidates()) {
    if (access(path.c_str(), F_OK) != 0) continue;
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) return {nullptr, dlerror()};
    const auto calls = reinterpret_cast<const LaneCalls* (*)()>(dlsym(library, k_lane_calls_symbol));
    const LaneCalls* const found = calls == nullptr ? nullptr : calls();
    if (found == nullptr || found->version != k_lane_calls_version)
      return {nullptr, path + " is of another version of colltopo"};
    return {found, {}};
  }
  return {nullptr, std::string("there is no ") + k_name + " in " + COLLTOPO_LIBRARY_FOLDER +
                       " or beside this library; colltopo was built without UCX, or not all of it is installed"};
}

}  // namespace

const LaneCalls* lane_library(std::string* fault) {
  static std::mutex mutex;
  static const Found* found = nullptr;  // stays: threads may ask while the process ends
  const std::lock_guard lock(mutex);
  if (found == nullptr) found = new Found(find());
  *fault = found->fault;
  return found->calls;
}

}  // namespace colltopo
