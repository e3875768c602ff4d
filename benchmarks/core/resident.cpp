#include "resident.h"

#include <fstream>
#include <stdexcept>
#include <string>

namespace colltopo::bench {

namespace {

// Of a line such as "Anonymous:   123 kB".
std::size_t bytes_in(const char* file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) * 1024;
  throw std::runtime_error(std::string(file) + " has no line " + name);
}

}  // namespace

std::size_t resident_bytes() { return bytes_in("/proc/self/smaps_rollup", "Anonymous"); }

bool begin_peak() {
  std::ofstream forget("/proc/self/clear_refs");
  forget << "5" << std::flush;
  return forget.good();
}

std::size_t peak_bytes() { return bytes_in("/proc/self/status", "VmHWM"); }

}  // namespace colltopo::bench
