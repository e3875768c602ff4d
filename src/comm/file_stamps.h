// What stands on disk, told apart by its time, size and number rather than by reading it.
#pragma once

#include <string>

namespace colltopo {

/// Of a file, whatever is there; no two states of it that follow each other have the same.
std::string stamp_of_file(const std::string& path);
/// Of a folder of schedules: of its rules.json, which colltopo prepare writes last, or, where there are none, of every
/// schedule file.
std::string stamp_of_folder(const std::string& path);

}  // namespace colltopo
