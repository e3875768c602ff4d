#include "import/source.h"

#include <fmt/format.h>

#include "base/numbers.h"
#include "colltopo/topology.h"

namespace colltopo::import {

namespace {

bool is_bandwidth(std::string_view text, double& value) {
  return (parse_number(text, value) || parse_bandwidth(text, value)) && value > 0;
}

bool is_latency(std::string_view text, double& value) {
  return (parse_number(text, value) || parse_latency(text, value)) && value >= 0;
}

}  // namespace

double Source::bandwidth(const std::string& option, double otherwise) const {
  const auto given = options.find(option);
  if (given == options.end()) return otherwise;
  double value = 0;
  if (!is_bandwidth(given->second, value))
    throw Error(fmt::format("format option {}={}; expected a bandwidth above 0, such as 100Gbps or 12.5GBps", option,
                            given->second));
  return value;
}

double Source::latency(const std::string& option, double otherwise) const {
  const auto given = options.find(option);
  if (given == options.end()) return otherwise;
  double value = 0;
  if (!is_latency(given->second, value))
    throw Error(fmt::format("format option {}={}; expected a time of 0 or more, such as 1us", option, given->second));
  return value;
}

double Source::link_bandwidth(std::string_view text, std::int64_t line) const {
  double value = 0;
  if (!is_bandwidth(text, value))
    throw error(line,
                fmt::format("bandwidth {}; expected a number above 0 of bytes per second, or one with a unit such "
                            "as 100Gbps",
                            in_quotes(text)));
  return value;
}

double Source::link_latency(std::string_view text, std::int64_t line) const {
  double value = 0;
  if (!is_latency(text, value))
    throw error(line, fmt::format("latency {}; expected a number of seconds, 0 or more, or one with a unit such as 1us",
                                  in_quotes(text)));
  return value;
}

}  // namespace colltopo::import
