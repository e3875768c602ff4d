// A folder for a test to write into.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace colltopo {

/// An empty folder of this test's.
inline std::string folder_named(const std::string& name) {
  const std::string path = testing::TempDir() + name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

}  // namespace colltopo
