// Errors of the offline code: place, fact, expectation, consequence in one line.
#pragma once

#include <stdexcept>
#include <string>

namespace colltopo {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace colltopo
