// What every importer is given: the text, the name of its file and the options of its format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/lines.h"

namespace colltopo::import {

struct Source : TextFile {                     // the file's name is the topology's unless the file has one
  std::map<std::string, std::string> options;  // those that were given; the table has checked their names

  double bandwidth(const std::string& option, double otherwise) const;
  double latency(const std::string& option, double otherwise) const;
  /// Of a link as the file gives it, with or without a unit; throws when it is neither.
  double link_bandwidth(std::string_view text, std::int64_t line) const;
  double link_latency(std::string_view text, std::int64_t line) const;
};

}  // namespace colltopo::import
